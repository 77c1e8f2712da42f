/**
 * The command line that starts a program as another user. Every kept runtime runs its commands by `/bin/sh -c` as
 * Drover's own user; the command line made here then changes the user and becomes the configured command.
 *
 * Until then the environment must not be trusted: an `LD_LIBRARY_PATH` into the working directory would load a library
 * of the instance with Drover's rights. So variables travel under other names, and get their own names after the
 * change.
 */
import type { RunUser } from './node-users.js';
import type { Call } from './odd-names.js';

const PREFIX = 'DROVER_AS_';
const COMMAND = 'DROVER_AS';
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that a shell cannot set. A bash that finds BASHOPTS or SHELLOPTS in its environment obeys them. */
const READ_ONLY = new Set(['UID', 'EUID', 'PPID', 'BASH_VERSINFO', 'BASHOPTS', 'SHELLOPTS']);
const TOOLS = '/usr/bin:/bin';

/**
 * Wraps a call so that it runs as `user`. `setpriv`: path of that program. The process, its terminal and its control
 * groups stay the same.
 */
export function asUser({ command, environment }: Call, user: RunUser, setpriv: string): Call {
  const names = Object.keys(environment).filter((name) => IDENTIFIER.test(name) && !READ_ONLY.has(name));
  const aside = names.map((name) => [PREFIX + name, environment[name] ?? ''] as const);
  const groups = user.name === null ? '--clear-groups' : '--init-groups';
  const change = `${setpriv} --reuid=${user.uid} --regid=${user.gid} ${groups} --inh-caps=-all`;
  // Give the terminal to the user, so that the program can open it by name, as /dev/stdout. Without a terminal `tty`
  // fails and prints words that are no path; then chown must not run.
  const terminal = `PATH=${TOOLS}; terminal=$(tty) && chown -h ${user.uid} "$terminal" 2>/dev/null`;
  return {
    command: `${terminal}; exec ${change} /bin/sh -c '${restore(names)}'`,
    environment: { ...Object.fromEntries(aside), [COMMAND]: command, PATH: TOOLS },
  };
}

/**
 * The script that gives the variables their own names again. It stands between single quotes, so it must not contain
 * a single quote.
 */
function restore(names: readonly string[]): string {
  const lines = names.map((name) => `export ${name}="$${PREFIX}${name}"; unset ${PREFIX}${name}`);
  const hasPath = names.includes('PATH');
  return [
    ...(hasPath ? [] : ['unset PATH']),
    ...lines,
    `set -- "$${COMMAND}"; unset ${COMMAND}`,
    'exec /bin/sh -c "$1"',
  ].join('\n');
}
