/**
 * The command line that starts a program as another user. Every kept runtime runs its commands by `/bin/sh -c` as
 * Drover's own user; this one then gives up that user and becomes the configured command.
 *
 * The environment is an attacker's until then: an `LD_LIBRARY_PATH` into the working directory would have a library of
 * the instance loaded with Drover's rights. So variables travel under other names, and get their own after the change.
 */
import type { RunUser } from './node-users.js';

const PREFIX = 'DROVER_AS_';
const COMMAND = 'DROVER_AS';
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A shell cannot set these, and a bash that finds the last two obeys them. */
const READ_ONLY = new Set(['UID', 'EUID', 'PPID', 'BASH_VERSINFO', 'BASHOPTS', 'SHELLOPTS']);
const TOOLS = '/usr/bin:/bin';

export interface Call {
  /** For `/bin/sh -c`. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** `setpriv`: path of that program. The program keeps the process, its terminal and its control groups. */
export function asUser({ command, environment }: Call, user: RunUser, setpriv: string): Call {
  const names = Object.keys(environment).filter((name) => IDENTIFIER.test(name) && !READ_ONLY.has(name));
  const aside = names.map((name) => [PREFIX + name, environment[name] ?? ''] as const);
  const groups = user.name === null ? '--clear-groups' : '--init-groups';
  const change = `${setpriv} --reuid=${user.uid} --regid=${user.gid} ${groups} --inh-caps=-all`;
  // The terminal is the program's own, to open by its name too: /dev/stdout is such a name. Without a terminal, `tty`
  // fails and prints words: they would name a file in the instance's working directory.
  const terminal = `PATH=${TOOLS}; terminal=$(tty) && chown -h ${user.uid} "$terminal" 2>/dev/null`;
  return {
    command: `${terminal}; exec ${change} /bin/sh -c '${restore(names)}'`,
    environment: { ...Object.fromEntries(aside), [COMMAND]: command, PATH: TOOLS },
  };
}

/** Holds no single quote: it stands between two. */
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
