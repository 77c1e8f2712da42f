/**
 * Runs one reconciler over its keys: takes due keys from the queue and runs a bounded number of rounds at once. Then it
 * queues each key again as the end of its round asks. All reconcilers of master and wrapper run in controllers.
 */
import { internalError } from '../model/errors.js';
import { Backoff, type BackoffOptions } from './backoff.js';
import type { Clock, TimerHandle } from './clock.js';
import type { Part } from './lifecycle.js';
import type { Reconciler } from './reconciler.js';
import { Round, type RoundContext, type RoundEnd } from './round.js';
import type { QueueGauge, Trace } from './trace.js';
import { type AddOptions, WorkQueue } from './work-queue.js';

export interface ControllerOptions<Facts, Step> {
  readonly reconciler: Reconciler<Facts, Step>;
  readonly clock: Clock;
  /** Returns a number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  /** Receives every round, and every step after it was performed. Must not throw. */
  readonly trace: Trace;
  /** How many rounds may wait for promises at the same time. Default 16. */
  readonly concurrency?: number;
  readonly backoff?: BackoffOptions;
  /** The keys to look at again from time to time, in case an event was missed; absent: no resync. */
  readonly resync?: {
    /** The length of a period, in which every key is looked at once. Default 5 minutes. */
    readonly everyMs?: number;
    /** The keys, read at the start of each period. */
    readonly keys: () => Iterable<string>;
  };
  /** Receives every failed round. Must not throw. */
  readonly onError?: (key: string, error: unknown, retryInMs: number) => void;
}

/**
 * How many rounds in a row may change something without a request from outside. More than that is an error: the plan
 * never settles.
 */
const MOST_CHANGES_IN_A_ROW = 100;
const RESYNC_EVERY_MS = 300_000;
/** The most batches in a period: few enough that an idle node hardly wakes, many enough that each batch is small. */
const MOST_BATCHES = 300;
const CONFLICT_DELAY_MS = 20;
/** The shortest recheck: 0 would be a hot loop, and rounding can turn a remainder into almost 0. */
const SHORTEST_RECHECK_MS = 1;
/** The controller gives the event loop a turn after this many rounds or this much time, whichever comes first. */
const TURN_ROUNDS = 200;
const TURN_MS = 2;

