/** The way between a master and etcd: what is cut, how slow etcd is, and which answers get lost. */
import type { Direction } from '../network/path.js';
import type { Random } from '../random.js';
import type { Scheduler } from '../scheduler.js';
import type { SimulatedEtcd } from './etcd.js';

const LATENCY_MS = 2;
/** What a broken connection had under way is sent again so long after the way is whole. */
const RESEND_MS = 2000;

export class EtcdPath {
  /** The faults that cut each direction now. `up`: to etcd. */
  readonly #cuts: Record<Direction, number> = { up: 0, down: 0 };
  /** Answers that get lost, of 1. */
  lostAnswers = 0;
  /** Now and then a message takes much longer than the others. */
  isUneven = true;
  /** The most that etcd takes longer than usual for a call. */
  slowMs = 0;
  readonly #etcd: SimulatedEtcd;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #onChange = new Set<() => void>();
  readonly #onBreak = new Set<() => void>();
  #waiting: (() => void)[] = [];
  /** A call had no answer: the next one needs a new connection, and that needs both directions. */
  #isRetired = false;

  constructor(etcd: SimulatedEtcd, scheduler: Scheduler, random: Random) {
    this.#etcd = etcd;
    this.#scheduler = scheduler;
    this.#random = random;
    etcd.onUp(() => this.#changed());
  }

  /** Both sides can hear each other. */
  get isWhole(): boolean {
    return this.#cuts.up === 0 && this.#cuts.down === 0 && this.#etcd.isUp;
  }

  /** Calls `listener` when messages may pass that did not before. Returns how to end that. */
  onChange(listener: () => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  /** Calls `listener` when the connection breaks and both sides notice. */
  onBreak(listener: () => void): () => void {
    this.#onBreak.add(listener);
    return () => this.#onBreak.delete(listener);
  }

  cut(directions: readonly Direction[]): void {
    for (const direction of directions) this.#cuts[direction]++;
  }

  /** The end of one such fault. */
  uncut(directions: readonly Direction[]): void {
    for (const direction of directions) this.#cuts[direction] = Math.max(0, this.#cuts[direction] - 1);
    this.#changed();
  }

  /** All faults end. */
  heal(): void {
    this.#cuts.up = 0;
    this.#cuts.down = 0;
    this.isUneven = false;
    this.lostAnswers = 0;
    this.slowMs = 0;
    this.#changed();
  }

  retire(): void {
    this.#isRetired = true;
  }

  #changed(): void {
    for (const listener of [...this.#onChange]) listener();
    if (this.#cuts.up > 0) return;
    for (const action of this.#waiting.splice(0))
      this.#scheduler.after(this.#random.between(0, RESEND_MS), action);
  }

  breakOff(): void {
    for (const listener of [...this.#onBreak]) listener();
  }

  /** Brings a call to etcd: now, when the way is whole again, or never. */
  carry(action: () => void): void {
    const isNew = this.#isRetired;
    const arrive = (): void => {
      if (isNew && this.#cuts.down > 0) return;
      if (this.#cuts.up === 0) action();
      else if (!isNew && this.#random.chance(0.5)) this.#waiting.push(arrive);
    };
    const slowMs = this.slowMs > 0 ? this.#random.between(0, this.slowMs) : 0;
    this.#scheduler.after(this.latencyMs() + slowMs, arrive);
  }

  latencyMs(): number {
    const latencyMs = this.#random.between(LATENCY_MS / 4, LATENCY_MS);
    return this.isUneven && this.#random.chance(0.003)
      ? latencyMs + this.#random.between(100, 2500)
      : latencyMs;
  }

  /** Whether an answer that is sent now arrives. */
  isAnswered(): boolean {
    if (this.#cuts.down > 0 || (this.lostAnswers > 0 && this.#random.chance(this.lostAnswers))) return false;
    this.#isRetired = false;
    return true;
  }
}
