/** Shows a component whose code is loaded when it is first shown. */
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { useServices } from '../services/services.js';
import { sentenceFor } from '../services/toasts.js';
import { Button, putting } from './button.js';
import { Empty } from './notes.js';
import { text } from './text.js';

interface LazyProps<Props extends object> {
  readonly load: () => Promise<ComponentType<Props>>;
  readonly props: Props;
}

/** Shows the component that `load` brings. To show another component, give it another `key`. */
export function Lazy<Props extends object>({ load, props }: LazyProps<Props>) {
  const loaded = useSignal<{ readonly Part: ComponentType<Props> } | 'loading' | 'failed'>('loading');
  const [fault] = useErrorBoundary();
  const isLive = useServices().live.connection.state.value.phase === 'live';
  useEffect(() => {
    // A part that could not be loaded opens by itself when the connection is back.
    if (loaded.peek() === 'loading' || (isLive && loaded.peek() === 'failed')) void begin();
  }, [isLive]);
  const begin = (): Promise<void> =>
    load().then(
      (Part) => {
        loaded.value = { Part };
      },
      putting(loaded, 'failed'),
    );
  if (fault !== undefined && fault !== null)
    return <Empty title={text.broken(sentenceFor(fault))} action={<Reload />} />;
  if (loaded.value === 'failed' && !isLive) return <Empty title={text.notConnected} />;
  if (loaded.value === 'failed') return <Empty title={text.notLoaded} action={<Reload />} />;
  if (loaded.value === 'loading') return <p class="screen quiet">{text.loading}</p>;
  const { Part } = loaded.value;
  return <Part {...props} />;
}

function Reload() {
  return <Button onPress={() => location.reload()}>{text.reload}</Button>;
}
