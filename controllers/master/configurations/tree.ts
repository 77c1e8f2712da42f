/** The configuration files of a master and their records, as the two sides of a view (`src/views/view.ts`). */

import { faultAbove, type Reading, says } from '../../../src/configuration-files/directory.js';
import type { NewContent } from '../../../src/configuration-files/file-text.js';
import {
  contentOfRecord,
  type LocalFiles,
  type SaidHere,
} from '../../../src/configuration-files/local-files.js';
import { inTransactions, type RecordEdit } from '../../../src/configuration-files/record-edits.js';
import type { ConfigurationSource } from '../../../src/configuration-files/source.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import type { ConfigurationRecord } from '../../../src/model/configuration.js';
import { type ConfigurationOverrides, fileOf } from '../../../src/model/configuration-overrides.js';
import type { Timetable } from '../../../src/model/schedule.js';
import { leftOfConfiguration } from '../../../src/state/left-of-record.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { Store } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { RecordSide } from '../../../src/views/record-side.js';
import type {
  ChangeThere,
  Observation,
  RecordDoor,
  RemovalThere,
  SideOrder,
  ViewTree,
} from '../../../src/views/view.js';

export interface ConfigurationTreeOptions {
  readonly source: ConfigurationSource;
  /** Absent: this is the only master, so the records follow its files and never the reverse. */
  readonly localFiles?: LocalFiles;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly overrides: Pick<
    MirrorReader<ConfigurationOverrides>,
    'entries' | 'get' | 'isReady' | 'setAside' | 'until'
  >;
  readonly timetables: Pick<MirrorReader<Timetable>, 'entries' | 'isReady' | 'onChange'>;
  readonly store: Store;
  readonly door: RecordDoor<RecordEdit>;
  readonly logger: Logger;
}

export class ConfigurationTree implements ViewTree {
  /** The door of the options; it resolves when the overrides show the edits, too. */
  readonly door: RecordDoor<RecordEdit>;
  readonly #options: ConfigurationTreeOptions;
  readonly #there: RecordSide<ConfigurationRecord, RecordEdit>;
  /** The contents that clients wrote, by name and hash: they have fields that records do not keep. */
  readonly #written = new Map<string, NewContent>();
  #owners: ReadonlyMap<string, string> = new Map();

