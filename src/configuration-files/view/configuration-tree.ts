/** The configuration files of a master and their records, as the two sides of a view (`src/views/directory-view.ts`). */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../files/replace-file.js';
import { syncPath } from '../../files/sync-path.js';
import { isMissing } from '../../files/system-error.js';
import { Conflict } from '../../loop/reconciler.js';
import { type ConfigurationRecord, isBroughtBy } from '../../model/configuration.js';
import type { MirrorReader } from '../../store/mirror.js';
import type { Store } from '../../store/store.js';
import type { Observation, ViewTree } from '../../views/directory-view.js';
import type { ChangeThere, RemovalThere } from '../../views/plan.js';
import type { RecordDoor } from '../../views/record-door.js';
import { RecordSide } from '../../views/record-side.js';
import { ownersOf } from '../faults/owners.js';
import { inTransactions } from '../record-transactions.js';
import type { DirectorySource } from '../source.js';
import { textOfRecord } from './file-text.js';
import type { RecordEdit } from './record-edits.js';

export interface ConfigurationTreeOptions {
  readonly source: DirectorySource;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly store: Store;
  readonly door: RecordDoor<RecordEdit>;
}

export class ConfigurationTree implements ViewTree {
  readonly #options: ConfigurationTreeOptions;
  readonly #there: RecordSide<ConfigurationRecord, RecordEdit>;
  /** What a client wrote, by name and hash: with fields that records do not keep. */
  readonly #texts = new Map<string, string>();

  constructor(options: ConfigurationTreeOptions) {
    this.#options = options;
    const { configurations: records, store, door } = options;
    this.#there = new RecordSide<ConfigurationRecord, RecordEdit>({
      records,
      hashOf: ({ hash }) => hash,
      store,
      door,
      inTransactions,
    });
  }

  /** While `work` runs, the file of a configuration gets this text, if its record has this content. */
  async withText<T>(
    { name, hash, text }: { readonly name: string; readonly hash: string; readonly text: string },
    work: () => Promise<T>,
  ): Promise<T> {
    const key = textKey(name, hash);
    this.#texts.set(key, text);
    try {
      return await work();
    } finally {
      this.#texts.delete(key);
    }
  }

  /** By name, the file that says it. */
  owners(): ReadonlyMap<string, string> {
    const { source, configurations } = this.#options;
    return ownersOf({ files: source.files ?? new Map(), records: new Map(configurations.entries()) });
  }

  observe(): Observation | undefined {
    const { source, configurations } = this.#options;
    const { files, suspects, fault, directoryId: directory } = source;
    if (files === undefined || fault !== undefined || directory === undefined || !configurations.isReady)
      return undefined;
    const here = new Map<string, string>();
    // Another version may be able to read them.
    const undecided = new Set(configurations.setAside.keys());
    const unsure = new Set(suspects);
    for (const [name, file] of this.owners()) {
      const reading = files.get(file);
      if (reading?.kind === 'valid') here.set(name, reading.parsed.hash);
      if (reading?.kind !== 'valid' || unsure.has(file)) undecided.add(name);
    }
    return {
      here,
      there: this.#there.hashes(),
      undecided,
      standing: { directory, revision: configurations.revision },
      brought: (name) => {
        const record = configurations.get(name)?.value;
        return record !== undefined && isBroughtBy(record, source.nodeId);
      },
      isConfirmed: (name) => source.isConfirmed(name),
    };
  }

  async writeHere(name: string, hash: string, present: string | undefined): Promise<void> {
    const { source } = this.#options;
    const { value } = this.#there.recordWith(name, hash);
    const text = this.#texts.get(textKey(name, hash)) ?? textOfRecord(value.configuration, hash);
    const file = present === undefined ? await this.#freeFile(value) : await this.#fileWith(name, present);
    await replaceFile(join(source.directory, file), text, { keepMode: true, throughLink: true });
    await source.readFile(file);
  }

  async removeHere(name: string, present: string): Promise<void> {
    const { source } = this.#options;
    const file = await this.#fileWith(name, present);
    await unlink(join(source.directory, file)).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    await source.readFile(file);
    await syncPath(source.directory);
  }

  async writeThere(changes: readonly ChangeThere[]): Promise<void> {
    const { source } = this.#options;
    const owners = this.owners();
    const edits = changes.map(({ name, hash, expected }): RecordEdit => {
      const file = owners.get(name);
      const reading = file === undefined ? undefined : source.files?.get(file);
      if (file === undefined || reading?.kind !== 'valid' || reading.parsed.hash !== hash)
        throw new Conflict(`${name} has another content here now`);
      return {
        do: 'put',
        name,
        source: source.origins.ofFile(file),
        parsed: reading.parsed,
        expectedRevision: this.#there.revisionOf(name, expected),
      };
    });
    await this.#there.write(edits);
  }

  async removeThere(removals: readonly RemovalThere[]): Promise<void> {
    await this.#there.remove(removals);
  }

  /** The file that still says this content. */
  async #fileWith(name: string, hash: string): Promise<string> {
    const { source } = this.#options;
    const file = this.owners().get(name);
    const reading = file === undefined ? undefined : await source.readFile(file);
    const isIt = reading?.kind === 'valid' && reading.parsed.configuration.name === name;
    if (file === undefined || !isIt || reading.parsed.hash !== hash)
      throw new Conflict(`${name} has another content here now`);
    return file;
  }

  /** The name that the file has where it came from, unless something else has it here. */
  async #freeFile({ sourceFile, configuration: { name } }: ConfigurationRecord): Promise<string> {
    const { source } = this.#options;
    // Files that were there at the last look, and may be gone for a moment only.
    const unusable = new Set(source.suspects.filter((file) => source.files?.has(file)));
    for (let number = 0; ; number++) {
      const file = [sourceFile, `${name}.json`][number] ?? `${name}-${number}.json`;
      if (unusable.has(file)) continue;
      const reading = await source.readFile(file);
      if (reading === undefined) return file;
      // Somebody has put it here since the directory was read, or is about to: half a file says nothing yet.
      const isIt =
        reading.kind === 'valid' ? reading.parsed.configuration.name === name : file === sourceFile;
      if (isIt) throw new Conflict(`${name} has another content here now`);
    }
  }
}

function textKey(name: string, hash: string): string {
  return `${name} ${hash}`;
}
