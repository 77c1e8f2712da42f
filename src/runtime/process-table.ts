/** Lists the processes of this machine, and reads which of them carry Drover's mark. */
import { readdirSync, readFileSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRunning, type ProcessEntry, readBootId, readOpen, readProcess } from '../files/processes.js';
import { MARK_VARIABLE } from './run-mark.js';
import type { ProcessIdentity } from './runtime.js';

/** A scan yields after this time, because thousands of processes must not delay beats and requests. */
const SLICE_MS = 2;
const ENVIRON_BLOCK_BYTES = 64 * 1024;
const MARK_PREFIX = Buffer.from(`${MARK_VARIABLE}=`);

/** Makes a function to await after each step of long work: it lets others run when the slice of time is used up. */
export function inSlices(): () => Promise<void> | undefined {
  let end = performance.now() + SLICE_MS;
  return () => {
    if (performance.now() < end) return undefined;
    return nextTurn().then(() => {
      end = performance.now() + SLICE_MS;
    });
  };
}

export interface MarkedEntry extends ProcessEntry {
  /**
   * The mark in the process's environment; null: no mark, or an environment that cannot be read. Read at first use:
   * reading it costs more than the rest, and waits where the process cannot run for want of its share of the processor.
   */
  readonly mark: string | null;
}

export class ProcessTable {
  readonly bootId = readBootId();
  readonly #buffer = Buffer.allocUnsafeSlow(ENVIRON_BLOCK_BYTES);
  #waiting: Promise<readonly MarkedEntry[]> | undefined;
  #current: Promise<unknown> = Promise.resolve();

  /** True while the process with this pid, start time and boot lives. */
  isAlive(identity: ProcessIdentity): boolean {
    return identity.bootId === this.bootId && isRunning(identity);
  }

  /**
   * All processes, zombies included, that could be an instance's. A single pass over /proc serves all callers that
   * asked before it began, so that stopping a hundred instances does not read it a hundred times.
   */
  scan(): Promise<readonly MarkedEntry[]> {
    if (this.#waiting === undefined) {
      const pass = this.#current.then(() => {
        this.#waiting = undefined;
        return this.#readAll();
      });
      this.#waiting = pass;
      this.#current = pass.catch(() => undefined);
    }
    return this.#waiting;
  }

  async #readAll(): Promise<readonly MarkedEntry[]> {
    const found: MarkedEntry[] = [];
    const turn = inSlices();
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || pid === process.pid) continue;
      const entry = readProcess(pid);
      // Group 0: kernel threads, and processes outside of this pid namespace.
      if (entry !== undefined && entry.group !== 0) found.push(this.#withMark(entry));
      await turn();
    }
    return found;
  }

  #withMark(entry: ProcessEntry): MarkedEntry {
    let mark: string | null | undefined;
    const read = (): string | null => {
      if (mark === undefined) mark = this.#markOf(entry.pid);
      return mark;
    };
    return {
      ...entry,
      get mark() {
        return read();
      },
    };
  }

  #markOf(pid: number): string | null {
    const environment = this.#readEnvironment(pid);
    if (environment === undefined) return null;
    for (let at = environment.indexOf(MARK_PREFIX); at >= 0; at = environment.indexOf(MARK_PREFIX, at + 1)) {
      if (at > 0 && environment[at - 1] !== 0) continue;
      const end = environment.indexOf(0, at);
      return environment.toString('utf8', at + MARK_PREFIX.length, end < 0 ? environment.length : end);
    }
    return null;
  }

  #readEnvironment(pid: number): Buffer | undefined {
    return readOpen(`/proc/${pid}/environ`, (fd) => {
      const first = this.#buffer.subarray(0, readSync(fd, this.#buffer));
      return first.length < this.#buffer.length ? first : Buffer.concat([first, readFileSync(fd)]);
    });
  }
}