  constructor(options: ConfigurationTreeOptions) {
    this.#options = options;
    const { configurations: records, overrides, store } = options;
    const door: RecordDoor<RecordEdit> = {
      write: async (edits) => {
        const revision = await options.door.write(edits);
        await overrides.until(revision);
        return revision;
      },
    };
    this.door = door;
    this.#there = new RecordSide<ConfigurationRecord, RecordEdit>({
      records,
      hashOf: ({ hash, sourceFile, sourceNode }) => this.#mark(hash, sourceFile, sourceNode),
      besides: {
        names: () => (this.isInput ? [...overrides.entries()].map(([name]) => name) : []),
        hashOf: (name) => this.#fileUnder(name),
      },
      // With several masters, a file does not replace a record that this version cannot read: another version
      // may be able to read it.
      ...(this.isAlone && { hashOfAside: ({ revision }) => `unreadable ${revision}` }),
      store,
      door,
      inTransactions,
    });
  }

  get isAlone(): boolean {
    return this.#options.localFiles === undefined;
  }

  /** True when Drover never writes the directory, so that records and files differ by overrides. */
  get isInput(): boolean {
    return this.#options.source.writes !== 'file';
  }

  /** The file that owned each name at the last observation. */
  get owners(): ReadonlyMap<string, string> {
    return this.#owners;
  }

  /** While `work` runs, the file of each configuration gets the content that was written, if its record has it. */
  async withContents(contents: readonly NewContent[], work: () => Promise<void>): Promise<void> {
    for (const one of contents) this.#written.set(keyOf(one), one);
    try {
      await work();
    } finally {
      for (const one of contents) this.#written.delete(keyOf(one));
    }
  }

  observe(): Observation | undefined {
    const { source, configurations, overrides, timetables } = this.#options;
    const { files, suspects, fault, directoryId, nodeId } = source;
    if (files === undefined || fault !== undefined || directoryId === undefined) return undefined;
    if (!configurations.isReady || !overrides.isReady || !timetables.isReady) return undefined;
    this.#owners = ownersOf(files, configurations);
    const here = new Map<string, string>();
    const undecided = new Set([
      ...(this.isAlone ? [] : configurations.setAside.keys()),
      ...overrides.setAside.keys(),
    ]);
    // The file of a frozen configuration waits with its content, and so does its removal.
    for (const [name, { value }] of timetables.entries()) if (value.frozen !== undefined) undecided.add(name);
    const unsure = new Set(suspects);
    for (const [name, file] of this.#owners) {
      const reading = files.get(file);
      if (reading?.kind === 'valid') here.set(name, this.#mark(reading.parsed.hash, file, nodeId));
      if (reading?.kind !== 'valid' || unsure.has(file) || source.origins.isDoubted(file))
        undecided.add(name);
    }
    // With one master, a new directory at the same path counts as the same directory, so that waiting
    // removals keep waiting.
    const directory = this.isAlone ? nodeId : directoryId;
    return {
      here,
      there: this.#there,
      undecided,
      standing: { directory, revision: configurations.revision },
      brought: (name) => this.#isBrought(name),
      ...(this.isInput && { order: (name: string) => this.#orderOf(name, here.get(name)) }),
    };
  }

  async writeHere(name: string, hash: string, present: string | undefined): Promise<void> {
    const { value } = this.#there.recordWith(name, hash);
    const content = this.#written.get(contentKey(name, hash)) ?? contentOfRecord(value.configuration, hash);
    const said = present === undefined ? undefined : this.#saidHere(name, present);
    await this.#options.localFiles?.write(value, content, said);
  }

  async removeHere(name: string, present: string): Promise<void> {
    await this.#options.localFiles?.remove(this.#saidHere(name, present));
  }

  async writeThere(changes: readonly ChangeThere[]): Promise<void> {
    const edits = changes.map((change) => this.#editOf(change));
    const sentences = edits.map((edit) => this.#sentenceOf(edit));
    await this.#there.write(edits);
    for (const [index, { name, source }] of edits.entries()) {
      this.#options.source.origins.note(source.origin.file, source.changedBy);
      this.#options.logger.info({ configuration: name }, sentences[index]);
    }
  }

  async removeThere(removals: readonly RemovalThere[]): Promise<void> {
    await this.#there.remove(removals);
    for (const { name } of removals)
      this.#options.logger.info(
        { configuration: name },
        `configuration ${name} removed: no file says it any more`,
      );
  }

  /**
   * The hash by which files and records are compared. With one master, it covers the file's name and the node, so that
   * the record follows a moved file. With several masters, it covers the content alone: each master has its own file.
   */
  #mark(hash: string, file: string, node: string): string {
    return this.isAlone ? `${hash} ${file} ${node}` : hash;
  }

  /** The content of the file under overrides; null: no file; undefined: the record has the content of the file. */
  #fileUnder(name: string): string | null | undefined {
    const overrides = this.#options.overrides.get(name)?.value;
    if (overrides === undefined || !this.isInput) return undefined;
    if (overrides.is === 'made') return null;
    const { hash, sourceFile, sourceNode } = overrides.file;
    return this.#mark(hash, sourceFile, sourceNode);
  }

  #orderOf(name: string, here: string | undefined): SideOrder {
    const { origins } = this.#options.source;
    const inForce = this.#fileInForce(name);
    const file = this.#owners.get(name) ?? inForce?.sourceFile;
    if (file === undefined) return 'unknown';
    return origins.orderOf(file, here, inForce);
  }

  #fileInForce(name: string): ConfigurationRecord | undefined {
    const { configurations, overrides } = this.#options;
    return fileOf({ record: configurations.get(name)?.value, overrides: overrides.get(name)?.value });
  }

  #isBrought(name: string): boolean {
    const { source, configurations } = this.#options;
    const overrides = this.#options.overrides.get(name)?.value;
    if (overrides?.is === 'made') return false;
    const record = this.#fileInForce(name);
    // A clone that had the file says by its removal that the file is gone, whichever master brought it.
    if (record !== undefined && !this.isAlone && this.isInput) return true;
    if (record !== undefined) return record.sourceNode === source.nodeId;
    const left = leftOfConfiguration(configurations.setAside.get(name)?.value);
    return left?.sourceNode === source.nodeId && source.files?.has(left.sourceFile) !== true;
  }

  #saidHere(name: string, hash: string): SaidHere {
    return { name, file: this.#owners.get(name), hash };
  }

  /**
   * The edit that writes the file's content to the record. Throws `Conflict` when the file or the record has
   * changed meanwhile.
   */
  #editOf({ name, hash, expected }: ChangeThere): RecordEdit & { readonly do: 'put' } {
    const { source } = this.#options;
    const { origins, nodeId } = source;
    const file = this.#owners.get(name);
    const reading = file === undefined ? undefined : source.files?.get(file);
    const isIt = reading?.kind === 'valid' && file !== undefined;
    if (!isIt || this.#mark(reading.parsed.hash, file, nodeId) !== hash)
      throw new Conflict(`${name} has another content here now`);
    return {
      do: 'put',
      name,
      // With several masters the API writes the record first, so a changed file has no known writer.
      source: this.isAlone && !this.isInput ? origins.of(name, file) : origins.ofFile(file),
      parsed: reading.parsed,
      part: this.isInput ? 'file' : undefined,
      expectedRevision: this.#there.revisionOf(name, expected),
    };
  }

  #sentenceOf({ name, source, parsed, expectedRevision }: RecordEdit & { readonly do: 'put' }): string {
    const { file } = source.origin;
    if (this.#options.configurations.get(name)?.value.hash === parsed.hash)
      return `configuration ${name} changed: same content, now from ${file} of node ${this.#options.source.nodeId}`;
    return `configuration ${name} ${expectedRevision === 0 ? 'added' : 'changed'}: from ${file}`;
  }
}

function keyOf({ configuration: { name }, hash }: NewContent): string {
  return contentKey(name, hash);
}

function contentKey(name: string, hash: string): string {
  return `${name} ${hash}`;
}

/**
 * Finds the file that owns each name. A name stays with the file of its record while that file exists and
 * gives no other name; so a broken file keeps its name. Otherwise the first file, by file name, that gives
 * the name owns it.
 */
function ownersOf(
  files: ReadonlyMap<string, Reading>,
  records: Pick<MirrorReader<ConfigurationRecord>, 'entries'>,
): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const [name, { value }] of records.entries()) {
    // Ignore the record's node: after a change of the node's id, the files are still the same.
    const reading = files.get(value.sourceFile) ?? faultAbove(files, value.sourceFile);
    if (reading?.kind === 'broken' || says(reading, name)) owners.set(name, value.sourceFile);
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
