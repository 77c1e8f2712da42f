/**
 * Every write of what operators want of a node: cordon, drain, and that it is forgotten. Each resolves when it is
 * durable and the mirror shows it.
 */
import type { Clock } from '../loop/clock.js';
import { DroverError } from '../model/errors.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import { unknownNode } from '../model/unknown.js';
import { nodeKey } from './keys.js';
import type { Mirrored, MirrorReader } from './mirror.js';
import { modify, type RecordSet, untilShown } from './modify.js';
import type { Store } from './store.js';
import { inSteps } from './transaction.js';

/** Each try loses only to a change of the node's record. */
const FORGET_TRIES = 20;

export interface NodeWriterOptions {
  readonly store: Store;
  readonly nodes: MirrorReader<NodeRecord>;
  readonly nodeRecords: RecordSet<NodeRecord>;
  readonly instances: MirrorReader<InstanceRecord>;
  readonly instanceRecords: RecordSet<InstanceRecord>;
  /** The node that the master itself is. */
  readonly ownNodeId: string;
  readonly isConnected: (nodeId: string) => boolean;
  /** Ends the node's connection and makes sure that its credential opens no other one. */
  readonly shutOut: (nodeId: string) => Promise<void>;
  readonly clock: Clock;
}

/** Ids of the instances whose records went with a node. */
export interface Forgotten {
  readonly instances: readonly string[];
  /** Of these, those whose files are kept on the node's disk. */
  readonly statics: readonly string[];
}

export class NodeWriter {
  readonly #options: NodeWriterOptions;

  constructor(options: NodeWriterOptions) {
    this.#options = options;
  }

  /** The node gets no new instances. Repeatable. Throws DRV_NODE_UNKNOWN. */
  async cordon(nodeId: string): Promise<void> {
    await this.#change(nodeId, (node) => (node.cordoned ? undefined : { ...node, cordoned: true }));
  }

  /** It gets instances again, and a drain is called off. Repeatable. Throws DRV_NODE_UNKNOWN. */
  async uncordon(nodeId: string): Promise<void> {
    await this.#change(nodeId, ({ drain, ...node }) =>
      node.cordoned || drain !== undefined ? { ...node, cordoned: false } : undefined,
    );
  }

  /** Cordons the node and has its instances moved away; again: with another deadline. Throws DRV_NODE_UNKNOWN. */
  async drain(nodeId: string, withinMs: number): Promise<void> {
    const since = this.#options.clock.now();
    const drain = { since, deadline: since + withinMs, doneAt: null };
    await this.#change(nodeId, (node) => ({ ...node, cordoned: true, drain }));
  }

  /**
   * Removes the node and every instance on it, as if both were gone; whatever runs there is left to itself. `force`:
   * also when it is connected, or has files of static instances. Throws DRV_NODE_UNKNOWN, DRV_NODE_IN_USE.
   *
   * It is many writes, the node's record last. One that is cut short leaves a cordoned node without a credential, and
   * the rest of its instances on it. The same call goes on from there, and tells of that rest.
   */
  async forget(nodeId: string, { force }: { readonly force: boolean }): Promise<Forgotten> {
    const { store, nodes, instances, shutOut } = this.#options;
    this.#refuseForgetting(nodeId, force);
    const visible: InstanceRecord[] = [];
    for (let tries = 1; ; tries++) {
      await shutOut(nodeId);
      const { revision } = await this.#cordoned(nodeId);
      // Placements that did not see the cordon were called before this. While the record stands, no other follows.
      await untilShown(store, instances);
      visible.push(...(await this.#giveUpInstances(nodeId)));
      try {
        await nodes.until(
          await store.transact([{ do: 'remove', key: nodeKey(nodeId), expectedRevision: revision }]),
        );
        return { instances: idsOf(visible), statics: idsOf(visible.filter((record) => record.static)) };
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= FORGET_TRIES) throw error;
        await untilShown(store, nodes);
      }
    }
  }

  /** Resolves with those that clients saw until then. */
  async #giveUpInstances(nodeId: string): Promise<InstanceRecord[]> {
    const { instanceRecords } = this.#options;
    const visible: InstanceRecord[] = [];
    const giveUp = async (record: InstanceRecord): Promise<void> => {
      const given = await modify(instanceRecords, record.id, (current) =>
        isHeldBy(current, nodeId) ? asGone(current) : undefined,
      );
      if (given !== undefined && record.desired.goal !== 'remove') visible.push(record);
    };
    for (const some of inSteps(this.#heldBy(nodeId))) await Promise.all(some.map(giveUp));
    return visible;
  }

  /** The node's record as of when it was seen cordoned. Throws DRV_NODE_UNKNOWN. */
  async #cordoned(nodeId: string): Promise<Mirrored<NodeRecord>> {
    for (;;) {
      await this.cordon(nodeId);
      const node = this.#options.nodes.get(nodeId);
      if (node?.value.cordoned === true) return node;
    }
  }

  async #change(nodeId: string, change: (node: NodeRecord) => NodeRecord | undefined): Promise<void> {
    if (this.#options.nodes.get(nodeId) === undefined) throw unknownNode(nodeId);
    await modify(this.#options.nodeRecords, nodeId, change);
  }

  #refuseForgetting(nodeId: string, force: boolean): void {
    const { nodes, ownNodeId, isConnected } = this.#options;
    if (nodes.get(nodeId) === undefined) throw unknownNode(nodeId);
    if (nodeId === ownNodeId) throw inUse(`${nodeId} is the master itself: it cannot be forgotten`);
    if (force) return;
    if (isConnected(nodeId))
      throw inUse(
        `node ${nodeId} is connected: drain it ("cluster drain ${nodeId}") and end Drover there first, or use --force`,
      );
    const statics = idsOf(this.#heldBy(nodeId).filter(isKept));
    if (statics.length > 0)
      throw inUse(
        `node ${nodeId} has the files of ${statics.length} static instance${statics.length === 1 ? '' : 's'} (${shortList(statics)}): delete these first, or use --force to remove their records and leave the files on its disk`,
      );
  }

  #heldBy(nodeId: string): InstanceRecord[] {
    return [...this.#options.instances.entries()]
      .map(([, { value }]) => value)
      .filter((record) => isHeldBy(record, nodeId));
  }
}

/** Placed there, or bound to it by its files. */
function isHeldBy(record: InstanceRecord, nodeId: string): boolean {
  const { placement, home } = record;
  return placement === null ? isKept(record) && home?.nodeId === nodeId : placement.nodeId === nodeId;
}

function isKept({ static: isStatic, desired }: InstanceRecord): boolean {
  return isStatic && desired.goal !== 'remove';
}

/**
 * Nobody will confirm any more that its process and directory are gone: without a place the cleanup removes the record
 * without that, and a late report of the node is void.
 */
function asGone(record: InstanceRecord): InstanceRecord {
  return { ...record, placement: null, desired: { ...record.desired, goal: 'remove' } };
}

function idsOf(records: readonly InstanceRecord[]): string[] {
  return records.map(({ id }) => id).sort();
}

function shortList(ids: readonly string[]): string {
  return ids.length > 5 ? `${ids.slice(0, 5).join(', ')} and ${ids.length - 5} more` : ids.join(', ');
}

function inUse(message: string): DroverError {
  return new DroverError('DRV_NODE_IN_USE', message);
}
