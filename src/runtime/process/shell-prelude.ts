/**
 * What runs between fork and the configured command, in the same process: a shell that makes the terminal transparent
 * (every byte passes unchanged, both ways) and waits for its order. The order is a script: it goes to the working
 * directory, joins the control groups, sets the environment, and becomes `/bin/sh -c <command>`. So all that takes
 * time can be over before somebody asks for a start.
 */

/** Says that the terminal is transparent and the shell waits, and again that it has its order: what follows is output. */
export const READY_BYTE = 0x1e;

const SAY_READY = 'printf "\\036"';

// stty waits for output to drain, which cannot block here: nothing was written yet. Done from the owner the same
// call would block it for ever against a program that writes.
const TRANSPARENT = `PATH=/usr/bin:/bin stty raw -echo -iexten 2>/dev/null; ${SAY_READY}`;

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

/**
 * Given to `sh -c`, with the path of the file that its order will be in. A line on the terminal says that it is there.
 * The file is opened before, and then read as one of its own: see order-file.ts.
 */
const WAIT = `exec 3<"$1"; ${TRANSPARENT}; read -r line && . /proc/self/fd/3`;

const BASH = '/bin/bash';
const CLOSE = 'eval "exec $1"; shift; exec "$@"';
/** bash exports these itself, and `cd` one of them. */
const ADDED_BY_SHELLS = 'OLDPWD SHLVL _';

/** Not to be set in a shell: it owns them, or they are no names there. */
const NOT_FOR_EXPORT = /^(UID|EUID|PPID|OPTIND|SHELLOPTS|BASHOPTS|BASH_VERSINFO)$|[^A-Za-z0-9_]|^[0-9]/;

export interface ShellCall {
  readonly file: string;
  readonly parameters: readonly string[];
}

/**
 * The program and parameters that fork runs. `order`: path of the file of its order. `inheritable`: descriptors that the new process would inherit and must
 * not, terminals of other instances. A plain sh cannot close numbers above 9; without bash they stay open.
 */
export function waitingShell(order: string, inheritable: readonly number[], hasBash: boolean): ShellCall {
  const parameters = ['-c', WAIT, 'sh', order];
  if (inheritable.length === 0 || !hasBash) return { file: '/bin/sh', parameters };
  const closing = inheritable.map((fd) => `${fd}>&-`).join(' ');
  // -p: reads no start-up file that the environment (BASH_ENV) may name.
  return { file: BASH, parameters: ['-p', '-c', CLOSE, 'sh', closing, '/bin/sh', ...parameters] };
}

export interface OrderOptions {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** Directories of the control groups to join. */
  readonly controlGroups: readonly string[];
}

/** The script by which a waiting shell becomes the command. */
export function orderText({ command, environment, workingDirectory, controlGroups }: OrderOptions): string {
  const assignments = Object.entries(environment);
  const exported = assignments.filter(([name]) => !NOT_FOR_EXPORT.test(name));
  const others = assignments.filter(([name]) => NOT_FOR_EXPORT.test(name));
  const env = others.map(([name, value]) => `${quoted(`${name}=${value}`)} `).join('');
  return `exec 3<&-
${SAY_READY}
cd -P -- ${quoted(workingDirectory)} || exit 1
set -- ${[...controlGroups, command].map(quoted).join(' ')}
${JOIN_GROUPS}
unset ${ADDED_BY_SHELLS}
${exported.map(([name, value]) => `export ${name}=${quoted(value)}\n`).join('')}exec ${env === '' ? '' : `/usr/bin/env ${env}`}/bin/sh -c "$1"
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
