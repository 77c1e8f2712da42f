/**
 * Reads and changes the records of members, for members.ts and admission.ts. A change that lost a race is tried again.
 */
import { type MemberRecord, memberRecordSchema } from '../../model/cluster.js';
import { DroverError } from '../../model/errors.js';
import { problemOf } from '../../model/public-message.js';
import { memberKey } from '../../store/keys.js';
import type { Entry, Operation, Store } from '../../store/store.js';
import { DoorRefusal } from './door-refusal.js';

/** How many times a change is tried. A try fails only when another join or revocation was written meanwhile. */
const MAX_TRIES = 100;

const leftSchema = memberRecordSchema.pick({ tokenId: true });

export interface KnownMember extends Entry {
  readonly record: MemberRecord;
}

export class MemberRecords {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * The member with this id. Throws DoorRefusal when its record cannot be read, because another version may be able to.
   */
  async find(nodeId: string): Promise<KnownMember | undefined> {
    const entry = await this.#store.get(memberKey(nodeId));
    if (entry === undefined) return undefined;
    const { data: record, error } = memberRecordSchema.safeParse(entry.value);
    if (record !== undefined) return { ...entry, record };
    throw new DoorRefusal(
      'member-unreadable',
      `the master cannot read its record of node ${nodeId} (${problemOf(error)}): run "cluster forget ${nodeId}" and join it again with a new token`,
      { nodeId, code: 'DRV_STORE_CORRUPT' },
    );
  }

  /**
   * The token that a member joined with, even from a record that cannot be read otherwise. Undefined: there is no such
   * member.
   */
  async left(nodeId: string): Promise<{ readonly tokenId?: string | undefined } | undefined> {
    const entry = await this.#store.get(memberKey(nodeId));
    return entry === undefined ? undefined : (leftSchema.safeParse(entry.value).data ?? {});
  }

  /** Repeats `change`, which reads and then writes, until no other write came between. */
  async changing<T>(change: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await change();
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= MAX_TRIES) throw error;
        // Wait for the disk: the write that won the race may still be on its way there, and is not readable before.
        await this.#store.barrier();
      }
    }
  }
}

/** The keys of renewals that the node has not shown yet, the oldest first. */
export function pendingKeysOf({ earlierKeys = [], nextKey }: MemberRecord): readonly string[] {
  return nextKey === null ? earlierKeys : [...earlierKeys, nextKey];
}

export function withPendingKeys(record: MemberRecord, pending: readonly string[]): MemberRecord {
  const { earlierKeys: _former, ...rest } = record;
  const earlierKeys = pending.slice(0, -1);
  return { ...rest, nextKey: pending.at(-1) ?? null, ...(earlierKeys.length > 0 && { earlierKeys }) };
}

/** The write that replaces the record that was read as `known`. */
export function updateOf({ key, revision }: KnownMember, value: MemberRecord): Operation {
  return { do: 'update', key, value, expectedRevision: revision };
}
