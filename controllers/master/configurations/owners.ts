/** Decides which file a configuration's name belongs to. Pure; all files of a source are judged together. */

import type { Reading } from '../../../src/configuration-files/directory.js';
import type { ConfigurationRecord } from '../../../src/model/configuration.js';
import type { MirrorReader } from '../../../src/store/mirror.js';

interface OwnerFacts {
  readonly files: ReadonlyMap<string, Reading>;
  /** The present records, by name. */
  readonly records: Pick<MirrorReader<ConfigurationRecord>, 'entries'>;
}

/**
 * Returns, by name, the file that owns it. A name stays with the file that its record came from while that file
 * exists and says no other name: a broken file keeps its name. Otherwise the first file, in order of file names,
 * that says the name owns it.
 */
export function ownersOf({ files, records }: OwnerFacts): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const [name, { value }] of records.entries()) {
    // The record's node does not matter: after a change of the node's id the files are the same ones.
    const reading = files.get(value.sourceFile);
    if (reading !== undefined && (reading.kind === 'broken' || says(reading, name)))
      owners.set(name, value.sourceFile);
  }
  const claims = new Map<string, string>();
  for (const [file, reading] of files) {
    if (reading.kind === 'broken') continue;
    const { name } = reading.parsed.configuration;
    if (!owners.has(name) && file < (claims.get(name) ?? `${file}~`)) claims.set(name, file);
  }
  for (const [name, file] of claims) owners.set(name, file);
  return owners;
}

function says(reading: Reading, name: string): boolean {
  return reading.kind === 'valid' && reading.parsed.configuration.name === name;
}
