/**
 * Remembers in the state which commit the newest clone of any master was at. A clone that lacks it is behind: what it has
 * and the state lacks, a later commit may have removed.
 */
import { z } from 'zod';
import { DroverError } from '../model/errors.js';
import { type CloneRecord, cloneRecordSchema } from '../model/git-standing.js';
import { cloneKey } from '../store/keys.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Operation } from '../store/store.js';
import type { RecordDoor } from '../views/view.js';

/** The newest commit of one kind of directory. */
export interface NewestCommit {
  /** Undefined: no clone has said one yet. */
  get(): string | undefined;
  /** Throws DRV_STORE_CONFLICT when another clone said one meanwhile, and what the store throws. */
  set(commit: string): Promise<void>;
}

const editsSchema = z
  .array(
    z.object({
      name: z.enum(['configurations', 'templates']),
      commit: cloneRecordSchema.shape.commit,
      expectedRevision: z.int().min(0),
    }),
  )
  .length(1);
export type CloneEdit = z.output<typeof editsSchema>[number];

export function newestCommitOf(
  name: CloneEdit['name'],
  records: Pick<MirrorReader<CloneRecord>, 'get' | 'setAside' | 'until'>,
  door: RecordDoor<CloneEdit>,
): NewestCommit {
  return {
    get: () => records.get(name)?.value.commit,
    set: async (commit) => {
      const { revision: expectedRevision = 0 } = records.get(name) ?? records.setAside.get(name) ?? {};
      await records.until(await door.write([{ name, commit, expectedRevision }]));
    },
  };
}

/** Reads the edits that another master sent. Throws DRV_REQUEST_INVALID. */
export function decodeCloneEdits(question: unknown): CloneEdit[] {
  const { data, error } = editsSchema.safeParse(question);
  if (data === undefined) throw new DroverError('DRV_REQUEST_INVALID', `no commit: ${error.message}`);
  return data;
}

export function cloneOperations(edits: readonly CloneEdit[]): Operation[] {
  return edits.map(({ name, commit, expectedRevision }): Operation => {
    const [key, value] = [cloneKey(name), { commit }];
    return expectedRevision === 0
      ? { do: 'create', key, value }
      : { do: 'update', key, value, expectedRevision };
  });
}
