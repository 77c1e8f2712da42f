/**
 * The rows of the list: configurations in force, broken files that were never in force, and deleted configurations
 * that still have instances. Pure.
 */
import type { ConfigurationHealth } from '../../../explain/concerns.js';
import { byHealth } from '../../../explain/health-states.js';
import type { ConfigurationDirectory } from '../../../operations/configuration-file-list.js';
import type { Topics } from '../../../watch-client/topics.js';

type Entry = Topics['configurations'];

export interface ConfigurationRow extends ConfigurationHealth {
  /** Null: nothing is in force under the name. */
  readonly entry: Entry | null;
  /** The trouble, or the standing of the file in git; empty: neither. */
  readonly note: string;
}

interface RowFacts {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly health: Iterable<ConfigurationHealth>;
  readonly directory: ConfigurationDirectory | null;
}

/** All rows, the worst health first, then by name. */
export function rowsOf({ entries, health, directory }: RowFacts): ConfigurationRow[] {
  const inGit = new Map(directory?.files.map(({ name, text }) => [name, text]));
  return [...health]
    .map((one) => ({
      ...one,
      entry: entries.get(one.name) ?? null,
      note: one.health.detail ?? one.frozen ?? inGit.get(one.name) ?? '',
    }))
    .sort((a, b) => byHealth(a.health.state, b.health.state) || (a.name < b.name ? -1 : 1));
}
