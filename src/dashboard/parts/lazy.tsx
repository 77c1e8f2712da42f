/** Shows a component whose code is loaded when it is first shown. */
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { sentenceFor } from '../services/toasts.js';
import { Button } from './button.js';
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
  useEffect(() => {
    load().then(
      (Part) => {
        loaded.value = { Part };
      },
      () => {
        loaded.value = 'failed';
      },
    );
  }, []);
  if (fault !== undefined && fault !== null)
    return <Empty title={text.broken(sentenceFor(fault))} action={<Reload />} />;
  if (loaded.value === 'failed') return <Empty title={text.notLoaded} action={<Reload />} />;
  if (loaded.value === 'loading') return <p class="screen quiet">{text.loading}</p>;
  const { Part } = loaded.value;
  return <Part {...props} />;
}

function Reload() {
  return <Button onPress={() => location.reload()}>{text.reload}</Button>;
}
