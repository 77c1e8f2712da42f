/**
 * Writes the operator's wishes for a node: cordon, uncordon, drain and forget. Each write resolves when it is durable
 * and the mirror shows it.
 */
import type { Clock } from '../loop/clock.js';
import { DroverError } from '../model/errors.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import { unknownNode } from '../model/unknown.js';
import { countText, listText } from '../model/words.js';
import { instanceKey, nodeKey } from '../store/keys.js';
import type { Mirrored } from '../store/mirror.js';
import { modify, untilShown } from '../store/modify.js';
import type { Operation } from '../store/store.js';
import { inSteps } from '../store/transaction.js';
import { leftOfInstance } from './left-of-record.js';
import type { StateRecords } from './master-state.js';

/** Tries to remove the node's record. A try fails only when that record changed meanwhile. */
const FORGET_TRIES = 20;

interface NodeWriterOptions
  extends Pick<StateRecords, 'store' | 'nodes' | 'nodeRecords' | 'instances' | 'instanceRecords'> {
  /** The id of the master's own node. */
  readonly ownNodeId: string;
  readonly isConnected: (nodeId: string) => boolean;
  /**
   * Ends the node's connection and credential, and its join token unless `keepToken`. Resolves with the id of that
   * token if a node could still join with it.
   */
  readonly shutOut: (nodeId: string, options: ShutOutOptions) => Promise<string | undefined>;
  readonly clock: Clock;
}

export interface ShutOutOptions {
  /** True when the join token is for other nodes, too: it stays, and the forgotten node can join with it again. */
  readonly keepToken: boolean;
}

/** Ids of everything that was removed with a node. */
interface Forgotten {
  /** Instances whose records were removed. */
  readonly instances: readonly string[];
  /** The static ones among `instances`, whose files stay on the node's disk. */
  readonly statics: readonly string[];
  /** The join token that the node joined with, if a node could still use it; revoked unless the caller keeps it. */
  readonly token: string | undefined;
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

  /** The node gets instances again, and a drain of it is called off. Repeatable. Throws DRV_NODE_UNKNOWN. */
  async uncordon(nodeId: string): Promise<void> {
    await this.#change(nodeId, ({ drain, ...node }) =>
      node.cordoned || drain !== undefined ? { ...node, cordoned: false } : undefined,
    );
  }

  /**
   * Cordons the node and asks the drain controller to move its instances. Another call sets another deadline.
   * Throws DRV_NODE_UNKNOWN.
   */
  async drain(nodeId: string, withinMs: number): Promise<void> {
    const since = this.#options.clock.now();
    const drain = { since, deadline: since + withinMs, doneAt: null };
    await this.#change(nodeId, (node) => ({ ...node, cordoned: true, drain }));
  }

  /**
   * Removes the node and every instance on it, as if both were gone; processes that run there go on. `force` also
   * forgets a node that is connected or has files of static instances. The node's join token ends, too, unless
   * `keepToken`. Throws DRV_NODE_UNKNOWN, DRV_NODE_IN_USE.
   * The call makes many writes, and removes the node's record last. After an interruption, the node is cordoned, has
   * no credential, and keeps the remaining instances. Another call then goes on, and returns only these instances.
   */
  async forget(
    nodeId: string,
    { force, keepToken = false }: { readonly force: boolean; readonly keepToken?: boolean },
  ): Promise<Forgotten> {
    const { store, nodes, instances, shutOut } = this.#options;
    this.#refuseForgetting(nodeId, force);
    const visible: InstanceRecord[] = [];
    let token: string | undefined;
    for (let tries = 1; ; tries++) {
      token = (await shutOut(nodeId, { keepToken })) ?? token;
      const { revision } = nodes.setAside.get(nodeId) ?? (await this.#cordoned(nodeId));
      // From here on, the mirror shows every placement that was written before the cordon. The cordon prevents later
      // placements while the record exists.
      await untilShown(store, instances);
      visible.push(...(await this.#giveUpInstances(nodeId)));
      try {
        await nodes.until(
          await store.transact([{ do: 'remove', key: nodeKey(nodeId), expectedRevision: revision }]),
        );
        const statics = idsOf(visible.filter((record) => record.static));
        return { instances: idsOf(visible), statics, token };
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= FORGET_TRIES) throw error;
        await untilShown(store, nodes);
      }
    }
  }

  /** Takes the node's instances away. Resolves with the records that clients could still see. */
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
    await this.#removeSetAside(nodeId);
    return visible;
  }

  /** Removes the records of the node's instances that are set aside. */
  async #removeSetAside(nodeId: string): Promise<void> {
    const { store, instances } = this.#options;
    const removals: Operation[] = [];
    for (const [id, { value, revision }] of instances.setAside)
      if (leftOfInstance(value).placement?.nodeId === nodeId)
        removals.push({ do: 'remove', key: instanceKey(id), expectedRevision: revision });
    for (const step of inSteps(removals)) await instances.until(await store.transact(step));
  }

  /** Cordons the node, and returns the cordoned record. Throws DRV_NODE_UNKNOWN. */
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
    if ((nodes.get(nodeId) ?? nodes.setAside.get(nodeId)) === undefined) throw unknownNode(nodeId);
    if (nodeId === ownNodeId) throw inUse(`${nodeId} is the master itself: it cannot be forgotten`);
    if (force) return;
    if (isConnected(nodeId))
      throw inUse(
        `node ${nodeId} is connected: drain it ("cluster drain ${nodeId}") and end Drover there first, or use --force`,
      );
    const statics = idsOf(this.#heldBy(nodeId).filter(isKept));
    if (statics.length > 0)
      throw inUse(
        `node ${nodeId} has the files of ${countText(statics.length, 'static instance')} (${listText(statics, 5)}): delete these first, or use --force to remove their records and leave the files on its disk`,
      );
  }

  #heldBy(nodeId: string): InstanceRecord[] {
    return [...this.#options.instances.entries()]
      .map(([, { value }]) => value)
      .filter((record) => isHeldBy(record, nodeId));
  }
}

/** True when the instance is placed on the node, or bound to it by its files. */
function isHeldBy(record: InstanceRecord, nodeId: string): boolean {
  const { placement, home } = record;
  return placement === null ? isKept(record) && home?.nodeId === nodeId : placement.nodeId === nodeId;
}

function isKept({ static: isStatic, desired }: InstanceRecord): boolean {
  return isStatic && desired.goal !== 'remove';
}

/**
 * The record of an instance whose node will not report any more. It gets no place, so that instance-cleanup removes it
 * without the node's confirmation. A late report of the node is ignored.
 */
function asGone(record: InstanceRecord): InstanceRecord {
  return { ...record, placement: null, desired: { ...record.desired, goal: 'remove' } };
}

function idsOf(records: readonly InstanceRecord[]): string[] {
  return records.map(({ id }) => id).sort();
}

function inUse(message: string): DroverError {
  return new DroverError('DRV_NODE_IN_USE', message);
}
