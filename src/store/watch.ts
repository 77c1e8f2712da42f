/**
 * The bounded history of durable changes, and the subscriptions that read it, for the stores of this folder. All
 * watches share one ring and keep only their place in it. A slow watch costs no more than the ring, and throws when the
 * history has passed it.
 */
import { Bell } from '../loop/bell.js';
import { DroverError, internalError } from '../model/errors.js';
import type { Change, ChangeBatch } from './store.js';

/** The most changes that the history holds, by default. */
const HISTORY_CAPACITY = 16_384;
/**
 * How many changes are kept that every watch has read already, for a watch that begins later. A larger number
 * would keep their values alive until the garbage collector moves them to the old generation.
 */
const KEPT = 256;

export class ChangeHistory {
  readonly #capacity: number;
  readonly #ring: (Change | undefined)[] = [];
  readonly #watches = new Set<Watch>();
  #start = 0;
  #end = 0;
  /** The value of `end` at the last `publish`. */
  #published = 0;
  #revision: number;
  #forgottenRevision: number;

  /** `revision`: the last revision before the history begins; the history holds later changes only. */
  constructor(revision: number, capacity: number = HISTORY_CAPACITY) {
    this.#revision = revision;
    this.#forgottenRevision = revision;
    this.#capacity = capacity;
  }

  /** The revision up to which everything was published. */
  get revision(): number {
    return this.#revision;
  }

  /** Number of changes ever added: the place after the newest one. */
  get end(): number {
    return this.#end;
  }

  /** The place of the oldest change that is still held. */
  get start(): number {
    return this.#start;
  }

  /** Adds one durable change. Watches see it after `publish`. */
  append(change: Change): void {
    if (this.#end - this.#start === this.#capacity) this.#forget();
    this.#ring[this.#end % this.#capacity] = change;
    this.#end++;
  }

  /** Wakes the watches: everything appended so far belongs to revisions up to `revision`. */
  publish(revision: number): void {
    this.#revision = revision;
    this.#forgetRead();
    this.#published = this.#end;
    for (const watch of this.#watches) watch.change.ring();
  }

  /** See `Store.watch`. */
  watch(prefix: string, fromRevision: number, signal: AbortSignal): AsyncIterableIterator<ChangeBatch> {
    const watch = new Watch(this, prefix, fromRevision, signal, (ended) => this.#watches.delete(ended));
    if (!signal.aborted) this.#watches.add(watch);
    return watch;
  }

  /** Ends every watch. */
  close(): void {
    for (const watch of [...this.#watches]) watch.end();
  }

  /** The place of the first held change after `revision`; -1 when the history no longer holds all of them. */
  placeAfter(revision: number): number {
    if (revision < this.#forgottenRevision) return -1;
    let low = this.start;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#at(middle).revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Changes under `prefix` from `place` on. */
  read(place: number, prefix: string): Change[] {
    const changes: Change[] = [];
    for (let index = place; index < this.#end; index++) {
      const change = this.#at(index);
      if (change.key.startsWith(prefix)) changes.push(change);
    }
    return changes;
  }

  /**
   * Drops changes that every watch has read, except the latest ones. It keeps all changes since the last
   * `publish`, because a caller that listed before them may begin to watch now.
   */
  #forgetRead(): void {
    let place = this.#published - KEPT;
    for (const watch of this.#watches) place = Math.min(place, watch.place);
    while (this.#start < place) this.#forget();
  }

  #forget(): void {
    const slot = this.#start % this.#capacity;
    this.#forgottenRevision = this.#ring[slot]?.revision ?? this.#forgottenRevision;
    this.#ring[slot] = undefined;
    this.#start++;
  }

  #at(place: number): Change {
    const change = this.#ring[place % this.#capacity];
    if (change === undefined) throw internalError(`no change is held at ${place}`);
    return change;
  }
}

class Watch implements AsyncIterableIterator<ChangeBatch> {
  readonly #history: ChangeHistory;
  readonly #prefix: string;
  readonly #signal: AbortSignal;
  readonly #onEnd: (watch: Watch) => void;
  #place: number;
  #revision: number;
  #ended: boolean;
  /** Rings when there may be something to read. */
  readonly change = new Bell();

  constructor(
    history: ChangeHistory,
    prefix: string,
    fromRevision: number,
    signal: AbortSignal,
    onEnd: (watch: Watch) => void,
  ) {
    this.#history = history;
    this.#prefix = prefix;
    this.#signal = signal;
    this.#onEnd = onEnd;
    this.#revision = fromRevision;
    this.#place = history.placeAfter(fromRevision);
    this.#ended = signal.aborted;
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The place of the first change that this watch has not read. */
  get place(): number {
    return this.#place;
  }

  async next(): Promise<IteratorResult<ChangeBatch, undefined>> {
    while (!this.#ended) {
      const batch = this.#take();
      if (batch !== undefined) return { done: false, value: batch };
      await this.change.wait();
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<ChangeBatch, undefined>> {
    this.end();
    return { done: true, value: undefined };
  }

  end(): void {
    this.#ended = true;
    this.#signal.removeEventListener('abort', this.#abort);
    this.#onEnd(this);
    this.change.ring();
  }

  readonly #abort = (): void => this.end();

  #take(): ChangeBatch | undefined {
    if (this.#place < this.#history.start) {
      this.end();
      throw new DroverError(
        'DRV_STORE_HISTORY_GONE',
        `changes of ${this.#prefix} after revision ${this.#revision} are no longer held; list again`,
      );
    }
    const revision = this.#history.revision;
    if (revision <= this.#revision) return undefined;
    const batch = Object.assign(this.#history.read(this.#place, this.#prefix), { revision });
    this.#place = this.#history.end;
    this.#revision = revision;
    return batch;
  }
}
