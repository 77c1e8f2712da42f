/** Changes one mirrored record: read, modify, compare-and-set. Every change of a single record is written this way. */
import type { KeyedTurns } from '../loop/keyed-turns.js';
import { DroverError } from '../model/errors.js';
import type { MirrorReader } from './mirror.js';
import { create, type Store, update } from './store.js';

/**
 * The limit of tries, far more than ever needed. A try fails only when a transaction of several records has
 * changed the record meanwhile.
 */
const MAX_TRIES = 1000;

/** The records of one kind, and what is needed to change them. All writers of these records share one set. */
export interface RecordSet<T> {
  readonly store: Store;
  readonly mirror: MirrorReader<T>;
  readonly keyOf: (id: string) => string;
  /** The writers of one record take turns; otherwise each of them would lose to all the others. */
  readonly turns: KeyedTurns;
}

/**
 * Applies `change` to the current record, after every change of it that was asked for before. Resolves with the new
 * record once it is durable and in the mirror. After a lost race `change` runs again, with the newer record. Writes
 * nothing and returns undefined when there is no record, when it is set aside, and when `change` returns undefined.
 * Throws what the store throws, except conflicts.
 */
export function modify<T>(
  set: RecordSet<T>,
  id: string,
  change: (current: T) => T | undefined,
): Promise<T | undefined> {
  return modifyOrCreate(set, id, (current) => current && change(current));
}

/** Like `modify`, and calls `change` without a record, too, where there is none: its result is then created. */
export function modifyOrCreate<T>(
  set: RecordSet<T>,
  id: string,
  change: (current: T | undefined) => T | undefined,
): Promise<T | undefined> {
  return set.turns.run(id, () => write(set, id, change));
}

/** For a wish of a client, which must not be lost in silence: throws DRV_RECORD_UNREADABLE when the record is set aside. */
export function refuseSetAside({ mirror, keyOf }: RecordSet<unknown>, id: string): void {
  const aside = mirror.setAside.get(id);
  if (aside === undefined) return;
  const text = `the record ${keyOf(id)} cannot be read (${aside.problem}): it stays as it is`;
  throw new DroverError(
    'DRV_RECORD_UNREADABLE',
    `${text}; a version of Drover that can read it can change it`,
  );
}

/** Removes a record. Throws DRV_STORE_CONFLICT when it changes meanwhile. */
export async function removeRecord<T>({ store, mirror, keyOf }: RecordSet<T>, id: string): Promise<void> {
  const known = mirror.get(id);
  if (known === undefined) return;
  const removal = { do: 'remove', key: keyOf(id), expectedRevision: known.revision } as const;
  await mirror.until(await store.transact([removal]));
}

async function write<T>(
  set: RecordSet<T>,
  id: string,
  change: (current: T | undefined) => T | undefined,
): Promise<T | undefined> {
  for (let tries = 1; ; tries++) {
    if (set.mirror.setAside.has(id)) return undefined;
    const current = set.mirror.get(id);
    const next = change(current?.value);
    if (next === undefined) return undefined;
    const key = set.keyOf(id);
    try {
      await set.mirror.until(
        current === undefined
          ? await create(set.store, key, next)
          : await update(set.store, key, next, current.revision),
      );
      return next;
    } catch (error) {
      if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= MAX_TRIES) throw error;
      await untilShown(set.store, set.mirror);
    }
  }
}

/**
 * Resolves when the mirror shows every transaction called before. That includes the writer that won a race,
 * even when its change is still on its way to a slow disk. Throws what the store throws.
 */
export async function untilShown(store: Store, mirror: Pick<MirrorReader<unknown>, 'until'>): Promise<void> {
  await mirror.until(await store.barrier());
}
