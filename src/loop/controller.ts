/**
 * Runs one reconciler over its keys: takes due keys from the queue and runs a bounded number of rounds at once. Then it
 * queues each key again as the end of its round asks. All reconcilers of master and wrapper run in controllers.
 */
import { DroverError } from '../model/errors.js';
import type { BackoffOptions } from './backoff.js';
import type { Clock } from './clock.js';
import { KeyHistory, MOST_CHANGES_IN_A_ROW } from './key-history.js';
import type { Part } from './lifecycle.js';
import type { Reconciler } from './reconciler.js';
import { Resync } from './resync.js';
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
  /** The keys to look at again from time to time; absent: no resync. */
  readonly resync?: {
    /** Default 5 minutes. */
    readonly everyMs?: number;
    readonly keys: () => Iterable<string>;
  };
  /** Receives every failed round. Must not throw. */
  readonly onError?: (key: string, error: unknown, retryInMs: number) => void;
}

const RESYNC_EVERY_MS = 300_000;
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
  readonly #history: KeyHistory;
  /** The rounds that wait for a promise. */
  readonly #waiting = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #resync: Resync | undefined;
  #isStarted = false;
  #isStopped = false;
  /** True while a pass over the queue runs or is certain to come. */
  #isPassDue = false;
  #roundsThisTurn = 0;
  #busyMsThisTurn = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(options: ControllerOptions<Facts, Step>) {
    const { reconciler, clock, trace, resync } = options;
    this.#options = options;
    this.#context = { reconciler, clock, trace, signal: this.#abort.signal };
    this.#concurrency = options.concurrency ?? 16;
    this.#queue = new WorkQueue(clock);
    this.#queue.onReady(() => this.#wake());
    this.#history = new KeyHistory(options.random, options.backoff);
    this.#resync =
      resync &&
      new Resync({
        clock,
        everyMs: resync.everyMs ?? RESYNC_EVERY_MS,
        keys: resync.keys,
        onTurn: (key) => this.#queue.add(key, { priority: 'low' }),
      });
  }

  /**
   * Asks for a look at `key`, which may have changed: a round that starts after this call sees the change. Cheap; may
   * be called at any time, also before `start`.
   */
  enqueue(key: string, options?: AddOptions): void {
    this.#history.noteRequest(key);
    this.#queue.add(key, options);
  }

  /**
   * Asks for a look at `key` at high priority, because its desired state changed or it was removed. Forgets the key's
   * failures.
   */
  specChanged(key: string): void {
    this.#history.noteSpec(key);
    this.#queue.add(key, { priority: 'high' });
  }

  /** True when the key failed and waits for its next try. */
  isFailing(key: string): boolean {
    return this.#history.isFailing(key);
  }

  start(): void {
    if (this.#isStarted || this.#isStopped) return;
    this.#isStarted = true;
    this.#resync?.start();
    this.#wake();
  }

  /** Aborts the running rounds, and resolves when none runs any more. No round starts afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#abort.abort();
    this.#resync?.stop();
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
    if (end.outcome !== 'changed' || this.#history.noteChange(key)) return end;
    const message =
      `${this.#context.reconciler.name}: the plan for ${key} still had steps after ${MOST_CHANGES_IN_A_ROW} ` +
      'rounds in a row; plan() must answer no steps once perform() has done them';
    return { outcome: 'failed', error: new DroverError('DRV_INTERNAL', message) };
  }

  /** Queues the key again as the end of its round asks. Returns the delay for a failed or conflicting key. */
  #requeue(key: string, { outcome, recheckInMs }: RoundEnd): number | undefined {
    switch (outcome) {
      case 'changed':
        // At once, and without the recheck, because the next round's plan has its own.
        this.#queue.add(key);
        return undefined;
      case 'settled':
        this.#history.forget(key);
        if (recheckInMs !== undefined) this.#recheck(key, recheckInMs);
        return undefined;
      case 'gone':
        this.#history.forget(key);
        return undefined;
      case 'conflict':
        return this.#retry(key, CONFLICT_DELAY_MS);
      case 'failed':
        return this.#retry(key, this.#history.noteFailure(key));
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

  #tellIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const tell of waiters) tell();
  }
}
