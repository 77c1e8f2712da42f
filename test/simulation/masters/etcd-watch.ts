/** One watch of a simulated etcd: batches in order, perhaps late and perhaps few at a time, until it breaks. */
import type { EventBatch } from '../../../src/store/etcd/etcd.js';
import { EtcdError } from '../../../src/store/etcd/etcd-error.js';
import type { EtcdClientOptions } from './etcd-client.js';

/** As `wire/watch-stream.ts`: asked for a sign of life after this silence, given up after twice as much. */
const SILENCE_MS = 3000;

type Arrival = { readonly batch: EventBatch } | { readonly error: unknown };

export class EtcdWatch {
  readonly #options: EtcdClientOptions;
  readonly #range: { readonly key: string; readonly end: string };
  #next: number;
  /** A batch or an error is under way. */
  #isSending = false;
  #isCreated = false;
  #isOver = false;
  #arrivals: Arrival[] = [];
  #wake: () => void = () => undefined;
  #silentLooks = 0;
  #unsubscribe: (() => void)[] = [];

  constructor(options: EtcdClientOptions, range: { key: string; end: string; revision: number }) {
    this.#options = options;
    this.#range = range;
    this.#next = range.revision;
  }

  async *batches(signal: AbortSignal): AsyncGenerator<EventBatch> {
    if (signal.aborted) return;
    const abort = (): void => this.#wake();
    signal.addEventListener('abort', abort);
    this.#open();
    try {
      for (;;) {
        if (signal.aborted) return;
        const arrival = this.#arrivals.shift();
        if (arrival === undefined) await this.#arrival();
        else if ('error' in arrival) throw arrival.error;
        else yield arrival.batch;
      }
    } finally {
      signal.removeEventListener('abort', abort);
      this.#isOver = true;
      for (const unsubscribe of this.#unsubscribe) unsubscribe();
    }
  }

  #open(): void {
    const { life, path, etcd } = this.#options;
    if (!life.effect('a watch')) return;
    this.#unsubscribe = [
      etcd.onRevision(() => this.#send()),
      path.onChange(() => this.#send()),
      path.onBreak(() => this.#arrive({ error: new EtcdError('the connection was reset') })),
    ];
    life.onDeath(() => {
      this.#isOver = true;
      for (const unsubscribe of this.#unsubscribe) unsubscribe();
    });
    this.#listen();
    path.carry(() => {
      this.#isCreated = true;
      this.#send();
    });
  }

  /** Sends what there is, one batch at a time. */
  #send(): void {
    const { path, scheduler } = this.#options;
    if (this.#isOver || !this.#isCreated || this.#isSending || !path.isWhole) return;
    const arrival = this.#due();
    if (arrival === undefined) return;
    this.#isSending = true;
    const wait = path.slowMs > 0 ? path.slowMs / 4 : 0;
    scheduler.after(path.latencyMs() + wait, () => {
      this.#isSending = false;
      if (!path.isWhole) return;
      if ('batch' in arrival) this.#next = arrival.batch.revision + 1;
      this.#arrive(arrival);
      if ('batch' in arrival) this.#send();
    });
  }

  #due(): Arrival | undefined {
    const { etcd, random } = this.#options;
    try {
      const revisions = etcd.since(this.#next, this.#range);
      const count = random.chance(0.2) ? 1 + random.below(revisions.length) : revisions.length;
      const taken = revisions.slice(0, count);
      const last = taken.at(-1);
      if (last === undefined) return undefined;
      return { batch: { events: taken.flatMap(({ events }) => events), revision: last.revision } };
    } catch (error) {
      return { error };
    }
  }

  #arrive(arrival: Arrival): void {
    this.#options.life.after(0, () => {
      if (this.#isOver) return;
      this.#silentLooks = 0;
      this.#arrivals.push(arrival);
      this.#wake();
    });
  }

  /** Something is heard of a watch that is silent and well: the answer to a question. */
  #listen(): void {
    const { life, path } = this.#options;
    life.clock.setTimer(SILENCE_MS, () => {
      if (this.#isOver) return;
      this.#silentLooks = path.isWhole && this.#isCreated ? 0 : this.#silentLooks + 1;
      if (this.#silentLooks >= 2) this.#arrive({ error: new EtcdError('the watch is silent') });
      else this.#listen();
    });
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
