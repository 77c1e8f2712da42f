/**
 * Remembers what a directory and the state last agreed on, by name, in a file under `data/views/`. The file is valid
 * for one directory and one state; for a new checkout or a restored state it is ignored.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../../src/files/replace-file.js';
import { isMissing } from '../../../src/files/system-error.js';
import { EPOCH_BASE, lastInCommon, lineOf, type StoreLine } from '../../../src/store/epoch-base.js';
import type { Store } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Standing } from '../../../src/views/view.js';
import type { Base, Note } from './plan.js';

const fileSchema = z.object({
  format: z.literal(1),
  /** The directory that the bases belong to. */
  directory: z.string(),
  /** The state's revision when a base was last noted, and the line of that revision (`StoreLine`). */
  revision: z.int().min(0),
  line: z.int().min(0).default(0),
  bases: z.record(z.string(), z.object({ hash: z.string(), next: z.string().optional() })),
  waiting: z.array(z.string()).default([]),
});

interface BasesOptions {
  /** Absolute path of the file. */
  readonly path: string;
  /** Where the state is kept. */
  readonly store: Pick<Store, 'get'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export class Bases {
  readonly #options: BasesOptions;
  #standing: (Standing & { readonly line: number }) | undefined;
  /** The present history line of the store (`StoreLine`); a restore begins a new one. */
  #line: StoreLine = lineOf(undefined);
  #bases = new Map<string, Base>();
  #waiting: ReadonlySet<string> = NOTHING;

  constructor(options: BasesOptions) {
    this.#options = options;
  }

  /** Reads the file. When the file is missing or damaged, no base is known, and so nothing is overwritten. */
  async open(): Promise<void> {
    const { path, store, logger } = this.#options;
    this.#line = lineOf((await store.get(EPOCH_BASE))?.value);
    try {
      const { bases, waiting, ...standing } = fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
      this.#bases = new Map(Object.entries(bases));
      this.#waiting = new Set(waiting);
      this.#standing = standing;
    } catch (error) {
      if (isMissing(error)) return;
      logger.warn({ err: error }, `${path} cannot be read: what differs from the state counts as a conflict`);
    }
  }

  /** The bases, if the file is about this directory and this state; else none. */
  of(standing: Standing): ReadonlyMap<string, Base> {
    return this.#holdFor(standing) ? this.#bases : NONE;
  }

  /** The names that vanished together with most others, and whose removal waits to be confirmed. */
  waiting(standing: Standing): ReadonlySet<string> {
    return this.#holdFor(standing) ? this.#waiting : NOTHING;
  }

  /**
   * Notes bases; resolves when they are on disk. `waiting`: the names whose removal now waits to be confirmed; default:
   * no change.
   */
  async note(
    standing: Standing,
    notes: readonly Note[],
    waiting: ReadonlySet<string> = this.waiting(standing),
  ): Promise<void> {
    const bases = new Map(this.of(standing));
    for (const { name, base } of notes) {
      if (base === undefined) bases.delete(name);
      else bases.set(name, base);
    }
    this.#bases = bases;
    this.#waiting = waiting;
    this.#standing = { ...standing, line: this.#line.base };
    const { path } = this.#options;
    await mkdir(dirname(path), { mode: 0o700, recursive: true });
    const kept = { bases: Object.fromEntries(bases), waiting: [...waiting] };
    await replaceFile(path, JSON.stringify({ format: 1, ...this.#standing, ...kept }));
  }

  #holdFor({ directory, revision }: Standing): boolean {
    const known = this.#standing;
    if (known === undefined || known.directory !== directory) return false;
    // After a restore, the known revision may stand for other changes, so compare only the history that both lines
    // share.
    return known.revision <= Math.min(revision, lastInCommon(this.#line, known.line));
  }
}

const NONE: ReadonlyMap<string, Base> = new Map();
const NOTHING: ReadonlySet<string> = new Set();
