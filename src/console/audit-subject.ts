/** Makes the subject of a command for the audit trail: enough words to see what was done, and no secret. */
import type { Command } from 'commander';
import { pathOf } from '../command-tree/help/usage.js';
import { SELECTING } from '../command-tree/selection/selection.js';
import { cutText } from '../model/words.js';
import { toPlainText } from '../telemetry/plain-text.js';
import { hideTokens } from '../telemetry/secret-fields.js';

const MAX_CHARS = 200;
const HIDDEN = '***';
/** Text for an instance may be a password, so it is hidden. */
const EXECUTE = 'instance execute';

/** The subject of a command that ran: its words, without what is secret. */
export function subjectOfCommand(command: Command): string {
  const path = pathOf(command);
  const words = path === EXECUTE ? [...command.args.slice(0, 1), HIDDEN] : command.args;
  return clean([path, ...words, ...choiceOf(command)].join(' '));
}

/** The options that choose instances. The audit trail needs them to show which instances were meant. */
function choiceOf(command: Command): string[] {
  const options: Readonly<Record<string, unknown>> = command.opts();
  return SELECTING.filter((name) => options[name] !== undefined).map((name) =>
    options[name] === true ? `--${name}` : `--${name} ${options[name]}`,
  );
}

/** The subject of a line that is no command: only its beginning, because the rest may be a secret. */
export function subjectOfUnknown(words: readonly string[], groups: ReadonlySet<string>): string {
  const [first = '', second] = words;
  const known = groups.has(first) && second !== undefined ? `${first} ${second}` : first;
  return clean(words.length > known.split(' ').length ? `${known} ${HIDDEN}` : known);
}

function clean(text: string): string {
  return cutText(hideTokens(toPlainText(text.replace(/\s+/g, ' '))), MAX_CHARS);
}
