/** Read-modify-write of one mirrored record with compare-and-set: how every single-record change is written. */
import { DroverError } from '../model/errors.js';
import type { MirrorReader } from './mirror.js';
import { type Store, update } from './store.js';

/** Far more than ever needed: each try loses only to a write that succeeded. */
const MAX_TRIES = 1000;

export interface RecordSet<T> {
  readonly store: Store;
  readonly mirror: MirrorReader<T>;
  readonly keyOf: (id: string) => string;
}

/**
 * Applies `change` to the current record and resolves with the new one once it is durable and in the mirror.
 * `change` may run several times (after a lost race it gets the newer record); undefined from it, or no record:
 * nothing is written and undefined is returned. Throws what the store throws, except conflicts.
 */
export async function modify<T>(
  set: RecordSet<T>,
  id: string,
  change: (current: T) => T | undefined,
): Promise<T | undefined> {
  for (let tries = 1; ; tries++) {
    const current = set.mirror.get(id);
    if (current === undefined) return undefined;
    const next = change(current.value);
    if (next === undefined) return undefined;
    try {
      await set.mirror.until(await update(set.store, set.keyOf(id), next, current.revision));
      return next;
    } catch (error) {
      if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= MAX_TRIES) throw error;
      await untilShown(set.store, set.mirror);
    }
  }
}

/**
 * Resolves when the mirror shows every transaction called before: whoever won against us is among them, perhaps still
 * on its way to a slow disk. Throws what the store throws.
 */
export async function untilShown(store: Store, mirror: Pick<MirrorReader<unknown>, 'until'>): Promise<void> {
  await mirror.until(await store.barrier());
}
