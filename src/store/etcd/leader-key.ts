/**
 * The keys by which masters know each other: a leader key that says who writes, and for each master a key that says
 * that it is up. These keys end with the lease of the master that wrote them.
 */
import { z } from 'zod';
import { decodeJson } from './etcd-record.js';

const peerSchema = z.object({
  nodeId: z.string(),
  /** The `host:port` of the master's cluster port. */
  clusterAddress: z.string(),
  /**
   * The master's root and the boot of its machine: one process at a time has both. Absent: an older Drover wrote the
   * value.
   */
  root: z.string().optional(),
});

/** The value of a master's own key, as JSON. */
export type MasterEntry = z.output<typeof peerSchema>;
/** The entry of this process. Only by its root a master knows it again, when the answer to its put was lost. */
export type OwnEntry = Required<MasterEntry>;

const holderSchema = peerSchema.extend({
  /** A random id, new for each term for which a master is a candidate. */
  session: z.string(),
  lease: z.int(),
  /** The leader's wall clock when the leader got the key. */
  since: z.number(),
});

/** The value of the leader key, as JSON. */
export type LeaderHolder = z.output<typeof holderSchema>;

/** The names of a store's keys. */
export interface StoreKeys {
  readonly prefix: string;
  readonly leader: string;
  readonly summary: string;
  /** The key that exists while a whole state is written under the prefix. */
  readonly filling: string;
  /** The prefix of the keys of masters. */
  readonly masters: string;
  /** The prefix of the keys of records. */
  readonly records: string;
}

/** The keys under `prefix`, which must not end with a slash. */
export function storeKeys(prefix: string): StoreKeys {
  return {
    prefix: `${prefix}/`,
    leader: `${prefix}/leader`,
    summary: `${prefix}/summary`,
    filling: `${prefix}/filling`,
    masters: `${prefix}/masters/`,
    records: `${prefix}/records/`,
  };
}

/** The holder in the leader key; undefined: the key does not exist, or something other than Drover wrote it. */
export function holderOf(
  entry: { readonly value: Buffer | undefined } | undefined,
): LeaderHolder | undefined {
  return decodeJson(holderSchema, entry?.value);
}

/**
 * True when another process has the node id of `own`. A former process of the same root and boot is none: it has ended,
 * because a root is locked.
 */
export function isOther(entry: MasterEntry | undefined, own: OwnEntry): boolean {
  return entry !== undefined && entry.root !== own.root;
}

/** A line for the operator about another process with the node id of this master. */
export function describeOther({ nodeId, clusterAddress }: MasterEntry): string {
  return (
    `another process of node ${nodeId} is up (cluster port: ${clusterAddress}), and a node has one process: ` +
    'stop one of them; where a root is a copy, remove the copy, and make a further master by "drover join --as-master"'
  );
}

/** The master in the value of its key; undefined: the key does not exist, or something other than Drover wrote it. */
export function masterOf(value: Buffer | undefined): MasterEntry | undefined {
  return decodeJson(peerSchema, value);
}
