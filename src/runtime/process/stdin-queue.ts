/**
 * Bytes for a terminal that does not take them yet: bounded, in order, retried with a growing delay. Writes to the
 * descriptor itself, non-blocking, because libuv would block the whole owner on a full terminal.
 */
import { writeSync } from 'node:fs';
import { hasFileCode } from '../../files/system-error.js';
import { backoffMs } from '../../loop/backoff.js';

export const STDIN_QUEUE_BYTES = 64 * 1024;
const RETRY = { baseMs: 2, maxMs: 500 };

export class StdinQueue {
  readonly #fd: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isOpen = false;
  #isClosed = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Takes all of `bytes` or nothing. False: the queue is full, because the program does not read. */
  push(bytes: Buffer): boolean {
    if (this.#isClosed || this.#waitingBytes + bytes.length > STDIN_QUEUE_BYTES) return false;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#isOpen && this.#timer === undefined) this.#flush();
    return true;
  }

  /** Starts writing, beginning with the bytes pushed so far. */
  open(): void {
    this.#isOpen = true;
    this.#flush();
  }

  /** Drops the waiting bytes. Called before the descriptor is closed. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#timer = undefined;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const written = this.#write(next);
      this.#waitingBytes -= written;
      if (written > 0) this.#failures = 0;
      if (written < next.length) {
        this.#waiting[0] = next.subarray(written);
        this.#retryLater();
        return;
      }
      this.#waiting.shift();
    }
  }

  #write(bytes: Buffer): number {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      if (hasFileCode(error, 'EAGAIN')) return 0;
      // The terminal is hung up: there is no reader any more, and the exit is on its way.
      this.close();
      return 0;
    }
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#flush(), backoffMs(this.#failures++, RETRY));
  }
}
