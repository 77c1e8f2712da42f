/**
 * Bounds what tmux buffers for programs that do not read their input: tmux takes everything and does not say how
 * much is left. What was written since the terminal was last seen empty is counted; only when that is a lot is the
 * terminal looked at.
 */
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { STDIN_QUEUE_BYTES } from '../../process/stdin-queue.js';
import { findProgram } from '../find-program.js';
import { InputFull } from '../session-tool.js';

/** The time of a reading program for what it was given: in all about a second. */
const PATIENCE_MS = [25, 50, 100, 200, 400];
const ANSWER_TIMEOUT_MS = 5000;

export class TmuxInput {
  readonly #path: string;
  readonly #written = new Map<string, number>();

  /** `path`: where programs are searched. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Called before `bytes` go to a run's terminal. Throws InputFull when much was written and the terminal is not
   * empty.
   */
  async count(name: string, terminal: string, bytes: number): Promise<void> {
    const written = (this.#written.get(name) ?? 0) + bytes;
    const isMuch = written > STDIN_QUEUE_BYTES;
    if (isMuch && !(await this.#isRead(terminal))) throw new InputFull();
    this.#written.set(name, isMuch ? bytes : written);
  }

  forget(name: string): void {
    this.#written.delete(name);
  }

  async #isRead(terminal: string): Promise<boolean> {
    for (const waitMs of PATIENCE_MS) {
      if (!(await this.#isUnread(terminal))) return true;
      await pause(waitMs);
    }
    return !(await this.#isUnread(terminal));
  }

  /** bash can look without reading, Node cannot. Without bash everything counts as read. */
  #isUnread(terminal: string): Promise<boolean> {
    const bash = findProgram('bash', this.#path);
    if (bash === undefined) return Promise.resolve(false);
    const parameters = ['-p', '-c', 'read -t 0 <"$1"', 'bash', terminal];
    return new Promise((resolve) => {
      execFile(bash, parameters, { env: {}, cwd: '/', timeout: ANSWER_TIMEOUT_MS }, (error) => {
        resolve(error === null);
      });
    });
  }
}
