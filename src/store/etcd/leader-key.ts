/** The key that says who writes: one master holds it, and it goes with that master's lease. */
import { z } from 'zod';
import type { KeyValue } from './etcd.js';

const holderSchema = z.object({
  nodeId: z.string(),
  /** Drawn by each process that opens the store. */
  session: z.string(),
  lease: z.int(),
});

/** The value of the key, JSON. */
export type LeaderHolder = z.output<typeof holderSchema>;

/** Where a store keeps what. */
export interface StoreKeys {
  readonly prefix: string;
  readonly leader: string;
  readonly summary: string;
  /** What the keys of records begin with. */
  readonly records: string;
}

/** `prefix` has no slash at its end. */
export function storeKeys(prefix: string): StoreKeys {
  return {
    prefix: `${prefix}/`,
    leader: `${prefix}/leader`,
    summary: `${prefix}/summary`,
    records: `${prefix}/records/`,
  };
}

export function encodeHolder(holder: LeaderHolder): Buffer {
  return Buffer.from(JSON.stringify(holder));
}

/** Undefined: the key does not exist, or something else than Drover wrote it. */
export function holderOf(entry: Pick<KeyValue, 'value'> | undefined): LeaderHolder | undefined {
  if (entry === undefined) return undefined;
  try {
    return holderSchema.safeParse(JSON.parse(entry.value.toString())).data;
  } catch {
    return undefined;
  }
}
