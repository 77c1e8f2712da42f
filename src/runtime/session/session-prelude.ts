/**
 * The script that a session runs around the configured command: a shell leads the session and stays, and the command
 * runs beside it as its child.
 *
 * The shell keeps the terminal open for a program that redirects all its output: a multiplexer would call a session
 * without a holder dead and hang it up. The shell reports the end at once, with the status, after the last output,
 * even while children of the program still hold the terminal.
 *
 * All values come through the environment, never as text. The multiplexer's server inherits that environment, so the
 * run's mark has another name in it. Otherwise a signal to all processes with the mark would also end the server,
 * before it has written the last output.
 */
import { JOIN_GROUPS, LIMIT_FILES, type OrderOptions, READY_BYTE } from '../process/shell-prelude.js';
import { MARK_VARIABLE } from '../run-mark.js';
import type { ProgramCall, SessionExit, SpoolEnd } from './session-tool.js';

/** A size so wide that programs which ask for the width do not wrap their lines. */
const SIZE = 'cols 512 rows 50';
const PREFIX = 'DROVER_SESSION_';
const HIDDEN = `${PREFIX}HIDDEN`;
/** A variable may have 128 KiB. Longer texts are not kept: a next owner then covers all output. */
const MOST_HIDDEN_CHARS = 30_000;
/** The variables that the session's shell adds by itself: `cd` exports OLDPWD. */
const ADDED_BY_SHELL = ['OLDPWD'];
const OWN = ['DIRECTORY', 'WORK', 'MARK', 'NONCE', 'HIDDEN', 'STAT', 'CODE', 'KIND'].map(
  (name) => PREFIX + name,
);
/** All signals that a stop may send. The shell survives them, to report how the program took them. */
const SIGNALS = 'HUP INT QUIT ABRT ALRM PIPE TERM USR1 USR2 VTALRM XCPU XFSZ';

interface PreludeOptions extends OrderOptions {
  /** The run's directory. */
  readonly directory: string;
  /** The values that are covered in the log. */
  readonly hidden?: readonly string[];
  /** A secret of the session's shell: see `endMark`. */
  readonly nonce: string;
  /** The variables that the multiplexer sets. */
  readonly variables: readonly string[];
  /** Lines of shell that run after the closing words: see `beforeEnd` of SessionTool. */
  readonly beforeEnd?: string | undefined;
}

/** The program that a multiplexer runs, with its parameters and environment. */
export function sessionCall(options: PreludeOptions): ProgramCall {
  const { [MARK_VARIABLE]: mark = '', ...environment } = { TERM: 'xterm-256color', ...options.environment };
  const hidden = (options.hidden ?? []).join('\n');
  const kept = keptVariables(environment, [...options.variables, ...ADDED_BY_SHELL]);
  return {
    file: '/bin/sh',
    parameters: [
      '-c',
      script(kept.script, options.beforeEnd ?? ''),
      'sh',
      ...options.controlGroups,
      options.command,
    ],
    environment: {
      ...environment,
      ...kept.environment,
      [`${PREFIX}DIRECTORY`]: options.directory,
      [`${PREFIX}WORK`]: options.workingDirectory,
      [`${PREFIX}MARK`]: mark,
      [`${PREFIX}NONCE`]: options.nonce,
      // Kept in the memory of the session's shell for a next owner.
      [HIDDEN]: hidden.length > MOST_HIDDEN_CHARS ? '' : hidden,
    },
  };
}

/** The values to cover, of the environment of a session's shell; null: it has none. */
export function hiddenIn(environment: string): readonly string[] | null {
  const variable = environment.split('\0').find((one) => one.startsWith(`${HIDDEN}=`));
  const text = variable?.slice(HIDDEN.length + 1) ?? '';
  return text === '' ? null : text.split('\n');
}

/**
 * The mark that the session's shell prints when the command has ended; `code 7;` or `signal 137;` follows it. A
 * program cannot guess the mark.
 */
export function endMark(nonce: string): string {
  return `${String.fromCharCode(READY_BYTE)}${nonce} `;
}

