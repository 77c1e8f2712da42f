/**
 * The working directories of static instances that this node no longer holds. The supervisor notes configuration, port
 * and time when it forgets an instance, because the directory belongs to the program and holds no such note.
 */
import { z } from 'zod';
import { shared } from '../loop/remembered.js';
import { DroverError } from '../model/errors.js';
import { type KeptDirectory, keptDirectorySchema } from '../model/run/left-directory.js';
import type { WriteBehind } from './write-behind.js';

const LEFT = 'left/';

const noteSchema = keptDirectorySchema
  .pick({ configurationName: true, port: true, ports: true })
  .extend({ configurationName: z.string(), leftAt: z.number(), preparedFor: z.string().nullish() });
type LeftNote = z.output<typeof noteSchema>;

/** The working directories of this node. */
interface Directories {
  /** Ids of the instances that have a working directory. */
  directories(): Promise<readonly string[]>;
  /** The bytes of the files in each directory; directories that cannot be counted are left out. */
  directorySizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

export class LeftDirectories {
  readonly #disk: WriteBehind;
  readonly #directories: Directories;
  readonly #isHeldNow: (id: string) => boolean | undefined;
  #notes = new Map<string, LeftNote>();
  /** The listing under way: callers that ask at the same time share one walk over the disk. */
  readonly #listing = shared(() => this.#measured());

  /**
   * `isHeld`: true when this node still holds the instance; undefined: the master has not said yet what this node
   * should hold.
   */
  constructor(disk: WriteBehind, directories: Directories, isHeld: (id: string) => boolean | undefined) {
    this.#disk = disk;
    this.#directories = directories;
    this.#isHeldNow = isHeld;
  }

  /** Reads the notes of an earlier daemon. Call once, before the supervisor starts. */
  async load(): Promise<void> {
    const { readable } = await this.#disk.load(LEFT, noteSchema);
    this.#notes = new Map(readable);
  }

  /** Notes that a static instance is forgotten and its directory stays. */
  note(id: string, note: LeftNote): void {
    this.#notes.set(id, note);
    this.#disk.put(LEFT + id, note);
  }

  /** Removes, and returns, the note of a directory that is in use again or was deleted. */
  end(id: string): LeftNote | undefined {
    const note = this.#notes.get(id);
    if (this.#notes.delete(id)) this.#disk.put(LEFT + id, undefined);
    return note;
  }

  /**
   * The directories that no instance uses, the latest left first. With `id`: only that instance's directory, without
   * its size. Throws DRV_NOT_READY before the master has named this node's instances.
   */
  async list(id?: string): Promise<readonly KeptDirectory[]> {
    if (id !== undefined) return (await this.#left()).filter((directory) => directory.id === id);
    return this.#listing();
  }

  async #measured(): Promise<readonly KeptDirectory[]> {
    const left = await this.#left();
    const sizes = await this.#directories.directorySizes(left.map(({ id }) => id));
    return left.map((directory) => ({ ...directory, sizeBytes: sizes.get(directory.id) ?? null }));
  }

  async #left(): Promise<readonly KeptDirectory[]> {
    const noted = [...this.#notes.keys()];
    const present = await this.#directories.directories();
    const isPresent = new Set(present);
    // Forget the notes of directories that an operator removed by hand.
    for (const id of noted) if (!isPresent.has(id)) this.end(id);
    return present
      .filter((id) => !this.#isHeld(id))
      .map((id) => {
        const { configurationName = null, leftAt = null, port = null, ports } = this.#notes.get(id) ?? {};
        return { id, configurationName, leftAt, port, ...(ports && { ports }), sizeBytes: null };
      })
      .toSorted((a, b) => (b.leftAt ?? 0) - (a.leftAt ?? 0) || (a.id < b.id ? -1 : 1));
  }

  #isHeld(id: string): boolean {
    const isHeld = this.#isHeldNow(id);
    if (isHeld !== undefined) return isHeld;
    throw new DroverError('DRV_NOT_READY', 'the node does not know yet which instances it should hold');
  }
}
