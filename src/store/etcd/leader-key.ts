/**
 * The keys by which masters know each other: one says who writes, and one of each master says that it is up. They go
 * with the lease of the master that wrote them.
 */
import { z } from 'zod';
import type { KeyValue } from './etcd.js';

const peerSchema = z.object({
  nodeId: z.string(),
  /** `host:port` of its cluster port. */
  clusterAddress: z.string(),
});

/** The value of a master's own key, JSON. */
export type MasterEntry = z.output<typeof peerSchema>;

const holderSchema = peerSchema.extend({
  /** Drawn for each term that a master stands for. */
  session: z.string(),
  lease: z.int(),
  /** Wall clock of the leader when it took the key. */
  since: z.number(),
});

/** The value of the leader key, JSON. */
export type LeaderHolder = z.output<typeof holderSchema>;

/** Where a store keeps what. */
export interface StoreKeys {
  readonly prefix: string;
  readonly leader: string;
  readonly summary: string;
  /** What the keys of masters begin with. */
  readonly masters: string;
  /** What the keys of records begin with. */
  readonly records: string;
}

/** `prefix` has no slash at its end. */
export function storeKeys(prefix: string): StoreKeys {
  return {
    prefix: `${prefix}/`,
    leader: `${prefix}/leader`,
    summary: `${prefix}/summary`,
    masters: `${prefix}/masters/`,
    records: `${prefix}/records/`,
  };
}

export function encodeEntryOfMaster(entry: MasterEntry): Buffer {
  return Buffer.from(JSON.stringify(entry));
}

export function encodeHolder(holder: LeaderHolder): Buffer {
  return Buffer.from(JSON.stringify(holder));
}

/** Undefined: the key does not exist, or something else than Drover wrote it. */
export function holderOf(
  entry: { readonly value: Buffer | undefined } | undefined,
): LeaderHolder | undefined {
  return parsed(holderSchema, entry?.value);
}

/** As `holderOf`. */
export function masterOf(entry: Pick<KeyValue, 'value'>): MasterEntry | undefined {
  return parsed(peerSchema, entry.value);
}

function parsed<T>(schema: z.ZodType<T>, value: Buffer | undefined): T | undefined {
  if (value === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(value.toString())).data;
  } catch {
    return undefined;
  }
}
