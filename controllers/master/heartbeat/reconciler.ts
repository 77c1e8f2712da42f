/**
 * The heartbeat controller: writes each node's condition, and OFFLINE for the instances on a lost node. Key: node
 * id.
 */
import type { BeatBook } from '../../../src/channel/master/beat-book.js';
import type { ContactView } from '../../../src/explain/decisions.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { withNodeBack, withNodeLost } from '../../../src/state/instance-changes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { modify } from '../../../src/store/modify.js';
import type { Ambient } from '../../../src/telemetry/ambient.js';
import { type HeartbeatStep, isHeard, type NodeFacts, plan } from './plan.js';

interface HeartbeatOptions extends StateRecords, Ambient {
  readonly beats: BeatBook;
  readonly timeoutMs: number;
}

export class Heartbeat implements Reconciler<NodeFacts, HeartbeatStep> {
  readonly name = 'heartbeat';
  readonly plan = plan;
  readonly #options: HeartbeatOptions;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  observe(nodeId: string): NodeFacts | undefined {
    const { nodes, instances, instancesByNode, beats, timeoutMs } = this.#options;
    const node = nodes.get(nodeId)?.value;
    if (node === undefined) return undefined;
    const standing: string[] = [];
    const marked: string[] = [];
    for (const id of instancesByNode.get(nodeId)) {
      const record = instances.get(id)?.value;
      if (record === undefined || record.desired.goal !== 'run') continue;
      if (record.status.reason === 'node-lost') marked.push(id);
      else if (record.status.state !== 'STOPPED') standing.push(id);
    }
    return { nodeId, condition: node.condition, ...beats.contact(nodeId), timeoutMs, standing, marked };
  }

  /** The facts about a node's silence, for `why`; undefined: no such node. */
  viewOf(nodeId: string): ContactView | undefined {
    const facts = this.observe(nodeId);
    if (facts === undefined) return undefined;
    const { isConnected, silentMs, goneForMs } = facts;
    return { isConnected, silentMs, goneForMs, lostInMs: plan(facts).recheckInMs ?? null };
  }

  async perform(step: HeartbeatStep): Promise<void> {
    switch (step.do) {
      case 'set-condition':
        return this.#setCondition(step);
      case 'mark-lost':
        await Promise.all(step.ids.map((id) => this.#markLost(id, step.nodeId)));
        return;
      case 'restore':
        await Promise.all(
          step.ids.map((id) =>
            modify(this.#options.instanceRecords, id, (record) => withNodeBack(record, step.nodeId)),
          ),
        );
        return;
      default:
        return step satisfies never;
    }
  }

  async #setCondition({ nodeId, condition, why }: HeartbeatStep & { do: 'set-condition' }): Promise<void> {
    const { nodeRecords, clock, logger } = this.#options;
    const conditionSince = clock.now();
    await modify(nodeRecords, nodeId, (node) => ({ ...node, condition, conditionSince }));
    const level = condition === 'lost' ? 'warn' : 'info';
    logger[level]({ node: nodeId, condition }, `node ${nodeId} is ${condition}: ${why}`);
  }

  /**
   * Throws Conflict when the node was heard of meanwhile: a mark written after its report would stay, because the node
   * does not report again.
   */
  async #markLost(id: string, nodeId: string): Promise<void> {
    const { instanceRecords, beats, timeoutMs } = this.#options;
    await modify(instanceRecords, id, (record): InstanceRecord | undefined => {
      if (isHeard({ ...beats.contact(nodeId), timeoutMs })) throw new Conflict(`node ${nodeId} is back`);
      return withNodeLost(record, nodeId);
    });
  }
}
