/**
 * Remembers usage and players of each instance over the last half hour, for charts. In memory only: each instance has a
 * ring of samples, which stays while its node is away, and goes with the instance.
 */

import type { TimerHandle } from '../loop/clock.js';
import type { Reads } from './reads.js';

export const SAMPLE_EVERY_MS = 15_000;
const MOST_SAMPLES = 120;
/** The figures of a sample: CPU, memory and players. */
const FIGURES = 3;

/** A value of each figure for each instant, the oldest first; null: the value is not known. */
interface UsageSeries {
  /** The instants, in Unix milliseconds by the master's clock. */
  readonly at: readonly number[];
  /** The CPU in percent; 100 is one core. */
  readonly cpuPercent: readonly (number | null)[];
  readonly memoryBytes: readonly (number | null)[];
  readonly players: readonly (number | null)[];
}

interface Ring {
  /** The tick of the first sample. Ticks are counted since the start. */
  readonly firstTick: number;
  /**
   * The figures of each tick at `tick % MOST_SAMPLES`; NaN: not known. A ring takes 1.4 KB, so 10,000 instances take 15
   * MB.
   */
  readonly figures: Float32Array;
}

export class UsageHistory {
  readonly #needs: Reads;
  readonly #rings = new Map<string, Ring>();
  /** The time of each tick, at `tick % MOST_SAMPLES`. */
  readonly #times = new Float64Array(MOST_SAMPLES);
  #ticks = 0;
  #timer: TimerHandle | undefined;

  constructor(needs: Reads) {
    this.#needs = needs;
  }

  start(): void {
    this.#timer = this.#needs.clock.setTimer(SAMPLE_EVERY_MS, () => {
      this.#sample();
      this.start();
    });
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel();
  }

  /** The remembered figures of an instance; the series are empty when it is new or unknown. */
  of(id: string): UsageSeries {
    const ring = this.#rings.get(id);
    const first = Math.max(ring?.firstTick ?? this.#ticks, this.#ticks - MOST_SAMPLES);
    const slots = Array.from({ length: this.#ticks - first }, (_, index) => (first + index) % MOST_SAMPLES);
    const figure = (which: number): (number | null)[] =>
      slots.map((slot) => {
        const value = ring?.figures[slot * FIGURES + which];
        return value === undefined || Number.isNaN(value) ? null : value;
      });
    return {
      at: slots.map((slot) => this.#times[slot] ?? 0),
      cpuPercent: figure(0),
      memoryBytes: figure(1),
      players: figure(2),
    };
  }

  #sample(): void {
    const { instances, usageOf, clock } = this.#needs;
    const slot = this.#ticks % MOST_SAMPLES;
    this.#times[slot] = clock.now();
    for (const id of this.#rings.keys()) if (instances.get(id) === undefined) this.#rings.delete(id);
    for (const [id, { value }] of instances.entries()) {
      const used = usageOf(id);
      const { players } = value.status;
      const known = this.#rings.get(id);
      if (known === undefined && used === undefined && players === null) continue;
      const { figures } = known ?? this.#begin(id);
      figures.set(
        [used?.cpuPercent ?? Number.NaN, used?.memoryBytes ?? Number.NaN, players ?? Number.NaN],
        slot * FIGURES,
      );
    }
    this.#ticks++;
  }

  #begin(id: string): Ring {
    const ring = {
      firstTick: this.#ticks,
      figures: new Float32Array(MOST_SAMPLES * FIGURES).fill(Number.NaN),
    };
    this.#rings.set(id, ring);
    return ring;
  }
}
