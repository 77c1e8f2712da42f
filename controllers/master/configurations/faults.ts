/**
 * The faults of configuration files: broken files, names taken twice, a directory or a store that cannot be used.
 * Pure.
 */
import { faultOf, type Reading } from '../../../src/configuration-files/directory.js';
import type { ConfigurationFileError } from '../../../src/model/configuration.js';
import type { Logger } from '../../../src/telemetry/logger.js';

interface FaultFacts {
  readonly files: ReadonlyMap<string, Reading>;
  /** Files that looked broken or gone once: a write may be under way. */
  readonly suspects: ReadonlySet<string>;
  /** Why the directory cannot be used; undefined: it can. */
  readonly directoryFault: ConfigurationFileError | undefined;
  /** The file that owns each name. */
  readonly owners: ReadonlyMap<string, string>;
  /** Configurations whose removal the operator has yet to confirm. */
  readonly waiting: readonly string[];
  /** Why the store refused the last write; undefined: it accepted the write, or nothing is left to write. */
  readonly refusal: string | undefined;
  /** The faults of the last report, one for each file. */
  readonly told: readonly ConfigurationFileError[];
}

/** Lists all present faults. While a write of a file may be under way, it keeps the faults of the last report. */
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

/** Leaves the names out: a key that may see only one configuration reads this text, too. */
function waitingText(waiting: readonly string[]): string {
  return `${waiting.length} configurations have no file any more, more than half of all: they stay in force until their files are back, or until \`config reload --confirm\` removes them`;
}

function nameTaken(file: string, name: string, owner: string): ConfigurationFileError {
  const message = `name: "${name}" is already taken by ${owner}; give one of the two another name or delete it`;
  return { ...faultOf(file, message), name, field: 'name' };
}

/** Called for a file that has a new fault, and when its fault is gone; `text` says which. */
export type OnFileFault = (text: string, configuration: string | undefined) => void;

export class FaultReport {
  readonly #logger: Logger;
  readonly #onFault: OnFileFault;
  #told: readonly ConfigurationFileError[] = [];

  constructor(logger: Logger, onFault: OnFileFault = () => undefined) {
    this.#logger = logger;
    this.#onFault = onFault;
  }

  /** The faults of the last call of `tell`. */
  get told(): readonly ConfigurationFileError[] {
    return this.#told;
  }

  /** Takes all present faults, one for each file, and logs the differences. */
  tell(faults: readonly ConfigurationFileError[]): void {
    const before = new Map(this.#told.map((fault) => [fault.file, fault]));
    this.#told = faults;
    for (const { file, line, column, field, message, name } of faults) {
      if (before.get(file)?.message === message) continue;
      const place = line === null ? file : `${file}:${line}:${column}`;
      const text = `configuration error in ${place}: ${message}`;
      this.#logger.error({ file, line, column, field }, text);
      this.#onFault(text, name);
    }
    const present = new Set(faults.map(({ file }) => file));
    for (const { file, name } of before.values()) {
      if (present.has(file)) continue;
      const text = `configuration error in ${file} is gone`;
      this.#logger.info({ file }, text);
      this.#onFault(text, name);
    }
  }
}
