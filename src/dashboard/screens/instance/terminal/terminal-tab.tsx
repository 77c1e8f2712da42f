/**
 * The terminal of the instance. A press on a button opens it, so that the keyboard is not captured unasked; a button
 * or a key leaves it.
 */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { apiPath } from '../../../api/api-client.js';
import { openSocket } from '../../../live/live.js';
import { Button } from '../../../parts/button.js';
import { Empty } from '../../../parts/notes.js';
import { useMedia } from '../../../parts/use-phone.js';
import { useServices } from '../../../services/services.js';
import { text } from '../text.js';
import type { AttachedTerminal } from './attached-terminal.js';
import './terminal.css';

type Phase = 'idle' | 'attaching' | 'attached';

const KEYS: readonly (readonly [keyof typeof text.terminal.key, string])[] = [
  ['escape', '\x1b'],
  ['tab', '\t'],
  ['interrupt', '\x03'],
  ['up', '\x1b[A'],
  ['down', '\x1b[B'],
];
const DARK = '(prefers-color-scheme: dark)';

export function TerminalTab({ id, isRunning }: { readonly id: string; readonly isRunning: boolean }) {
  const { session, theme } = useServices();
  const phase = useSignal<Phase>('idle');
  /** How the last terminal ended; null: none has ended yet. */
  const farewell = useSignal<string | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const leaveButton = useRef<HTMLDivElement>(null);
  const terminal = useRef<AttachedTerminal | null>(null);
  const end = (message: string): void => {
    terminal.current?.close();
    terminal.current = null;
    farewell.value = message;
    phase.value = 'idle';
  };
  useEffect(() => {
    const element = host.current;
    if (phase.value !== 'attaching' || element === null) return;
    const begin = async (): Promise<void> => {
      const { AttachedTerminal } = await import('./attached-terminal.js');
      if (!element.isConnected) return;
      terminal.current = new AttachedTerminal({
        host: element,
        open: (size) => openSocket(session, apiPath('instances', id, 'attach'), size),
        onAttached: () => {
          phase.value = 'attached';
          terminal.current?.focus();
        },
        onEnded: (message) =>
          end(message ?? (phase.value === 'attached' ? text.terminal.lost : text.terminal.refused)),
        onRelease: () => leaveButton.current?.querySelector('button')?.focus(),
      });
    };
    begin().catch(() => end(text.terminal.notLoaded));
  }, [phase.value === 'idle', id]);
  useEffect(() => () => terminal.current?.close(), []);
  const colours = `${theme.value} ${useMedia(DARK).value}`;
  useEffect(() => terminal.current?.renewColours(), [colours]);
  const attach = (): void => {
    farewell.value = null;
    phase.value = 'attaching';
  };
  if (phase.value === 'idle')
    return (
      <Empty
        title={farewell.value ?? (isRunning ? text.terminal.title : text.terminal.notRunning)}
        hint={isRunning ? text.terminal.hint : text.terminal.notRunningHint}
        action={
          isRunning && (
            <Button kind="main" onPress={attach}>
              {farewell.value === null ? text.terminal.attach : text.terminal.again}
            </Button>
          )
        }
      />
    );
  return (
    <section class="terminal gap-2" aria-label={text.terminal.label(id)}>
      <div class="terminal-bar">
        <p class="quiet">{phase.value === 'attached' ? text.terminal.hint : text.terminal.attaching}</p>
        <div ref={leaveButton}>
          <Button onPress={() => end(text.terminal.left)}>{text.terminal.leave}</Button>
        </div>
      </div>
      <div ref={host} class="terminal-host" />
      <fieldset class="terminal-keys" aria-label={text.terminal.keys}>
        {KEYS.map(([name, typed]) => (
          <Button key={name} onPress={() => terminal.current?.press(typed)}>
            {text.terminal.key[name]}
          </Button>
        ))}
      </fieldset>
    </section>
  );
}
