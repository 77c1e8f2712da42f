import type { Metrics } from '../../src/telemetry/metrics.js';

/** The sources of a master that knows nothing yet. */
export const NO_FIGURES: Parameters<Metrics['addSources']>[0] = {
  instances: () => [],
  minimums: () => [],
  actualOf: () => 0,
  health: () => [],
  rollouts: () => [],
  timetables: () => [],
  configurationFileErrors: () => 0,
  unreadableRecords: () => new Map(),
  usages: () => [],
};

/** The answer of `/metrics` to a caller with an API key. */
export async function metricsText(metrics: Metrics): Promise<string> {
  return Buffer.concat(await metrics.exposition()).toString();
}
