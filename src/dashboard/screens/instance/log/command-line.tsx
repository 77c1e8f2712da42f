/**
 * The line that writes to the standard input of the instance. Arrow keys go through the commands that were sent; a menu
 * does the same on a phone.
 */
import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { apiPath } from '../../../api/api-client.js';
import { putting, Submit } from '../../../parts/button.js';
import { CommandHistory } from '../../../parts/command-history.js';
import { Confirm } from '../../../parts/dialog.js';
import { useSubmit } from '../../../parts/form.js';
import { Menu } from '../../../parts/menu.js';
import { Failure } from '../../../parts/notes.js';
import { useServices } from '../../../services/services.js';
import { text } from '../text.js';
import type { LogFeed } from './log-feed.js';

const SHOWN_IN_MENU = 10;

interface CommandLineProps {
  readonly id: string;
  /** False: the instance does not run, so the line is disabled and says so. */
  readonly isRunning: boolean;
  readonly feed: LogFeed;
}

export function CommandLine({ id, isRunning, feed }: CommandLineProps) {
  const { api, session } = useServices();
  const typed = useSignal('');
  const input = useRef<HTMLInputElement>(null);
  const owner = session.caller.value?.session ?? '';
  const history = useMemo(() => new CommandHistory(sessionStorage, owner, id), [owner, id]);
  const set = (command: string): void => {
    typed.value = command;
    input.current?.focus();
  };
  const pasted = useSignal<readonly string[] | null>(null);
  const send = async (command: string): Promise<void> => {
    // Before the call, so that it stands before what it causes.
    feed.noteSent(command);
    try {
      await api.post(apiPath('instances', id, 'execute'), { body: { command } });
    } catch (error) {
      feed.noteRefused();
      throw error;
    }
  };
  const { isBusy, problem, submit } = useSubmit(async () => {
    const command = typed.value;
    if (command.trim() === '') return;
    await send(command);
    history.add(command);
    // Keep text that was typed while the command was sent.
    if (typed.value === command) typed.value = '';
  });
  const onKey = (event: KeyboardEvent): void => {
    const found =
      event.key === 'ArrowUp'
        ? history.older(typed.value)
        : event.key === 'ArrowDown'
          ? history.newer()
          : undefined;
    if (found === undefined) return;
    event.preventDefault();
    typed.value = found;
  };
  const recent = history.commands.slice(-SHOWN_IN_MENU).toReversed();
  return (
    <div class="command d-grid gap-2">
      {problem !== null && <Failure error={problem} />}
      <form
        class="command-line d-flex items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <span class="command-prompt mono quiet" aria-hidden="true">
          {'>'}
        </span>
        <input
          ref={input}
          class="input mono"
          type="text"
          aria-label={text.command.label}
          placeholder={isRunning ? text.command.placeholder : text.command.notRunning}
          disabled={!isRunning}
          value={typed.value}
          autocomplete="off"
          autocapitalize="off"
          autocorrect="off"
          spellcheck={false}
          enterkeyhint="send"
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
          onKeyDown={onKey}
          onPaste={(event) => {
            const paste = event.clipboardData?.getData('text').trimEnd() ?? '';
            // An input would join the lines.
            if (!/[\r\n]/.test(paste)) return;
            event.preventDefault();
            pasted.value = `${typed.value}${paste}`.split(/\r\n?|\n/);
          }}
        />
        {recent.length > 0 && (
          <Menu
            label={text.command.history}
            items={recent.map((command) => ({ label: command, onPress: () => set(command) }))}
          />
        )}
        <Submit isBusy={isBusy} isDisabled={!isRunning}>
          {text.command.send}
        </Submit>
      </form>
      {pasted.value !== null && (
        <Confirm
          title={text.command.sendLines(pasted.value.length)}
          explanation={text.command.linesHint}
          names={pasted.value}
          action={text.command.send}
          onConfirm={async () => {
            await send((pasted.value ?? []).join('\n'));
            typed.value = '';
          }}
          onClose={putting(pasted, null)}
        />
      )}
    </div>
  );
}
