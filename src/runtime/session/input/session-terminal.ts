/**
 * The terminal of a session, as `stty` and `bash` see it from outside. Every call first opens the terminal and then
 * checks that the session's shell still lives. So it never touches a later terminal with the same number.
 */
import { execFile } from 'node:child_process';
import type { ProcessStamp } from '../../../files/processes.js';
import type { TerminalSize } from '../../../model/run/attachment.js';
import { findProgram } from '../find-program.js';
import type { RunDirectory } from '../run-directory.js';

const ANSWER_TIMEOUT_MS = 5000;
/**
 * Opens the terminal and checks the shell. Parameters: terminal, and pid and start time of the session's shell (fields
 * 1 and 22 of its stat).
 */
const OPEN =
  'exec <"$1" && read -r stat <"/proc/$2/stat" && start=$3 || exit 3; set -f; set -- ${stat##*) }; ' +
  '[ "$1" != Z ] && [ "${20}" = "$start" ] || exit 3; ';

/**
 * The treatment of input. `lines`: the kernel edits lines, echoes them and turns keys into signals. `literal`: the
 * kernel passes on every byte as it is. `own`: the program rules its terminal itself, or has ended. `unknown`: a busy
 * machine did not tell it in time.
 */
export type TerminalMode = 'lines' | 'literal' | 'own' | 'unknown';

export class SessionTerminal {
  readonly #device: string;
  readonly #shell: ProcessStamp;
  readonly #path: string;

  /** The terminal of a run of this boot; undefined: the run has not begun. */
  static of({ terminal, processes }: RunDirectory, path: string): SessionTerminal | undefined {
    if (terminal === undefined || processes === undefined) return undefined;
    return new SessionTerminal(terminal, processes.shell, path);
  }

  /** `device`: `/dev/pts/<number>`. `path`: the directories in which programs are searched, as in PATH. */
  constructor(device: string, shell: ProcessStamp, path: string) {
    this.#device = device;
    this.#shell = shell;
    this.#path = path;
  }

  async mode(): Promise<TerminalMode> {
    const said = await this.#run('sh', 'exec stty -a', '');
    if (said === '') return 'unknown';
    if (said === undefined || !/(?:^|\s)icanon\b/m.test(said)) return 'own';
    return /(?:^|\s)extproc\b/m.test(said) ? 'literal' : 'lines';
  }

  /** The terminal's size; undefined: the terminal is gone. */
  async size(): Promise<TerminalSize | undefined> {
    const [, rows, columns] = /^(\d+) (\d+)\s*$/.exec((await this.#run('sh', 'exec stty size')) ?? '') ?? [];
    return rows === undefined ? undefined : { columns: Number(columns), rows: Number(rows) };
  }

  /**
   * Makes the kernel pass on bytes as they are, or edit lines again. It changes a single flag (EXTPROC); all others
   * stay as the program wants them. `isLong`: for more bytes than the terminal holds it leaves canonical mode too. In
   * that mode the kernel (n_tty) discards what it has no space for until the program has read a first byte. Never waits
   * for unread output. Does nothing to a terminal that is gone. False: a busy machine did not do it in time.
   */
  async setLiteral(isLiteral: boolean, isLong = false): Promise<boolean> {
    // The order on the way back keeps unread bytes readable. `min` and `time` lie where `eof` and `eol` do.
    const script = isLiteral
      ? `exec stty -drain extproc${isLong ? ' -icanon min 1 time 0' : ''}`
      : `${isLong ? 'stty -drain icanon eof ^D eol undef; ' : ''}exec stty -drain -extproc`;
    return (await this.#run('sh', script, 'late')) !== 'late';
  }

  /**
   * True while the program has not read all input. By then all sent bytes have arrived in the terminal. bash can look
   * without reading, Node cannot; where bash is missing everything counts as read. When a busy machine does not finish
   * the look in time, the input counts as unread.
   */
  async isUnread(): Promise<boolean> {
    return (await this.#run('bash', 'read -t 0', '')) !== undefined;
  }

  /** The output of the script; undefined when the script failed, `late` when it did not end in time. */
  #run(shell: 'sh' | 'bash', script: string, late?: string): Promise<string | undefined> {
    const { pid, startTime } = this.#shell;
    const program = shell === 'sh' ? '/bin/sh' : findProgram('bash', this.#path);
    if (program === undefined) return Promise.resolve(undefined);
    const parameters = ['-c', OPEN + script, 'sh', this.#device, `${pid}`, `${startTime}`];
    const options = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, cwd: '/', timeout: ANSWER_TIMEOUT_MS };
    return new Promise((resolve) => {
      execFile(program, shell === 'bash' ? ['-p', ...parameters] : parameters, options, (error, stdout) =>
        resolve(error === null ? stdout : error.killed === true ? late : undefined),
      );
    });
  }
}
