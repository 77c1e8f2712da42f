/**
 * Every write of what operators want of a node: cordon, drain, and that it is forgotten. Each resolves when it is
 * durable and the mirror shows it.
 */
import type { Clock } from '../loop/clock.js';
import { DroverError } from '../model/errors.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import { unknownNode } from '../model/unknown.js';
import { instanceKey, nodeKey } from './keys.js';
import type { MirrorReader } from './mirror.js';
import { modify, type RecordSet, untilShown } from './modify.js';
import type { Operation, Store } from './store.js';

const FORGET_TRIES = 20;

export interface NodeWriterOptions {
  readonly store: Store;
  readonly nodes: MirrorReader<NodeRecord>;
  readonly nodeRecords: RecordSet<NodeRecord>;
  readonly instances: MirrorReader<InstanceRecord>;
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
   */
  async forget(nodeId: string, { force }: { readonly force: boolean }): Promise<Forgotten> {
    const { store, nodes, instances, shutOut } = this.#options;
    this.#refuseForgetting(nodeId, force);
    await shutOut(nodeId);
    for (let tries = 1; ; tries++) {
      const node = nodes.get(nodeId);
      if (node === undefined) throw unknownNode(nodeId);
      const held = this.#heldBy(nodeId);
      const operations: Operation[] = held.map(({ value, revision }) => ({
        do: 'update',
        key: instanceKey(value.id),
        value: asGone(value),
        expectedRevision: revision,
      }));
      operations.push({ do: 'remove', key: nodeKey(nodeId), expectedRevision: node.revision });
      try {
        const revision = await store.transact(operations);
        await Promise.all([instances.until(revision), nodes.until(revision)]);
        const visible = held.filter(({ value }) => value.desired.goal !== 'remove');
        return { instances: idsOf(visible), statics: idsOf(visible.filter(({ value }) => value.static)) };
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= FORGET_TRIES) throw error;
        await Promise.all([untilShown(store, instances), untilShown(store, nodes)]);
      }
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
    const statics = idsOf(this.#heldBy(nodeId).filter(({ value }) => isKept(value)));
    if (statics.length > 0)
      throw inUse(
        `node ${nodeId} has the files of ${statics.length} static instance${statics.length === 1 ? '' : 's'} (${shortList(statics)}): delete these first, or use --force to remove their records and leave the files on its disk`,
      );
  }

  /** Placed there, or bound to it by its files. */
  #heldBy(nodeId: string): { readonly value: InstanceRecord; readonly revision: number }[] {
    return [...this.#options.instances.entries()]
      .map(([, entry]) => entry)
      .filter(({ value: { placement, home, static: isStatic } }) =>
        placement === null ? isStatic && home?.nodeId === nodeId : placement.nodeId === nodeId,
      );
  }
}

function isKept({ static: isStatic, desired }: InstanceRecord): boolean {
  return isStatic && desired.goal !== 'remove';
}

/** The cleanup then removes the record: nobody will confirm any more that its process and directory are gone. */
function asGone(record: InstanceRecord): InstanceRecord {
  return {
    ...record,
    desired: { ...record.desired, goal: 'remove' },
    status: { ...record.status, gone: true },
  };
}

function idsOf(entries: readonly { readonly value: InstanceRecord }[]): string[] {
  return entries.map(({ value }) => value.id).sort();
}

function shortList(ids: readonly string[]): string {
  return ids.length > 5 ? `${ids.slice(0, 5).join(', ')} and ${ids.length - 5} more` : ids.join(', ');
}

function inUse(message: string): DroverError {
  return new DroverError('DRV_NODE_IN_USE', message);
}
