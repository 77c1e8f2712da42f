import type { Metrics } from '../../src/telemetry/metrics.js';

/** What `/metrics` answers to a caller with an API key. */
export async function metricsText(metrics: Metrics): Promise<string> {
  return Buffer.concat(await metrics.exposition()).toString();
}
