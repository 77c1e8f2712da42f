/**
 * Puts variables into a shell command in such a way that their values never become shell text. Each placeholder
 * turns into a quoted reference to an environment variable, fitted to the quoting at its place. So no value can add
 * a word, an operator or a substitution.
 */
import { DroverError } from '../../model/errors.js';
import { type ShellPlace, ShellScanner } from './shell-scanner.js';
import { findPlaceholders, type Variables } from './variables.js';

interface SubstitutedCommand {
  readonly command: string;
  /** The values by `DROVER_VAR_<n>`, for the environment of the child. */
  readonly environment: Readonly<Record<string, string>>;
}

const INTEGER = /^-?[0-9]+$/;

/**
 * Replaces every known `%NAME%` of a POSIX shell command. A value is always one literal word or part of one.
 * Placeholders in comments stay. Throws DRV_CONFIGURATION_INVALID where the shell knows no safe reference: in a
 * here-document, and for a value that is no integer inside `$(( ))`.
 */
export function substituteCommand(command: string, variables: Variables): SubstitutedCommand {
  const scanner = new ShellScanner(command);
  const names = new Map<string, string>();
  let result = '';
  let done = 0;
  for (const { name, start, end } of findPlaceholders(command, variables)) {
    const place = scanner.advanceTo(start);
    if (place.context !== 'comment') {
      const value = variables.get(name) ?? '';
      const variable = names.get(name) ?? `DROVER_VAR_${names.size + 1}`;
      names.set(name, variable);
      result += command.slice(done, start - charactersReplaced(place));
      result += referenceAt(place, { name, value, variable });
      done = end;
    }
    scanner.skipTo(end);
  }
  const environment = Object.fromEntries(
    [...names].map(([name, variable]) => [variable, variables.get(name) ?? '']),
  );
  return { command: result + command.slice(done), environment };
}

interface Reference {
  readonly name: string;
  readonly value: string;
  readonly variable: string;
}

/**
 * How many characters before the placeholder to drop. An unquoted backslash would escape Drover's own quote, and the
 * quoted value needs no backslash. A plain `$` would merge with Drover's `$`.
 */
function charactersReplaced({ context, isEscaped, isAfterDollar }: ShellPlace): number {
  if (isAfterDollar && context !== 'single') return 1;
  return isEscaped && context === 'unquoted' ? 1 : 0;
}

function referenceAt(place: ShellPlace, { name, value, variable }: Reference): string {
  const dollar = place.isAfterDollar ? '\\$' : '';
  switch (place.context) {
    case 'unquoted':
      return `${dollar}"\${${variable}}"`;
    case 'double':
      // Inside double quotes a backslash before % is a plain character. Before Drover's $ it would escape the $, so
      // add a second backslash.
      return `${place.isEscaped ? '\\' : dollar}\${${variable}}`;
    case 'single':
      return `'"\${${variable}}"'`;
    case 'arithmetic':
      if (!INTEGER.test(value)) throw refused(name, 'in $(( )) is possible for integers only');
      return `\${${variable}}`;
    case 'here-document':
      throw refused(name, 'cannot stand in or after a here-document (<<); put the text in a template file');
    case 'comment':
      return `%${name}%`;
    default:
      return place.context satisfies never;
  }
}

function refused(name: string, what: string): DroverError {
  return new DroverError('DRV_CONFIGURATION_INVALID', `command: %${name}% ${what}`);
}
