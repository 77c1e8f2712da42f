/**
 * The faults of configuration files: broken files, names taken twice, a directory or a store that cannot be used.
 * Pure.
 */

import type { Reading } from '../../../src/configuration-files/directory.js';
import type { ConfigurationFileError } from '../../../src/model/configuration.js';

interface FaultFacts {
  readonly files: ReadonlyMap<string, Reading>;
  /** Files that looked broken or gone once: a write may be under way. */
  readonly suspects: ReadonlySet<string>;
  /** Why the directory cannot be used; undefined: it can. */
  readonly directoryFault: ConfigurationFileError | undefined;
  /** By name, the file that owns it. */
  readonly owners: ReadonlyMap<string, string>;
  /** Configurations whose removal waits for the operator's word. */
  readonly waiting: readonly string[];
  /** Why the store refused the last write; undefined: it accepted it, or nothing is left to write. */
  readonly refusal: string | undefined;
  /** The faults of the last report, one for each file. */
  readonly told: readonly ConfigurationFileError[];
}

/** All present faults. While a file is a suspect, the faults of the last report stay. */
export function faultsOf(facts: FaultFacts): ConfigurationFileError[] {
  const faults = new Map<string, ConfigurationFileError>();
  if (facts.suspects.size > 0) for (const fault of facts.told) faults.set(fault.file, fault);
  for (const fault of faultsNow(facts)) faults.set(fault.file, fault);
  return [...faults.values()];
}

function* faultsNow(facts: FaultFacts): Generator<ConfigurationFileError> {
  const { files, owners, suspects, directoryFault, waiting, refusal } = facts;
  for (const [file, reading] of files) {
    if (reading.kind === 'broken') {
      yield reading.error;
      continue;
    }
    const { name } = reading.parsed.configuration;
    const owner = owners.get(name);
    if (owner !== undefined && owner !== file && !suspects.has(owner)) yield nameTaken(file, name, owner);
  }
  if (directoryFault !== undefined) yield directoryFault;
  if (waiting.length > 0) yield faultOf('*.json', waitingText(waiting));
  if (refusal !== undefined) yield faultOf('*.json', `not stored yet, trying again: ${refusal}`);
}

/** Names none of them: a key that may see one configuration reads this, too. */
function waitingText(waiting: readonly string[]): string {
  return `${waiting.length} configurations have no file any more, more than half of all: they stay in force until their files are back, or until \`config reload --confirm\` removes them`;
}

function nameTaken(file: string, name: string, owner: string): ConfigurationFileError {
  const message = `name: "${name}" is already taken by ${owner}; give one of the two another name or delete it`;
  return { ...faultOf(file, message), name, field: 'name' };
}

function faultOf(file: string, message: string): ConfigurationFileError {
  return { file, line: null, column: null, field: null, message };
}
