/** What the parts of a node are put together from, and the stores that both halves open. Made by start-daemon.ts. */
import { join } from 'node:path';
import type { ExtensionRegistry } from '../extensions/registry.js';
import type { RunningParts } from '../loop/lifecycle.js';
import type { SystemClock } from '../loop/system-clock.js';
import type { NodeConfiguration } from '../model/node.js';
import type { RootPaths } from '../node/root.js';
import { openStore } from '../store/lmdb/open.js';
import type { Store } from '../store/store.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

/** What every part of a node gets. */
export interface Shared {
  readonly clock: SystemClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface Assembly {
  readonly paths: RootPaths;
  readonly configuration: NodeConfiguration;
  readonly version: string;
  readonly shared: Shared;
  readonly extensions: ExtensionRegistry;
  readonly running: RunningParts;
  readonly stop: () => void;
}

/** One of the node's two stores, closed when the node stops. */
export async function openNodeStore(
  { paths, shared, running }: Assembly,
  name: 'master' | 'node',
): Promise<Store> {
  const store = await openStore({
    directory: join(paths.store, name),
    onWrite: (seconds) => shared.metrics.observeStoreWrite(seconds),
    logger: shared.logger,
  });
  running.onStop(() => store.close());
  return store;
}
