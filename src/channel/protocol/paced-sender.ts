/**
 * Decides which outgoing message is handed to the socket, and when. A message that the socket has taken cannot be
 * overtaken, and a slow link drains it for seconds. So the sender hands over only as much as the link has lately
 * carried in half a second. The rest waits here in three lanes. Marks (pings that come back as pongs) tell how far the
 * link has got.
 */
import type { Clock } from '../../loop/clock.js';
import type { Message } from './messages.js';

const MIN_WINDOW_BYTES = 32 * 1024;
const FIRST_WINDOW_BYTES = 64 * 1024;
const MAX_WINDOW_BYTES = 16 * 1024 * 1024;
/** How many marks are sent in one window. */
const MARKS = 4;
/** A mark that takes this much longer than the fastest mark shows that too much is under way. */
const SLOW_MS = 500;
/** A mark that takes less than this longer than the fastest mark shows that more may be under way. */
const FAST_MS = 150;
/** The limit for what waits for a peer that does not read. State is never dropped; the connection is closed instead. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

/**
 * `sign`: a beat, which overtakes everything. `state`: small, or must not wait for bulk. `bulk`: answers and streams.
 */
type Lane = 'sign' | 'state' | 'bulk';

/** The lane of a message. The messages of one call that must stay in order (its chunks, its end) share a lane. */
export function laneOf({ type }: Message): Lane {
  switch (type) {
    case 'beat':
      return 'sign';
    case 'chunk':
    case 'end':
    case 'result':
    case 'failure':
      return 'bulk';
    default:
      return 'state';
  }
}

interface PacedSenderOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly write: (data: string | Buffer) => void;
  /** Sends a mark that the other side sends back; see `marked`. */
  readonly mark: (mark: number) => void;
  /** Called when more waits than the limit allows. */
  readonly onOverflow: () => void;
}

interface Mark {
  readonly id: number;
  readonly sentBytes: number;
  readonly at: number;
}

export class PacedSender {
  readonly #options: PacedSenderOptions;
  readonly #state = new Queue();
  readonly #bulk = new Queue();
  readonly #marks: Mark[] = [];
  #nextMark = 1;
  #sentBytes = 0;
  #markedBytes = 0;
  #arrivedBytes = 0;
  #windowBytes = FIRST_WINDOW_BYTES;
  /**
   * How many bytes had been sent when the window last changed. Marks that were sent earlier say nothing about the new
   * window.
   */
  #changedAtBytes = 0;
  #wasFull = false;
  /** The time of the fastest mark: the link's own delay. */
  #fastestMs = Number.POSITIVE_INFINITY;

  constructor(options: PacedSenderOptions) {
    this.#options = options;
  }

  /** How many bytes wait here. */
  get waitingBytes(): number {
    return this.#state.bytes + this.#bulk.bytes;
  }

  send(lane: Lane, data: string | Buffer): void {
    if (lane === 'sign') {
      this.#write(data);
      return;
    }
    const queue = lane === 'state' ? this.#state : this.#bulk;
    // Check before the message is added, because a single message may be larger than the limit.
    if (this.waitingBytes > MAX_WAITING_BYTES) {
      this.#options.onOverflow();
      return;
    }
    queue.push(data);
    this.#pump();
  }

  /** Takes a mark that came back. */
  marked(id: number): void {
    const index = this.#marks.findIndex((mark) => mark.id === id);
    const mark = this.#marks[index];
    if (mark === undefined) return;
    this.#marks.splice(0, index + 1);
    this.#arrivedBytes = mark.sentBytes;
    this.#adapt(mark);
    this.#pump();
  }

  /** Hands over all waiting state at once, before an orderly end. */
  flush(): void {
    for (let data = this.#state.shift(); data !== undefined; data = this.#state.shift()) this.#write(data);
  }

  /** Drops everything that waits, because the connection is gone. */
  clear(): void {
    this.#state.clear();
    this.#bulk.clear();
  }

  #pump(): void {
    while (this.waitingBytes > 0) {
      if (this.#sentBytes - this.#arrivedBytes >= this.#windowBytes) {
        this.#wasFull = true;
        // At least one mark must be under way: its return is the sign to send more.
        if (this.#marks.length === 0) this.#mark();
        return;
      }
      const data = this.#state.shift() ?? this.#bulk.shift();
      if (data !== undefined) this.#write(data);
    }
  }

  #write(data: string | Buffer): void {
    this.#options.write(data);
    this.#sentBytes += sizeOf(data);
    if (this.#sentBytes - this.#markedBytes >= this.#windowBytes / MARKS) this.#mark();
  }

  #mark(): void {
    const id = this.#nextMark++;
    this.#markedBytes = this.#sentBytes;
    this.#marks.push({ id, sentBytes: this.#sentBytes, at: this.#options.clock.monotonic() });
    this.#options.mark(id);
  }

  #adapt(mark: Mark): void {
    const tookMs = this.#options.clock.monotonic() - mark.at;
    this.#fastestMs = Math.min(this.#fastestMs, tookMs);
    if (mark.sentBytes <= this.#changedAtBytes) return;
    const queuedMs = tookMs - this.#fastestMs;
    if (queuedMs > SLOW_MS) this.#resize(Math.max(MIN_WINDOW_BYTES, this.#windowBytes / 2));
    else if (queuedMs < FAST_MS && this.#wasFull)
      this.#resize(Math.min(MAX_WINDOW_BYTES, this.#windowBytes * 2));
  }

  #resize(bytes: number): void {
    this.#windowBytes = bytes;
    this.#changedAtBytes = this.#sentBytes;
    this.#wasFull = false;
  }
}

/** A first-in, first-out queue that never moves its other items. */
class Queue {
  #items: (string | Buffer)[] = [];
  #first = 0;
  bytes = 0;

  push(data: string | Buffer): void {
    this.#items.push(data);
    this.bytes += sizeOf(data);
  }

  shift(): string | Buffer | undefined {
    const data = this.#items[this.#first];
    if (data === undefined) return undefined;
    this.#first++;
    this.bytes -= sizeOf(data);
    if (this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return data;
  }

  clear(): void {
    this.#items = [];
    this.#first = 0;
    this.bytes = 0;
  }
}

/** The size in characters: close enough to bytes for a window, and costs nothing. */
function sizeOf(data: string | Buffer): number {
  return data.length;
}
