/**
 * The shell that runs between fork and the configured command, in the same process. It makes the terminal transparent
 * (every byte passes unchanged, both ways) and waits for its order, a script. The script changes to the working
 * directory, joins the control groups, sets the environment, and becomes `/bin/sh -c <command>`. So the slow part can
 * be over before somebody asks for a start.
 */
import type { FileLimits } from '../../model/fields/limits.js';

/**
 * The shell writes this byte twice: when the terminal is transparent and it waits, and when it has its order. Later
 * bytes are output.
 */
export const READY_BYTE = 0x1e;

const SAY_READY = 'printf "\\036"';

// stty waits for output to drain, which cannot block here, because nothing was written yet. The same call from the
// owner would block for ever against a program that writes.
const TRANSPARENT = `PATH=/usr/bin:/bin stty raw -echo -iexten 2>/dev/null; ${SAY_READY}`;

/** The line in the log when a control group could not be joined. */
export const NOT_LIMITED =
  'drover: a control group could not be joined: limits of RAM and CPU do not hold for this start';

// Each parameter but the last is the directory of a control group to join; the number 0 stands for the writing
// process. The shell's own flag f remembers a failure, because a variable could overwrite one of the environment.
//
// Version 1 has `tasks`, which moves only the writing thread, and a shell has one thread. `cgroup.procs` moves a
// whole process: in version 1 the kernel would then stop all forks of the machine for some 10 ms.
export const JOIN_GROUPS =
  'while [ $# -gt 1 ]; do { if [ -e "$1/tasks" ]; then echo 0 >"$1/tasks"; else echo 0 >"$1/cgroup.procs"; fi; } ' +
  '2>/dev/null || set -f; shift; done; ' +
  `case $- in *f*) set +f; printf "%s\\n" "${NOT_LIMITED}";; esac`;

/**
 * Gives the program the soft limit of open files that systemd gives, too. Node raises its own to the hard limit, which
 * programs that use select() or close all descriptors do not survive. A program that needs more raises it itself.
 */
export const LIMIT_FILES = 'ulimit -Sn 1024 2>/dev/null';

/** Sets the limits of open files for the command behind it, or says in the log that they do not hold. */
export function limitFiles({ soft, hard }: FileLimits): string {
  // The hard limit comes first where it is raised, and last where it is lowered below the present soft one.
  const set = `ulimit -Hn ${hard}; ulimit -Sn ${soft} && ulimit -Hn ${hard}`;
  return `{ ${set}; } 2>/dev/null || echo 'drover: limits.nofile does not hold for this start: Drover may not set it'`;
}

/**
 * The script for `sh -c`; its parameter is the path of the file that will hold the order. The shell opens the file
 * first, waits for a line on the terminal, and then runs the file through its own descriptor: see order-file.ts.
 */
const WAIT = `exec 3<"$1"; ${TRANSPARENT}; read -r line && . /proc/self/fd/3`;

const BASH = '/bin/bash';
const CLOSE = 'eval "exec $1"; shift; exec "$@"';
/** Variables that bash exports by itself; `cd` sets OLDPWD. */
const ADDED_BY_SHELLS = 'OLDPWD SHLVL _';

/** Variables that a shell cannot export: it owns them, or their names are no identifiers. */
const NOT_FOR_EXPORT = /^(UID|EUID|PPID|OPTIND|SHELLOPTS|BASHOPTS|BASH_VERSINFO)$|[^A-Za-z0-9_]|^[0-9]/;

export interface ShellCall {
  readonly file: string;
  readonly parameters: readonly string[];
}

/**
 * The program and parameters that fork runs. `order`: path of the file for its order. `inheritable`: descriptors of
 * other instances' terminals, which the new process would inherit. A plain sh cannot close numbers above 9; without
 * bash they stay open.
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

/** The script that turns a waiting shell into the command. */
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
${LIMIT_FILES}
unset ${ADDED_BY_SHELLS}
${exported.map(([name, value]) => `export ${name}=${quoted(value)}\n`).join('')}exec ${env === '' ? '' : `/usr/bin/env ${env}`}/bin/sh -c "$1"
`;
}

/** `text` as one word of a shell command. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
