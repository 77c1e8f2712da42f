/**
 * The values that every part of a node is built from, and the opening of its two stores. start-daemon.ts makes the
 * assembly.
 */
import { join } from 'node:path';
import type { ExtensionRegistry } from '../extensions/registry.js';
import type { RunningParts } from '../loop/lifecycle.js';
import type { SystemClock } from '../loop/system-clock.js';
import type { DroverError } from '../model/errors.js';
import type { NodeConfiguration } from '../model/node.js';
import type { OlderMaster } from '../node/desired-copy.js';
import type { RootPaths } from '../node/root.js';
import { openStore } from '../store/lmdb/open.js';
import type { Store } from '../store/store.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

/** The values that every part of a node gets. */
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
  /**
   * Ends the node soon, as SIGTERM does, but prints this line at the terminal and exits with code 1. Instances go on
   * running.
   */
  readonly fail: (reason: string) => void;
  /** Aborts when the node must end, so that a waiting start gives up. */
  readonly ending: AbortSignal;
  /**
   * Ends the process at once, as `kill -9` does: another daemon has taken the stores of this root, and now controls its
   * instances.
   */
  readonly fenced: (error: DroverError) => void;
  readonly older: OlderMaster;
}

/** Opens one of the node's two stores. The store is closed when the node stops. */
export async function openNodeStore(
  { paths, shared, running, fenced }: Assembly,
  name: 'master' | 'node',
): Promise<Store> {
  const store = await openStore({
    directory: join(paths.store, name),
    fence: { clock: shared.clock, onFenced: fenced },
    onWrite: (seconds) => shared.metrics.observeStoreWrite(seconds),
    logger: shared.logger,
  });
  running.onStop(() => store.close());
  return store;
}
