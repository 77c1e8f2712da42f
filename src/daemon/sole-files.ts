/**
 * Builds the configuration files of the only master: the records follow the files, and no other part writes these
 * records.
 */
import { join } from 'node:path';
import { ConfigurationFollower } from '../../controllers/master/configurations/follower.js';
import { Bases } from '../../controllers/master/directories/bases.js';
import { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import { transactionOf } from '../configuration-files/record-edits.js';
import { DirectorySource } from '../configuration-files/source.js';
import type { Clock } from '../loop/clock.js';
import type { MasterState } from '../state/master-state.js';
import type { Store } from '../store/store.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

interface SoleFilesOptions {
  readonly nodeId: string;
  /** Absolute paths of `configurations/` and `data/`. */
  readonly paths: { readonly configurations: string; readonly data: string };
  readonly state: Pick<MasterState, 'configurations' | 'histories' | 'rollouts'>;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export function buildSoleFiles(options: SoleFilesOptions): ConfigurationFiles {
  const { nodeId, paths, state, store, clock, logger } = options;
  const { configurations, histories, rollouts } = state;
  const source = new DirectorySource({ nodeId, directory: paths.configurations, logger, clock });
  const edited = { store, clock, configurations, histories, rollouts };
  const follower = new ConfigurationFollower({
    ...options,
    source,
    configurations,
    door: { write: async (edits) => store.transact(await transactionOf(edits, nodeId, edited)) },
    bases: new Bases({ path: join(paths.data, 'views', 'configurations.json'), store, logger }),
  });
  return new ConfigurationFiles({ source, follower, configurations, logger, clock });
}
