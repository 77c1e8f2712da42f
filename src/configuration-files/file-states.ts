/**
 * Finds the state of each configuration file: whether its content is in force, and if not, why. Pure; the list of
 * files, the metrics and `config list` all use it.
 */
import { z } from 'zod';
import {
  type ConfigurationFileError,
  type ConfigurationRecord,
  configurationFileErrorSchema,
} from '../model/configuration.js';
import type { ConfigurationOverrides } from '../model/configuration-overrides.js';
import type { MirrorReader } from '../store/mirror.js';
import { faultAbove, type Reading } from './directory.js';

export const fileStateSchema = z
  .enum(['in-force', 'pending', 'broken', 'shadowed', 'held-back', 'conflict'])
  .describe(
    'in-force: instances are made from what it says; pending: not yet, or it is gone and what it said is still in force; broken: it cannot be read, what it said before is in force; shadowed: another file has its name; held-back: a rollout of what it says failed; conflict: it was changed here and elsewhere',
  );
type FileState = z.output<typeof fileStateSchema>;

const errorSchema = configurationFileErrorSchema.pick({
  line: true,
  column: true,
  field: true,
  message: true,
});

export const statedFileSchema = z.object({
  file: z.string(),
  node: z.string().describe('id of the node whose file it is'),
  name: z.string().nullable().describe('of its configuration; null: it gives none that can be read'),
  state: fileStateSchema,
  error: errorSchema.nullable().describe('why it is not in force as it stands, and what would be right'),
  revision: z.string().nullable().describe('of what is in force from this file; null: nothing is'),
  removalWaits: z
    .boolean()
    .describe('it is gone with most others; what it said goes with `config reload --confirm`'),
});
export type StatedFile = Readonly<z.output<typeof statedFileSchema>>;

interface FileStateFacts {
  /** The node whose files these are. */
  readonly nodeId: string;
  readonly files: ReadonlyMap<string, Reading>;
  readonly records: Iterable<[name: string, { readonly value: ConfigurationRecord }]>;
  readonly overrides: Pick<MirrorReader<ConfigurationOverrides>, 'get'>;
  /** True when other masters bring configurations from clones of their own. */
  readonly isClone: boolean;
  readonly faults: readonly ConfigurationFileError[];
  /** Configurations whose removal waits to be confirmed. */
  readonly waiting: ReadonlySet<string>;
  /** Why the content of each configuration is held back, by name. */
  readonly heldBack: ReadonlyMap<string, string>;
  /** How each configuration is frozen, by name. */
  readonly frozen: ReadonlyMap<string, string>;
  /** How to mend each file that was changed both here and elsewhere, by file name. */
  readonly conflicts: ReadonlyMap<string, string>;
}

/** The fault of a file. Its position is null unless the fault lies in the file's own text. */
type Why = z.output<typeof errorSchema> | null;

/**
 * All files, in the order of their names. The list includes files of other nodes, and missing files whose
 * content is in force.
 */
export function statedFiles(facts: FileStateFacts): StatedFile[] {
  const sources = new Map<string, ConfigurationRecord>();
  /** The records whose file is not here, by name: it is on another node, has another name now, or is gone. */
  const absent = new Map<string, ConfigurationRecord>();
  const found: StatedFile[] = [];
  for (const [name, { value }] of facts.records) {
    const isHere = value.sourceNode === facts.nodeId && facts.files.has(value.sourceFile);
    if (isHere) sources.set(value.sourceFile, value);
    else absent.set(name, value);
  }
  for (const [file, reading] of facts.files) {
    const said = reading.kind === 'valid' ? reading.parsed.configuration.name : reading.error.name;
    // This file may say what another file brought: that of another master, or one that was renamed.
    const record = sources.get(file) ?? absent.get(said ?? '');
    absent.delete(said ?? '');
    found.push({
      file,
      node: facts.nodeId,
      name: said ?? record?.configuration.name ?? null,
      revision: record?.hash ?? null,
      removalWaits: false,
      ...judged(facts, file, { reading, record }),
    });
  }
  for (const record of absent.values())
    found.push(withoutReading(facts, record, record.sourceNode === facts.nodeId));
  return found.sort((a, b) => (a.file < b.file ? -1 : 1));
}

interface ReadFile {
  readonly reading: Reading;
  /** The record that came from this file; else the record of the same name, if its own file is not here. */
  readonly record: ConfigurationRecord | undefined;
}

function judged(
  { faults, conflicts, heldBack, frozen, overrides, isClone }: FileStateFacts,
  file: string,
  { reading, record }: ReadFile,
): { readonly state: FileState; readonly error: Why } {
  const conflict = conflicts.get(file);
  if (conflict !== undefined) return { state: 'conflict', error: why(conflict) };
  if (reading.kind === 'broken') return { state: 'broken', error: placeOf(reading.error) };
  // A valid file has at most one fault of its own: another file owns its name.
  const taken = faults.find((fault) => fault.file === file && fault.field === 'name' && fault.line === null);
  if (taken !== undefined) return { state: 'shadowed', error: placeOf(taken) };
  const { name } = reading.parsed.configuration;
  const override = overrides.get(name)?.value;
  if (override?.is === 'absent' && override.file.hash === reading.parsed.hash)
    return { state: 'pending', error: why(`a caller removed it; it returns by "config reset ${name}"`) };
  // With overrides, the file is in force as far as they let it.
  const content = override?.is === 'fields' ? override.file.hash : record?.hash;
  const isInForce = content === reading.parsed.hash && record?.configuration.name === name;
  if (record === undefined || !isInForce) {
    const refusal = faults.find((fault) => !fault.file.endsWith('.json') || fault.file === '*.json');
    if (refusal !== undefined) return { state: 'pending', error: placeOf(refusal) };
    const behind = isClone ? 'is behind: a later commit is in force, pull it here' : undefined;
    const reason = frozen.get(name) ?? behind;
    return { state: 'pending', error: reason === undefined ? null : why(reason) };
  }
  const reason = heldBack.get(record.configuration.name);
  return reason === undefined
    ? { state: 'in-force', error: null }
    : { state: 'held-back', error: why(reason) };
}

/** The entry of a file that was not read: it is on another node, or gone. */
function withoutReading(
  { files, heldBack, frozen, overrides, waiting }: FileStateFacts,
  record: ConfigurationRecord,
  isFromHere: boolean,
): StatedFile {
  const { name } = record.configuration;
  // A configuration that a caller made needs no file.
  const isHere = isFromHere && overrides.get(name)?.value.is !== 'made';
  const reason = heldBack.get(name);
  const removalWaits = isHere && waiting.has(name);
  const gone = removalWaits
    ? 'is gone, as most others are; what it said goes with `config reload --confirm`'
    : `is gone; what it said is in force${frozen.has(name) ? `, ${frozen.get(name)}` : ' until Drover has seen that'}`;
  const state = isHere ? 'pending' : reason === undefined ? 'in-force' : 'held-back';
  const fault = faultAbove(files, record.sourceFile);
  const lost = fault?.kind === 'broken' ? `${fault.error.message}; what it said stays in force` : gone;
  const message = isHere ? lost : reason;
  return {
    file: record.sourceFile,
    node: record.sourceNode,
    name,
    state,
    error: message === undefined ? null : why(message),
    revision: record.hash,
    removalWaits,
  };
}

function why(message: string): Why {
  return { line: null, column: null, field: null, message };
}

function placeOf({ line, column, field, message }: ConfigurationFileError): Why {
  return { line, column, field, message };
}
