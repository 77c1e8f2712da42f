/** The two processes of a session, its shell and its program, as /proc shows them. */
import { setTimeout as pause } from 'node:timers/promises';
import { isRunning, type ProcessStamp, readProcess } from '../../files/processes.js';
import type { OwnerProcess } from '../owner/protocol.js';

const REAP_PATIENCE_MS = 250;
const REAP_LOOK_MS = 5;

interface SessionStamps {
  readonly shell: ProcessStamp;
  readonly program: ProcessStamp;
}

export class SessionProcesses {
  readonly #stamps: SessionStamps | undefined;
  readonly #isOfThisBoot: boolean;

  /** `stamps`: undefined when the session never began. `isOfThisBoot`: false makes the stamps meaningless. */
  constructor(stamps: SessionStamps | undefined, isOfThisBoot: boolean) {
    this.#stamps = stamps;
    this.#isOfThisBoot = isOfThisBoot;
  }

  get isShellAlive(): boolean {
    return this.#isAlive(this.#stamps?.shell);
  }

  get isProgramAlive(): boolean {
    return this.#isAlive(this.#stamps?.program);
  }

  /** The two processes in the form that daemons get. */
  get identity(): OwnerProcess {
    if (this.#stamps === undefined) return { pid: 0, startTime: 0 };
    const { program, shell } = this.#stamps;
    return this.#isOfThisBoot ? { ...program, session: shell } : { pid: program.pid, startTime: 0 };
  }

  /**
   * Waits a moment until the shell is gone from the process table. Then whoever hears of the exit finds the process
   * group empty, unless other processes are in it.
   */
  async untilReaped(): Promise<void> {
    const shell = this.#stamps?.shell;
    if (shell === undefined || !this.#isOfThisBoot) return;
    const giveUpAt = performance.now() + REAP_PATIENCE_MS;
    while (readProcess(shell.pid)?.startTime === shell.startTime && performance.now() < giveUpAt)
      await pause(REAP_LOOK_MS);
  }

  #isAlive(stamp: ProcessStamp | undefined): boolean {
    return stamp !== undefined && this.#isOfThisBoot && isRunning(stamp);
  }
}
