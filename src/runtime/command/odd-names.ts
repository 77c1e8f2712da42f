/**
 * Brings variables with a dot or a hyphen in their names to the program. Debian's /bin/sh drops them from the
 * environment of all that it starts, so `env` sets them behind it. Their values travel under other names, because the
 * command line can be read by every user of the machine.
 */
import { quoted } from '../process/shell-prelude.js';
import { execSimple } from './exec-command.js';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const CARRIER = 'DROVER_ENV_';
const BASH = '/bin/bash';

export interface Call {
  /** The command line for `/bin/sh -c`. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Makes the call of a configured command: a simple one takes the place of its shell. With odd names in `environment` any
 * other command runs in bash, which keeps them; where bash is missing the command ends with 126 and says so.
 */
export function callOf({ command, environment }: Call): Call {
  const odd = Object.keys(environment).filter((name) => !IDENTIFIER.test(name));
  if (odd.length === 0) return { command: execSimple(command), environment };
  const carriers = odd.map((name, index) => [`${CARRIER}${index + 1}`, name] as const);
  const others = Object.entries(environment).filter(([name]) => IDENTIFIER.test(name));
  const env = [
    '/usr/bin/env',
    ...carriers.map(([carrier]) => `-u ${carrier}`),
    ...carriers.map(([carrier, name]) => `"${name}=\${${carrier}}"`),
    '',
  ].join(' ');
  const simple = execSimple(command, env);
  return {
    command: simple === command ? inBash(command, env, odd[0] ?? '') : simple,
    environment: Object.fromEntries([
      ...others,
      ...carriers.map(([carrier, name]) => [carrier, environment[name] ?? ''] as const),
    ]),
  };
}

function inBash(command: string, env: string, name: string): string {
  const words = `drover: /bin/sh passes on no variable named ${name}; install bash, or make the command a single program`;
  return `[ -x ${BASH} ] || { echo ${quoted(words)}; exit 126; }; exec ${env}${BASH} --norc --posix -c ${quoted(command)}`;
}
