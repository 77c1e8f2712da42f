/**
 * The terminal of a session, as `stty` and `bash` see it from outside. Every call opens the terminal first and then
 * looks whether the session's shell still lives: so it never touches a terminal that got the number of an ended one.
 */
import { execFile } from 'node:child_process';
import type { TerminalSize } from '../../../model/run/attachment.js';
import { findProgram } from '../find-program.js';
import type { ProcessStamp, RunDirectory } from '../run-directory.js';

const ANSWER_TIMEOUT_MS = 5000;
/** Parameters: terminal, pid and start time of the session's shell (fields 1 and 22 of its stat). */
const OPEN =
  'exec <"$1" && read -r stat <"/proc/$2/stat" && start=$3 || exit 3; set -f; set -- ${stat##*) }; ' +
  '[ "$1" != Z ] && [ "${20}" = "$start" ] || exit 3; ';

/**
 * Who treats what comes in: the kernel makes lines of it, echoes it and turns keys into signals (`lines`), or it
 * passes on every byte as it is (`literal`). `own`: the program rules its terminal itself, or has ended.
 */
export type TerminalMode = 'lines' | 'literal' | 'own';

export interface SessionTerminalOptions {
  /** `/dev/pts/<number>`. */
  readonly device: string;
  readonly shell: ProcessStamp;
  /** Where programs are searched. */
  readonly path: string;
}

export class SessionTerminal {
  readonly #options: SessionTerminalOptions;

  /** The terminal of a run of this boot. Undefined: it has not begun. */
  static of({ terminal, processes }: RunDirectory, path: string): SessionTerminal | undefined {
    if (terminal === undefined || processes === undefined) return undefined;
    return new SessionTerminal({ device: terminal, shell: processes.shell, path });
  }

  constructor(options: SessionTerminalOptions) {
    this.#options = options;
  }

  async mode(): Promise<TerminalMode> {
    const said = await this.#run('sh', 'exec stty -a');
    if (said === undefined || !/(?:^|\s)icanon\b/m.test(said)) return 'own';
    return /(?:^|\s)extproc\b/m.test(said) ? 'literal' : 'lines';
  }

  /** Undefined: it is gone. */
  async size(): Promise<TerminalSize | undefined> {
    const [, rows, columns] = /^(\d+) (\d+)\s*$/.exec((await this.#run('sh', 'exec stty size')) ?? '') ?? [];
    return rows === undefined ? undefined : { columns: Number(columns), rows: Number(rows) };
  }

  /**
   * Makes the kernel pass on bytes as they are, or treat them again. One flag (EXTPROC) says so; all others stay as
   * the program wants them. Never waits for output that nobody reads. A terminal that is gone stays gone.
   */
  async setLiteral(isLiteral: boolean): Promise<void> {
    await this.#run('sh', `exec stty -drain ${isLiteral ? '' : '-'}extproc`);
  }

  /**
   * True while the program has not read everything. What was on its way into the terminal has arrived then. bash
   * can look without reading, Node cannot. Without bash everything counts as read. A look that a busy machine does not
   * get done says nothing, so all counts as unread until the next one.
   */
  async isUnread(): Promise<boolean> {
    return (await this.#run('bash', 'read -t 0', '')) !== undefined;
  }

  /** What the script said; undefined when it failed, `late` when it did not end in time. */
  #run(shell: 'sh' | 'bash', script: string, late?: string): Promise<string | undefined> {
    const { device, path } = this.#options;
    const { pid, startTime } = this.#options.shell;
    const program = shell === 'sh' ? '/bin/sh' : findProgram('bash', path);
    if (program === undefined) return Promise.resolve(undefined);
    const parameters = ['-c', OPEN + script, 'sh', device, `${pid}`, `${startTime}`];
    const options = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, cwd: '/', timeout: ANSWER_TIMEOUT_MS };
    return new Promise((resolve) => {
      execFile(program, shell === 'bash' ? ['-p', ...parameters] : parameters, options, (error, stdout) =>
        resolve(error === null ? stdout : error.killed === true ? late : undefined),
      );
    });
  }
}
