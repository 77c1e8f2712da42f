/**
 * A program on a pseudo-terminal of its own. node-pty throws away what is unread 200 ms after the end of the process
 * that it started, and a loaded machine reads later. So it starts a shell that stays after the program, until the test
 * has seen all of the output.
 */
import { type IPty, spawn } from 'node-pty';

const ENDED = /\n<ended (\d+)>\r?\n/;
/** The signals of the terminal are for the program alone: a trap, unlike `trap ''`, is not inherited. */
const KEEPER = 'trap : INT QUIT TSTP; "$@"; printf "\\n<ended %s>\\n" "$?"; exec sleep 1000';

export interface TerminalProgramOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly columns?: number;
  readonly rows?: number;
  readonly onOutput?: (text: string) => void;
}

export class TerminalProgram {
  /** The exit code, once all output has been handed out. Stays pending when the program is killed by `kill`. */
  readonly ended: Promise<number>;
  readonly #pty: IPty;
  #raw = '';
  #hasLeft = false;

  constructor(command: readonly string[], options: TerminalProgramOptions) {
    this.#pty = spawn('/bin/sh', ['-c', KEEPER, 'sh', ...command], {
      cols: options.columns ?? 80,
      rows: options.rows ?? 24,
      env: options.environment,
    });
    this.#pty.onExit(() => {
      this.#hasLeft = true;
    });
    this.ended = new Promise((resolve) => {
      this.#pty.onData((text) => {
        this.#raw += text;
        options.onOutput?.(text);
        const code = ENDED.exec(this.#raw)?.[1];
        if (code === undefined) return;
        this.kill();
        resolve(Number(code));
      });
    });
  }

  /** All output so far, with every control sequence. */
  get raw(): string {
    return this.#raw;
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  /** Ends the shell and the program, if they have not left their group. Idempotent. */
  kill(): void {
    if (this.#hasLeft) return;
    try {
      process.kill(-this.#pty.pid, 'SIGKILL');
    } catch {
      // They have just ended.
    }
  }
}
