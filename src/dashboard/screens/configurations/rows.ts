/**
 * The rows of the list: configurations in force, broken files that were never in force, and deleted configurations
 * that still have instances. Pure.
 */
import { type ConfigurationHealth, isOfConfiguration } from '../../../explain/concerns.js';
import type { Health } from '../../../explain/health.js';
import { byHealth } from '../../../explain/health-states.js';
import type { ConfigurationFileError } from '../../../model/configuration.js';
import type { ConfigurationDirectory } from '../../../operations/configuration-file-list.js';
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
  readonly health: Health;
  readonly error: ConfigurationFileError | null;
  readonly entry: Entry | null;
  /** How many instances do their work. */
  readonly online: number;
  readonly instances: number;
  /** What is the matter, or how the file stands in git; empty: neither. */
  readonly note: string;
}

interface RowFacts {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly health: Iterable<ConfigurationHealth>;
  readonly errors: readonly ConfigurationFileError[];
  readonly directory: ConfigurationDirectory | null;
}

/** All rows, the worst health first, then by name. */
export function rowsOf({ entries, health, errors, directory }: RowFacts): ConfigurationRow[] {
  const rows: ConfigurationRow[] = [];
  for (const { name, online, instances, health: one } of health) {
    const entry = entries.get(name) ?? null;
    const error = errors.find((fault) => isAbout(fault, name, entry)) ?? null;
    const inGit = directory?.files.find((file) => file.name === name)?.text;
    const note = error === null ? (one.detail ?? inGit ?? '') : faultOf(error);
    const state = stateOf(entry, one);
    rows.push({ name, state, health: one, error, entry, online, instances, note });
  }
  return rows.sort((a, b) => byHealth(a.health.state, b.health.state) || (a.name < b.name ? -1 : 1));
}

function isAbout({ file, name }: ConfigurationFileError, wanted: string, entry: Entry | null): boolean {
  if (!isOfConfiguration(file)) return false;
  return file === entry?.file || (name ?? file.replace(/\.json$/, '')) === wanted;
}

function stateOf(entry: Entry | null, { state }: Health): FileState {
  if (state === 'broken-file') return entry === null ? 'never' : 'kept';
  return state === 'removed' ? 'gone' : 'inForce';
}

/** A fault with its line, such as `line 3: availablePorts.min must be a number`. */
export function faultOf({ line, message }: ConfigurationFileError): string {
  return line === null ? message : text.atLine(line, message);
}
