/** Says on one line what the parser refused. */
import type { CommanderError } from 'commander';

const SHOWN_AS_HELP: ReadonlySet<string> = new Set([
  'commander.helpDisplayed',
  'commander.help',
  'commander.version',
]);

/** `unknown option '--al'. Did you mean --all?`; '' when the help that was printed says enough. */
export function parserMessage({ code, message }: CommanderError): string {
  if (SHOWN_AS_HELP.has(code)) return '';
  const [first = '', ...more] = message.replace(/^error: /, '').split('\n');
  const hints = more.map((hint) => hint.replace(/^\((.*)\)$/, '$1'));
  return [first, ...hints].join('. ');
}
