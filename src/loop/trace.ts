/** The events of the loop as a closed union. Telemetry turns them into metrics and log lines. */
import type { Outcome } from './reconciler.js';

export type TraceEvent =
  | {
      readonly kind: 'round';
      readonly controller: string;
      readonly key: string;
      readonly outcome: Outcome;
      readonly durationMs: number;
      /** The delay until a failed or conflicting key is tried again. */
      readonly retryInMs?: number;
      readonly error?: unknown;
    }
  | { readonly kind: 'step'; readonly controller: string; readonly key: string; readonly step: unknown };

export type Trace = (event: TraceEvent) => void;

/** The present depth and age of a queue, read at each scrape of the metrics. */
export interface QueueGauge {
  /** How many due keys wait for a free place. */
  readonly depth: number;
  /** How long the oldest due key has waited, in milliseconds. */
  readonly longestWaitMs: number;
}
