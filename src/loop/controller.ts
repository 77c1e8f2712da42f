/**
 * Runs one reconciler over its keys: takes due keys from the queue, lets a bounded number of rounds run, and turns the
 * end of each into what happens to its key next. All reconcilers of master and wrapper run in this.
 */
import PQueue from 'p-queue';
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
  /** Answers in [0, 1); for the jitter of retries. */
  readonly random: () => number;
  /** Told of every round, and of every step once it has been performed. Must not throw. */
  readonly trace: Trace;
  /** Rounds that may wait for something at the same time. Default 16. */
  readonly concurrency?: number;
  readonly backoff?: BackoffOptions;
  /** Absent: no resync. */
  readonly resync?: {
    /** Default 5 minutes. */
    readonly everyMs?: number;
    readonly keys: () => Iterable<string>;
  };
  /** Default 20 ms. */
  readonly conflictDelayMs?: number;
  /** Told of every failed round. Must not throw. */
  readonly onError?: (key: string, error: unknown, retryInMs: number) => void;
}

const RESYNC_EVERY_MS = 300_000;
const CONFLICT_DELAY_MS = 20;
/** A recheck of 0 would be a hot loop, and a rest of rounding makes one of almost 0. */
const SHORTEST_RECHECK_MS = 1;
/** What is run before the event loop gets a turn: of each, whichever is reached first. */
const TURN_ROUNDS = 200;
const TURN_MS = 2;

export class Controller<Facts, Step> implements Part {
  readonly #options: ControllerOptions<Facts, Step>;
  readonly #context: RoundContext<Facts, Step>;
  readonly #concurrency: number;
  readonly #queue: WorkQueue;
  readonly #history: KeyHistory;
  readonly #places: PQueue;
  readonly #abort = new AbortController();
  readonly #resync: Resync | undefined;
  #isStarted = false;
  /** True while a pass over the queue is under way or is certain to come. */
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
    this.#places = new PQueue({ concurrency: this.#concurrency });
    this.#places.on('next', () => this.#wake());
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
   * Something about `key` may have changed: a round that starts after this call will look at it. Cheap, may be called
   * at any time, also before `start`. A key whose last round ended terminal stays asleep.
   */
  enqueue(key: string, options?: AddOptions): void {
    this.#history.noteRequest(key);
    this.#queue.add(key, options);
  }

  /** What is wanted of `key` changed, its removal included: failures are forgotten, a terminal key wakes up. */
  specChanged(key: string): void {
    this.#history.noteSpec(key);
    this.#queue.add(key, { priority: 'high' });
  }

  start(): void {
    if (this.#isStarted || this.#isStopped) return;
    this.#isStarted = true;
    this.#resync?.start();
    this.#wake();
  }

  /** Aborts the rounds that run and resolves when none does. Nothing is taken up afterwards. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#resync?.stop();
    this.#queue.stop();
    await this.#places.onIdle();
    this.#tellIdle();
  }

  gauge(): QueueGauge {
    return this.#queue.gauge();
  }

  /** Resolves when no key is due or running (later ones may wait), or when the controller has stopped. */
  whenIdle(): Promise<void> {
    if (this.#queue.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  get #isStopped(): boolean {
    return this.#abort.signal.aborted;
  }

  /** In a microtask, so that whoever enqueues is not run over by a round in the middle of its own work. */
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

  /** Runs what is due while places are free; true when it stopped early to give the event loop its turn. */
  #runDue(): boolean {
    while (!this.#isStopped && this.#places.pending < this.#concurrency) {
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
    const end = new Round(this.#context, key).run();
    // Only a round that waits needs a place: one that answered at once is over.
    if (end instanceof Promise) void this.#places.add(async () => this.#finish(key, await end, startedAt));
    else this.#finish(key, end, startedAt);
    this.#roundsThisTurn++;
    this.#busyMsThisTurn += clock.monotonic() - startedAt;
  }

  #finish(key: string, roundEnd: RoundEnd, startedAt: number): void {
    const { reconciler, clock, trace } = this.#context;
    const end = this.#judge(key, roundEnd);
    const { outcome, error } = end;
    const retryInMs = this.#requeue(key, end);
    this.#queue.done(key);
    const durationMs = clock.monotonic() - startedAt;
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

  /** Queues the key again as its end asks for; answers the delay when something that went wrong is tried again. */
  #requeue(key: string, { outcome, recheckInMs }: RoundEnd): number | undefined {
    switch (outcome) {
      case 'changed':
        // At once, whatever its recheck: the plan of the round to come says its own.
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
        return this.#retry(key, this.#options.conflictDelayMs ?? CONFLICT_DELAY_MS);
      case 'failed':
        return this.#retry(key, this.#history.noteFailure(key));
      case 'aborted':
        return undefined;
      default:
        return outcome satisfies never;
    }
  }

  #recheck(key: string, inMs: number): void {
    // `|| 0` because a plan that computes NaN would otherwise be looked at without any pause.
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