export class Controller<Facts, Step> implements Part {
  readonly #options: ControllerOptions<Facts, Step>;
  readonly #context: RoundContext<Facts, Step>;
  readonly #concurrency: number;
  readonly #queue: WorkQueue;
  /** The failures of keys that are not settled. */
  readonly #backoff: Backoff;
  /** How many rounds in a row changed something without settling, by key. A settled key takes no memory. */
  readonly #changesInARow = new Map<string, number>();
  /** The rounds that wait for a promise. */
  readonly #waiting = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  #resync: TimerHandle | undefined;
  #isStarted = false;
  #isStopped = false;
  /** True while a pass over the queue runs or is certain to come. */
  #isPassDue = false;
  #roundsThisTurn = 0;
  #busyMsThisTurn = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(options: ControllerOptions<Facts, Step>) {
    const { reconciler, clock, trace } = options;
    this.#options = options;
    this.#context = { reconciler, clock, trace, signal: this.#abort.signal };
    this.#concurrency = options.concurrency ?? 16;
    this.#queue = new WorkQueue(clock);
    this.#queue.onReady(() => this.#wake());
    this.#backoff = new Backoff(options.random, options.backoff);
  }

  /**
   * Asks for a look at `key`, which may have changed: a round that starts after this call sees the change. Cheap; may
   * be called at any time, also before `start`.
   */
  enqueue(key: string, options?: AddOptions): void {
    this.#changesInARow.delete(key);
    this.#queue.add(key, options);
  }

  /**
   * Asks for a look at `key` at high priority, because its desired state changed or it was removed. Forgets the key's
   * failures.
   */
  specChanged(key: string): void {
    this.#forget(key);
    this.#queue.add(key, { priority: 'high' });
  }

  /** True when the key failed and waits for its next try. */
  isFailing(key: string): boolean {
    return this.#backoff.has(key);
  }

  start(): void {
    if (this.#isStarted || this.#isStopped) return;
    this.#isStarted = true;
    this.#resyncPeriod();
    this.#wake();
  }

  /** Aborts the running rounds, and resolves when none runs any more. No round starts afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#abort.abort();
    this.#resync?.cancel();
    this.#queue.stop();
    await Promise.all(this.#waiting);
    this.#tellIdle();
  }

  gauge(): QueueGauge {
    return this.#queue.gauge();
  }

  /**
   * Resolves when no key is due or running, or when the controller has stopped. Keys that are due later may still
   * wait.
   */
  whenIdle(): Promise<void> {
    if (this.#queue.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Starts a pass in a microtask, so that no round runs in the middle of the caller's own work. */
  #wake(): void {
    if (this.#isPassDue || !this.#isStarted || this.#isStopped) return;
    this.#isPassDue = true;
    queueMicrotask(() => this.#pass());
  }

  #pass(): void {
    if (this.#runDue()) {
      this.#context.clock.nextTurn(() => this.#passNextTurn());
      return;
    }
    this.#isPassDue = false;
    if (this.#queue.isIdle) this.#tellIdle();
  }

  #passNextTurn(): void {
    this.#roundsThisTurn = 0;
    this.#busyMsThisTurn = 0;
    this.#pass();
  }

  /** Runs due keys while places are free. Returns true when it stopped early to give the event loop a turn. */
  #runDue(): boolean {
    while (!this.#isStopped && this.#waiting.size < this.#concurrency) {
      if (this.#roundsThisTurn >= TURN_ROUNDS || this.#busyMsThisTurn >= TURN_MS) return true;
      const key = this.#queue.take();
      if (key === undefined) return false;
      this.#runRound(key);
    }
    return false;
  }

  #runRound(key: string): void {
    const { clock } = this.#context;
    const startedAt = clock.monotonic();
    const end = new Round(this.#context, key).run(startedAt);
    const busyMs = clock.monotonic() - startedAt;
    this.#roundsThisTurn++;
    this.#busyMsThisTurn += busyMs;
    // A round that returned no promise is over: only a waiting round needs a place.
    if (!(end instanceof Promise)) {
      this.#finish(key, end, busyMs);
      return;
    }
    const waiting = end.then((roundEnd) => {
      this.#waiting.delete(waiting);
      this.#finish(key, roundEnd, clock.monotonic() - startedAt);
      this.#wake();
    });
    this.#waiting.add(waiting);
  }

  #finish(key: string, roundEnd: RoundEnd, durationMs: number): void {
    const { reconciler, trace } = this.#context;
    const end = this.#judge(key, roundEnd);
    const { outcome, error } = end;
    const retryInMs = this.#requeue(key, end);
    this.#queue.done(key);
    const event = { kind: 'round', controller: reconciler.name, key, outcome, durationMs, error } as const;
    trace(retryInMs === undefined ? event : { ...event, retryInMs });
    if (outcome === 'failed') this.#options.onError?.(key, error, retryInMs ?? 0);
  }

  #judge(key: string, end: RoundEnd): RoundEnd {
    if (end.outcome !== 'changed') return end;
    const changes = (this.#changesInARow.get(key) ?? 0) + 1;
    this.#changesInARow.set(key, changes);
    if (changes <= MOST_CHANGES_IN_A_ROW) return end;
    const message =
      `${this.#context.reconciler.name}: the plan for ${key} still had steps after ${MOST_CHANGES_IN_A_ROW} ` +
      'rounds in a row; plan() must answer no steps once perform() has done them';
    return { outcome: 'failed', error: internalError(message) };
  }

  /** Queues the key again as the end of its round asks. Returns the delay for a failed or conflicting key. */
  #requeue(key: string, { outcome, recheckInMs }: RoundEnd): number | undefined {
    switch (outcome) {
      case 'changed':
        // Queue the key at once and ignore `recheckInMs`, because the plan of the next round has its own.
        this.#queue.add(key);
        return undefined;
      case 'settled':
        this.#forget(key);
        if (recheckInMs !== undefined) this.#recheck(key, recheckInMs);
        return undefined;
      case 'gone':
        this.#forget(key);
        return undefined;
      case 'conflict':
        return this.#retry(key, CONFLICT_DELAY_MS);
      case 'failed':
        return this.#retry(key, this.#backoff.next(key));
      case 'aborted':
        return undefined;
      default:
        return outcome satisfies never;
    }
  }

  #recheck(key: string, inMs: number): void {
    // `|| 0`: a plan that computes NaN would otherwise be looked at again without a pause.
    this.#queue.add(key, { afterMs: Math.max(inMs || 0, SHORTEST_RECHECK_MS) });
  }

  #retry(key: string, afterMs: number): number {
    this.#queue.add(key, { afterMs });
    return afterMs;
  }

  /** Forgets the past of a key that is settled or gone, or that has a new spec. */
  #forget(key: string): void {
    this.#backoff.clear(key);
    this.#changesInARow.delete(key);
  }

  /** Spreads the keys over a period, so that ten thousand keys make a trickle, not a wave. */
  #resyncPeriod(): void {
    const { resync } = this.#options;
    if (resync === undefined) return;
    const keys = [...resync.keys()];
    const batches = Math.max(1, Math.min(keys.length, MOST_BATCHES));
    const lookAt = (batch: number): void => {
      this.#resync = this.#context.clock.setTimer((resync.everyMs ?? RESYNC_EVERY_MS) / batches, () => {
        const from = Math.floor((batch * keys.length) / batches);
        const to = Math.floor(((batch + 1) * keys.length) / batches);
        for (const key of keys.slice(from, to)) this.#queue.add(key, { priority: 'low' });
        if (batch + 1 < batches) lookAt(batch + 1);
        else this.#resyncPeriod();
      });
    };
    lookAt(0);
  }

  #tellIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const tell of waiters) tell();
  }
}
