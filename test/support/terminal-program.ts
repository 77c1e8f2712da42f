/**
 * A program on a private pseudo-terminal. node-pty throws away unread output 200 ms after the end of the process that
 * it started, and a loaded machine reads later. So node-pty starts a shell that stays after the program, until the test
 * has read all output.
 */
import { type IPty, spawn } from 'node-pty';

const ENDED = /\n<ended (\d+)>\r?\n/;
/** The shell's trap keeps the terminal's signals for the program: a trap, unlike `trap ''`, is not inherited. */
const KEEPER = 'trap : INT QUIT TSTP; "$@"; printf "\\n<ended %s>\\n" "$?"; exec sleep 1000';

interface TerminalProgramOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly columns?: number;
  readonly rows?: number;
  readonly onOutput?: (text: string) => void;
}

export class TerminalProgram {
  /** The exit code, when all output has been handed out. Stays pending when `kill` ends the program. */
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

  /** Ends the shell and the program, if they are still in their process group. Idempotent. */
  kill(): void {
    if (this.#hasLeft) return;
    try {
      process.kill(-this.#pty.pid, 'SIGKILL');
    } catch {
      // They have just ended.
    }
  }
}
