/**
 * The rows of the list: configurations in force, broken files that were never in force, and deleted configurations
 * that still have instances. Pure.
 */
import type { ConfigurationFileError } from '../../../model/configuration.js';
import type { InstanceInfo } from '../../../model/instance.js';
import type { ConfigurationDirectory } from '../../../operations/configuration-file-list.js';
import type { RemovedConfiguration } from '../../../operations/configuration-list.js';
import type { Topics } from '../../../watch-client/topics.js';
import { text } from './text.js';

type Entry = Topics['configurations'];

/**
 * `kept`: the file is broken, and its former content is in force. `never`: the file is broken and was never in force.
 * `gone`: only instances are left.
 */
export type FileState = 'inForce' | 'kept' | 'never' | 'gone';

export interface ConfigurationRow {
  readonly name: string;
  readonly state: FileState;
  readonly error: ConfigurationFileError | null;
  readonly entry: Entry | null;
  /** How many instances are ONLINE. */
  readonly online: number;
  readonly instances: number;
  /** The file of a configuration that a caller deleted beside it; absent: there is none. */
  readonly file?: string;
  /** The next step for the operator; empty: none. */
  readonly note: string;
}

interface RowFacts {
  readonly entries: Iterable<Entry>;
  readonly counts: ReadonlyMap<string, Counts>;
  readonly errors: ConfigurationFileError[];
  readonly removed: RemovedConfiguration[];
  readonly directory: ConfigurationDirectory | null;
}

interface Counts {
  readonly online: number;
  readonly all: number;
}

/** All rows by name. Rows that need attention come first. */
export function rowsOf({ entries, counts, errors, removed, directory }: RowFacts): ConfigurationRow[] {
  // A fault of the whole directory belongs to no configuration: the overview shows it.
  const left = new Set(errors.filter(({ file }) => file.endsWith('.json') && !file.endsWith('*.json')));
  const row = (name: string, rest: Pick<ConfigurationRow, 'state' | 'error' | 'entry'>): ConfigurationRow => {
    const { online, all } = counts.get(name) ?? { online: 0, all: 0 };
    const inGit = directory?.files.find((file) => file.name === name)?.text;
    const note = noteOf(rest, { online, all }) || (inGit ?? '');
    return { name, ...rest, online, instances: all, note };
  };
  const inForce = [...entries].map((entry) => {
    const error = errors.find(({ file, name }) => file === entry.file && (name ?? entry.name) === entry.name);
    if (error !== undefined) left.delete(error);
    return row(entry.name, {
      state: error === undefined ? 'inForce' : 'kept',
      error: error ?? null,
      entry,
    });
  });
  const never = [...left].map((error) =>
    row(error.name ?? error.file.replace(/^.*\/|\.json$/g, ''), { state: 'never', error, entry: null }),
  );
  const known = new Set([...inForce, ...never].map(({ name }) => name));
  const gone = removed
    .filter(({ name }) => !known.has(name))
    .map(({ name, file }) => {
      const gone = row(name, { state: 'gone', error: null, entry: null });
      return file === undefined ? gone : { ...gone, file, note: text.removedNote(file) };
    });
  return [...inForce, ...never, ...gone].sort(
    (a, b) => RANK[a.state] - RANK[b.state] || (a.name < b.name ? -1 : 1),
  );
}

const RANK: Readonly<Record<FileState, number>> = { never: 0, kept: 0, gone: 1, inForce: 2 };

/** The counts of instances by configuration. */
export function countInstances(instances: Iterable<InstanceInfo>): Map<string, Counts> {
  const counts = new Map<string, { online: number; all: number }>();
  for (const { configurationName, state } of instances) {
    const one = counts.get(configurationName) ?? { online: 0, all: 0 };
    one.all++;
    if (state === 'ONLINE') one.online++;
    counts.set(configurationName, one);
  }
  return counts;
}

/** A fault with its line, such as `line 3: availablePorts.min must be a number`. */
export function faultOf({ line, message }: ConfigurationFileError): string {
  return line === null ? message : text.atLine(line, message);
}

function noteOf(
  { state, error, entry }: Pick<ConfigurationRow, 'state' | 'error' | 'entry'>,
  { online, all }: Counts,
): string {
  if (error !== null) return faultOf(error);
  if (state === 'gone') return text.goneNote(all);
  const minimum = entry?.configuration.minimumServiceCount ?? 0;
  return online < minimum ? text.missing(minimum - online) : '';
}
