/**
 * What the store must be told so that it holds what the files say. Pure: the whole behaviour of configuration files,
 * who owns a name included, is here.
 */
import type { ConfigurationFileError } from '../model/configuration.js';
import type { Reading } from './directory.js';
import type { ParsedConfiguration } from './parse.js';

/** What the store holds under `configurations/<name>`; null fields: the record cannot be read. */
export interface HeldConfiguration {
  readonly sourceFile: string | null;
  readonly hash: string | null;
  readonly revision: number;
}

export interface PlanFacts {
  readonly files: ReadonlyMap<string, Reading>;
  /** Files that may just be in the middle of a change. */
  isSuspect(file: string): boolean;
  readonly held: ReadonlyMap<string, HeldConfiguration>;
}

export type Step =
  | {
      readonly do: 'put';
      readonly name: string;
      readonly file: string;
      readonly parsed: ParsedConfiguration;
      /** 0: there is none. */
      readonly expectedRevision: number;
      /** False when only the file's name changed. */
      readonly isNewContent: boolean;
    }
  | {
      readonly do: 'remove';
      readonly name: string;
      readonly file: string | null;
      readonly expectedRevision: number;
    };

export interface ConfigurationPlan {
  readonly steps: readonly Step[];
  readonly errors: readonly ConfigurationFileError[];
}

/**
 * A name belongs to the file that the store has it from, as long as that file is there and does not say another
 * name; else to the first file that claims it. A broken file keeps what the store has from it.
 */
export function planConfigurations(facts: PlanFacts): ConfigurationPlan {
  const owners = ownersOf(facts);
  const errors: ConfigurationFileError[] = [];
  for (const [file, reading] of facts.files) {
    if (reading.kind === 'broken') errors.push(reading.error);
    else {
      const owner = owners.get(reading.parsed.configuration.name);
      if (owner !== undefined && owner !== file && !facts.isSuspect(owner))
        errors.push(nameTaken(file, reading.parsed.configuration.name, owner));
    }
  }
  return { steps: [...puts(facts, owners), ...removals(facts, owners)], errors };
}

function ownersOf({ files, held }: PlanFacts): Map<string, string> {
  const owners = new Map<string, string>();
  for (const [name, { sourceFile }] of held) {
    const reading = sourceFile === null ? undefined : files.get(sourceFile);
    if (sourceFile !== null && reading !== undefined && (reading.kind === 'broken' || says(reading, name)))
      owners.set(name, sourceFile);
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

function* puts({ files, held }: PlanFacts, owners: ReadonlyMap<string, string>): Generator<Step> {
  for (const [name, file] of owners) {
    const reading = files.get(file);
    if (reading?.kind !== 'valid') continue;
    const { parsed } = reading;
    const present = held.get(name);
    const isNewContent = present?.hash !== parsed.hash;
    if (!isNewContent && present.sourceFile === file) continue;
    yield { do: 'put', name, file, parsed, expectedRevision: present?.revision ?? 0, isNewContent };
  }
}

function* removals({ held }: PlanFacts, owners: ReadonlyMap<string, string>): Generator<Step> {
  for (const [name, { sourceFile, revision }] of held) {
    if (!owners.has(name)) yield { do: 'remove', name, file: sourceFile, expectedRevision: revision };
  }
}

function nameTaken(file: string, name: string, owner: string): ConfigurationFileError {
  const message = `name: "${name}" is already taken by ${owner}; give one of the two another name or delete it`;
  return { file, name, line: null, column: null, field: 'name', message };
}
