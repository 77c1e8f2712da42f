/**
 * What a directory and the state last agreed on, by name, in a file under `data/views/`. It holds for one directory and
 * one state alone: of another directory, such as a new checkout, and of a state that went back, nothing is known.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../files/replace-file.js';
import type { Logger } from '../telemetry/logger.js';
import type { Base } from './plan.js';

const fileSchema = z.object({
  format: z.literal(1),
  /** Which directory it was. */
  directory: z.string(),
  /** Of the state, when a base was noted last. */
  revision: z.int().min(0),
  bases: z.record(z.string(), z.object({ hash: z.string(), next: z.string().optional() })),
});

export interface BasesOptions {
  /** Absolute path of the file. */
  readonly path: string;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Which directory, and how far the state is. */
export interface Standing {
  readonly directory: string;
  readonly revision: number;
}

export interface Note {
  readonly name: string;
  /** Undefined: there is nothing on either side. */
  readonly base: Base | undefined;
}

export class Bases {
  readonly #options: BasesOptions;
  #standing: Standing | undefined;
  #bases = new Map<string, Base>();

  constructor(options: BasesOptions) {
    this.#options = options;
  }

  /** Reads the file. One that is missing or damaged means that nothing is known: then nothing is overwritten. */
  async open(): Promise<void> {
    const { path, logger } = this.#options;
    try {
      const { bases, ...standing } = fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
      this.#bases = new Map(Object.entries(bases));
      this.#standing = standing;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      logger.warn({ err: error }, `${path} cannot be read: what differs from the state counts as a conflict`);
    }
  }

  /** The bases that hold for this directory and this state. */
  of({ directory, revision }: Standing): ReadonlyMap<string, Base> {
    const known = this.#standing;
    const holds = known !== undefined && known.directory === directory && known.revision <= revision;
    return holds ? this.#bases : NONE;
  }

  /** Resolves when they are on disk. */
  async note(standing: Standing, notes: readonly Note[]): Promise<void> {
    const bases = new Map(this.of(standing));
    for (const { name, base } of notes) {
      if (base === undefined) bases.delete(name);
      else bases.set(name, base);
    }
    this.#bases = bases;
    this.#standing = standing;
    const { path } = this.#options;
    await mkdir(dirname(path), { mode: 0o700, recursive: true });
    await replaceFile(path, JSON.stringify({ format: 1, ...standing, bases: Object.fromEntries(bases) }));
  }
}

const NONE: ReadonlyMap<string, Base> = new Map();