/** The script that removes the variables set by the multiplexer, and restores their values from the configuration. */
function keptVariables(environment: Readonly<Record<string, string>>, names: readonly string[]) {
  const kept: Record<string, string> = {};
  const lines = [...new Set(names)].map((name) => {
    const value = environment[name];
    if (value === undefined) return `unset ${name}`;
    kept[`${PREFIX}KEEP_${name}`] = value;
    return `export ${name}="$${PREFIX}KEEP_${name}"; unset ${PREFIX}KEEP_${name}`;
  });
  return { script: lines.join('\n'), environment: kept };
}

function stty(settings: string): string {
  return `PATH=/usr/bin:/bin stty ${settings} 2>/dev/null`;
}

// The terminal is set up for people who type. Ctrl-S does nothing, because it would hold up the program until
// somebody finds out. When stty does not know extproc (see literal-input.ts), the terminal passes on every byte
// instead.
//
// `$?` does not tell an exit code above 128 from a signal. But the shell prints a word such as "Killed" on its
// standard error when a signal ended the child. It prints none for INT and PIPE, so they are reported as the codes
// 130 and 141.
function script(keep: string, beforeEnd: string): string {
  return `trap : ${SIGNALS}
read -r ${PREFIX}STAT </proc/self/stat && printf '%s\\n' "$${PREFIX}STAT" >"$${PREFIX}DIRECTORY/pid"
${stty(`sane -ixon -imaxbel iutf8 -extproc ${SIZE}`)} || ${stty(`raw opost onlcr -ocrnl -onocr -onlret tab0 -echo -iexten ${SIZE}`)}
exec 3>&2 2>"$${PREFIX}DIRECTORY/said"
(
exec 2>&3 3>&-
read -r ${PREFIX}STAT </proc/self/stat && printf '%s\\n' "$${PREFIX}STAT" >>"$${PREFIX}DIRECTORY/pid"
cd -- "$${PREFIX}WORK" || exit 126
export ${MARK_VARIABLE}="$${PREFIX}MARK"
${keep}
unset ${OWN.join(' ')}
printf '\\036'
${JOIN_GROUPS}
${LIMIT_FILES}
exec /bin/sh -c "$1"
)
${PREFIX}CODE=$?
${PREFIX}KIND=code
[ $${PREFIX}CODE -le 128 ] || [ ! -s "$${PREFIX}DIRECTORY/said" ] || ${PREFIX}KIND=signal
printf '%s %s;' $${PREFIX}KIND $${PREFIX}CODE >"$${PREFIX}DIRECTORY/status"
printf '\\036%s %s %s;' "$${PREFIX}NONCE" $${PREFIX}KIND $${PREFIX}CODE
${beforeEnd}`;
}

/** A shell's status for a child that signal n ended is 128 + n. */
const SIGNAL_BASE = 128;
const STATUS = /^(code|signal) (\d{1,3});/;
const LONGEST_STATUS_BYTES = 'signal 255;'.length;

/** The exit in a text such as `code 7;` or `signal 137;`; undefined: missing or incomplete. */
export function parseStatus(text: string): SessionExit | undefined {
  const [, kind, digits] = STATUS.exec(text) ?? [];
  if (kind === undefined) return undefined;
  const status = Number(digits);
  return kind === 'code' ? { code: status, signal: null } : { code: null, signal: status - SIGNAL_BASE };
}

/**
 * Splits `bytes` before the shell's closing words, which begin with `mark`. Bytes at the end that may begin them do not
 * count as output.
 */
export function findEnd(bytes: Buffer, mark: Buffer): SpoolEnd {
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
    const rest = bytes.toString('latin1', at + mark.length, at + mark.length + LONGEST_STATUS_BYTES);
    const exit = parseStatus(rest);
    if (exit !== undefined || rest.length < LONGEST_STATUS_BYTES) return { outputBytes: at, exit };
  }
  const last = bytes.lastIndexOf(READY_BYTE);
  const isPart = last >= 0 && mark.subarray(0, bytes.length - last).equals(bytes.subarray(last));
  return { outputBytes: isPart ? last : bytes.length, exit: undefined };
}
