/** Says on one line what the parser refused. */
import type { CommanderError } from 'commander';

const SHOWN_AS_HELP: ReadonlySet<string> = new Set([
  'commander.helpDisplayed',
  'commander.help',
  'commander.version',
]);

/** `unknown command 'instnace'. Did you mean instance?`; '' when the help that was printed says enough. */
export function parserMessage({ code, message }: CommanderError): string {
  if (SHOWN_AS_HELP.has(code)) return '';
  const [first = '', ...more] = message.replace(/^error: /, '').split('\n');
  const hints = more.map((hint) => hint.replace(/^\((.*)\)$/, '$1'));
  if (hints.length === 0 && first.startsWith('unknown command')) return `${first}: "help" lists all`;
  return [first, ...hints].join('. ');
}
