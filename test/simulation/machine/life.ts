/**
 * One life of a daemon process, from its start to its death. All its effects on the world, and all events from the
 * world, pass through here. After its death it has no effect, even in the middle of a function. While it is stopped
 * (SIGSTOP), no event reaches it.
 */
import type { Clock, TimerHandle } from '../../../src/loop/clock.js';
import type { Random } from '../random.js';
import type { Scheduler } from '../scheduler.js';
import type { Trace } from '../trace.js';

/** Wall clock (Unix ms) of a machine with a right clock when the simulation begins. */
export const EPOCH = Date.UTC(2026, 0, 1);

interface LifeOptions {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly trace: Trace;
  /** What the machine's wall clock is off by, now. */
  readonly skewMs: () => number;
  /** Called when it was stopped, and when it goes on. */
  readonly onPause: () => void;
}

interface Deferred {
  readonly isTimer: boolean;
  readonly run: () => void;
}

export class Life {
  readonly clock: Clock;
  readonly random: Random;
  readonly #options: LifeOptions;
  readonly #bornAt: number;
  readonly #monotonicBase: number;
  readonly #onDeath: (() => void)[] = [];
  #isAlive = true;
  /** What waits for the process to go on; undefined: it runs. */
  #deferred: Deferred[] | undefined;
  #effectsLeft = Number.POSITIVE_INFINITY;

  constructor(options: LifeOptions) {
    this.#options = options;
    this.random = options.random;
    this.#bornAt = options.scheduler.now;
    this.#monotonicBase = options.random.below(1_000_000);
    this.clock = this.#makeClock();
  }

  get name(): string {
    return this.#options.name;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isStalled(): boolean {
    return this.#deferred !== undefined;
  }

  /** Called once, when the process is gone. */
  onDeath(action: () => void): void {
    this.#onDeath.push(action);
  }

  /** `kill -9`, or the end after an orderly stop. */
  die(how: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#deferred = undefined;
    this.#options.trace.note(this.name, () => `dies: ${how}`);
    for (const action of this.#onDeath) action();
  }

  /** Dies at the effect after so many more, wherever in its code that is. */
  dieAfterEffects(count: number): void {
    this.#effectsLeft = Math.min(this.#effectsLeft, count);
  }

  /** It is not to die of its next effects after all. */
  spare(): void {
    this.#effectsLeft = Number.POSITIVE_INFINITY;
  }

  /** Something that the world could see: false when the process is dead or dies of it. */
  effect(what: string): boolean {
    if (this.#isAlive && this.#effectsLeft-- <= 0) this.die(`killed at ${what}`);
    return this.#isAlive;
  }

  /** SIGSTOP, and SIGCONT after `ms`. */
  stall(ms: number): void {
    if (!this.#isAlive || this.isStalled) return;
    this.#options.trace.note(this.name, () => `stands still for ${ms} ms`);
    this.#deferred = [];
    this.#options.onPause();
    this.#options.scheduler.after(ms, () => this.#goOn());
  }

  /** Runs `action` as an event of this process, if it lives then. Returns the function that takes it back. */
  after(delayMs: number, action: () => void): () => void {
    return this.#schedule(delayMs, action, false);
  }

  /**
   * A request that takes `ms` and then does something to the world. The answer comes with it or a little later; a
   * process that died before the effect had none, one that dies in between never learns of it.
   */
  request<T>(what: string, ms: number, effect: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.effect(what)) return;
      this.after(ms, () => {
        let answer: () => void;
        try {
          const result = effect();
          answer = () => resolve(result);
        } catch (error) {
          answer = () => reject(error);
        }
        if (!this.effect(`the answer of ${what}`)) return;
        if (ms > 0 && this.random.chance(0.2)) this.after(this.random.between(0, ms), answer);
        else answer();
      });
    });
  }

  #makeClock(): Clock {
    const { scheduler, skewMs } = this.#options;
    return {
      now: () => Math.floor(EPOCH + scheduler.now + skewMs()),
      monotonic: () => this.#monotonicBase + scheduler.now - this.#bornAt,
      setTimer: (delayMs, callback): TimerHandle => ({ cancel: this.#schedule(delayMs, callback, true) }),
      nextTurn: (callback) => {
        this.#schedule(0, callback, false);
      },
    };
  }

  #schedule(delayMs: number, action: () => void, isTimer: boolean): () => void {
    if (!this.#isAlive) return () => undefined;
    let isCancelled = false;
    const run = (): void => {
      if (!isCancelled && this.#isAlive) action();
    };
    const cancel = this.#options.scheduler.after(delayMs, () => {
      if (this.#deferred === undefined) run();
      else this.#deferred.push({ isTimer, run });
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Stopped while it waited for input, it gets that first; stopped while it worked, its timers come first. */
  #goOn(): void {
    const deferred = this.#deferred ?? [];
    this.#deferred = undefined;
    if (!this.#isAlive) return;
    this.#options.onPause();
    this.#options.trace.note(this.name, () => `goes on, ${deferred.length} events behind`);
    const timersFirst = this.random.chance(0.5);
    const inOrder = deferred.toSorted((a, b) =>
      timersFirst ? Number(b.isTimer) - Number(a.isTimer) : Number(a.isTimer) - Number(b.isTimer),
    );
    for (const { run } of inOrder) this.#options.scheduler.after(0, run);
  }
}
