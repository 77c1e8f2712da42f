/**
 * The usage of an instance over the last half hour: the samples that the master keeps, then those of the change stream.
 * Pure.
 */
import type { InstanceUsageSeries } from '../../../../api/routes/history-routes.js';

/** A value for each instant, in columns, as the charts take them. */
export interface UsageSeries {
  /** Unix seconds, rising. */
  readonly at: readonly number[];
  /** 100 = one core. */
  readonly cpu: readonly (number | null)[];
  readonly memory: readonly (number | null)[];
  readonly players: readonly (number | null)[];
}

export type Measure = 'cpu' | 'memory' | 'players';

interface UsageSample {
  /** Unix milliseconds. */
  readonly at: number;
  readonly cpu: number | null;
  readonly memory: number | null;
  readonly players: number | null;
}

export const EMPTY_SERIES: UsageSeries = { at: [], cpu: [], memory: [], players: [] };

const SPAN_S = 30 * 60;

export function seriesOf({ at, cpuPercent, memoryBytes, players }: InstanceUsageSeries): UsageSeries {
  return { at: at.map((ms) => ms / 1000), cpu: cpuPercent, memory: memoryBytes, players };
}

/**
 * Adds a sample, and drops samples older than half an hour. A sample that is not newer than the last one is left out.
 */
export function withSample(series: UsageSeries, sample: UsageSample): UsageSeries {
  const at = sample.at / 1000;
  if (at <= (series.at.at(-1) ?? 0)) return series;
  const oldest = series.at.findIndex((second) => second >= at - SPAN_S);
  const kept = <T>(values: readonly T[], next: T): readonly T[] =>
    oldest < 0 ? [next] : [...values.slice(oldest), next];
  return {
    at: kept(series.at, at),
    cpu: kept(series.cpu, sample.cpu),
    memory: kept(series.memory, sample.memory),
    players: kept(series.players, sample.players),
  };
}

/** True when at least one value is known. An app that reports no players gets no chart of players. */
export function isKnown(values: readonly (number | null)[]): boolean {
  return values.some((value) => value !== null);
}

/**
 * How far the clock of this computer is ahead of the master's, in ms; the caller shifts new samples by it. Returns 0
 * when the difference may be only the age of the last sample.
 */
export function clockLead(lastAt: number | undefined, everyMs: number, now: number): number {
  if (lastAt === undefined) return 0;
  const lead = now - lastAt;
  return lead < 0 || lead > 4 * everyMs ? lead : 0;
}
