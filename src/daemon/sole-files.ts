/**
 * Builds the configuration files of the only master: the records follow the files, and no other part writes these
 * records.
 */
import { join } from 'node:path';
import type { OnFileFault } from '../../controllers/master/configurations/faults.js';
import { ConfigurationFollower } from '../../controllers/master/configurations/follower.js';
import { Bases } from '../../controllers/master/directories/bases.js';
import { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import { transactionOf } from '../configuration-files/record-edits.js';
import { DirectorySource } from '../configuration-files/source.js';
import type { ConfigurationWrites } from '../model/plain/configuration-writes.js';
import type { MasterState } from '../state/master-state.js';
import type { Store } from '../store/store.js';
import type { Ambient } from '../telemetry/ambient.js';
import type { Metrics } from '../telemetry/metrics.js';

interface SoleFilesOptions extends Ambient {
  readonly nodeId: string;
  /** Absolute paths of `configurations/` and `data/`. */
  readonly paths: { readonly configurations: string; readonly data: string };
  /** Where changes through the API go; default: as git decides. */
  readonly writes?: ConfigurationWrites | undefined;
  readonly state: Pick<MasterState, 'configurations' | 'histories' | 'overrides' | 'rollouts' | 'timetables'>;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly random: () => number;
  readonly onFault?: OnFileFault;
}

export function buildSoleFiles(options: SoleFilesOptions): ConfigurationFiles {
  const { nodeId, paths, writes, state, store, clock, logger } = options;
  const { configurations, histories, overrides, rollouts, timetables } = state;
  const source = new DirectorySource({ nodeId, directory: paths.configurations, writes, logger, clock });
  const edited = { store, clock, configurations, histories, overrides, rollouts, timetables, logger };
  const follower = new ConfigurationFollower({
    ...options,
    source,
    configurations,
    overrides,
    timetables,
    door: { write: async (edits) => store.transact(await transactionOf(edits, nodeId, edited)) },
    bases: new Bases({ path: join(paths.data, 'views', 'configurations.json'), store, logger }),
  });
  return new ConfigurationFiles({ source, follower, configurations, overrides, timetables, logger, clock });
}
