/** What the loop tells of itself: a closed union, turned into metrics and log lines by telemetry. */
import type { Outcome } from './reconciler.js';

export type TraceEvent =
  | {
      readonly kind: 'round';
      readonly controller: string;
      readonly key: string;
      readonly outcome: Outcome;
      readonly durationMs: number;
      /** The delay after which a failed or conflicting key is tried again. */
      readonly retryInMs?: number;
      readonly error?: unknown;
    }
  | { readonly kind: 'step'; readonly controller: string; readonly key: string; readonly step: unknown };

export type Trace = (event: TraceEvent) => void;

/** Depth and age of a queue at this moment, read when metrics are scraped. */
export interface QueueGauge {
  /** Keys that are due and wait for a free place. */
  readonly depth: number;
  /** How long the oldest of them has been due, in milliseconds. */
  readonly longestWaitMs: number;
}
