/**
 * What runs between fork and the configured command, in the same process. It makes the terminal transparent (every
 * byte passes unchanged, both ways), reports that, joins the control groups, and becomes `/bin/sh -c <command>`.
 */

/** The first byte on a transparent terminal. Input must wait for it, else ^C would be a signal. */
export const READY_BYTE = 0x1e;

// stty waits for output to drain, which cannot block here: nothing was written yet. Done from the owner the same
// call would block it for ever against a program that writes.
const TRANSPARENT = 'PATH=/usr/bin:/bin stty raw -echo -iexten 2>/dev/null; printf "\\036"';

/** The log's words when a control group could not be joined. */
export const NOT_LIMITED =
  'drover: a control group could not be joined: limits of RAM and CPU do not hold for this start';

// Every parameter but the last is the directory of a control group; 0 stands for what writes it. The shell's own flag f
// remembers a failure: a variable might be one of the environment, and reach the command changed. `tasks`, which
// version 1 has, moves the thread that writes, and a shell has one. For a whole process the kernel stops all forks of
// the machine first, and waits for that some 10 ms.
export const JOIN_GROUPS =
  'while [ $# -gt 1 ]; do { if [ -e "$1/tasks" ]; then echo 0 >"$1/tasks"; else echo 0 >"$1/cgroup.procs"; fi; } ' +
  '2>/dev/null || set -f; shift; done; ' +
  `case $- in *f*) set +f; printf "%s\\n" "${NOT_LIMITED}";; esac`;

/** Given to `sh -c`, with the directories of control groups and then the command as parameters. */
const PRELUDE = `${TRANSPARENT}; ${JOIN_GROUPS}; exec /bin/sh -c "$1"`;

const BASH = '/bin/bash';
const CLOSE = 'eval "exec $1"; shift; exec "$@"';
/** bash exports these itself; they are removed again unless the configuration sets them. */
const BASH_VARIABLES = ['SHLVL', 'OLDPWD', '_'];

export interface ShellCall {
  readonly file: string;
  readonly parameters: readonly string[];
}

export interface ShellOptions {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Descriptors that the new process would inherit and must not: terminals of other instances. A plain sh cannot
   * close numbers above 9; without bash (`hasBash`) they stay open.
   */
  readonly inheritable: readonly number[];
  readonly hasBash: boolean;
  /** Directories of the control groups to join. */
  readonly controlGroups: readonly string[];
}

/** The program and parameters that fork runs. */
export function shellCall(options: ShellOptions): ShellCall {
  const parameters = ['sh', ...options.controlGroups, options.command];
  if (options.inheritable.length === 0 || !options.hasBash)
    return { file: '/bin/sh', parameters: ['-c', PRELUDE, ...parameters] };
  const added = BASH_VARIABLES.filter((name) => !Object.hasOwn(options.environment, name));
  const clean = added.length === 0 ? PRELUDE : `unset ${added.join(' ')}; ${PRELUDE}`;
  const closing = options.inheritable.map((fd) => `${fd}>&-`).join(' ');
  return {
    file: BASH,
    // -p: reads no start-up file that the environment (BASH_ENV) may name.
    parameters: ['-p', '-c', CLOSE, 'sh', closing, '/bin/sh', '-c', clean, ...parameters],
  };
}
