/** The drain controller: empties nodes whose record has a drain, in small steps. Key: node id. */

import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { DrainProgress } from '../../../src/model/node-drain.js';
import { leftOfInstance } from '../../../src/state/left-of-record.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { modify } from '../../../src/store/modify.js';
import type { Operation } from '../../../src/store/store.js';
import type { Ambient } from '../../../src/telemetry/ambient.js';
import { Ages } from '../replacement/ages.js';
import type { Mover } from '../replacement/mover.js';
import type { Victims } from '../replacement/victims.js';
import { type DrainFacts, type DrainStep, moveOf, plan, progressOf } from './plan.js';

interface DrainsOptions extends StateRecords, Ambient {
  readonly victims: Victims;
  readonly mover: Mover;
}

export class Drains implements Reconciler<DrainFacts, DrainStep> {
  readonly name = 'drain';
  readonly plan = plan;
  readonly #options: DrainsOptions;
  readonly #ages: Ages;

  constructor(options: DrainsOptions) {
    this.#options = options;
    this.#ages = new Ages(options.clock);
  }

  /** The facts for a round; undefined: the node is not being drained. */
  observe(nodeId: string): DrainFacts | undefined {
    const drain = this.#options.nodeRecords.mirror.get(nodeId)?.value.drain;
    if (drain === undefined) this.#ages.forget(nodeId);
    else this.#ages.note(nodeId, String(drain.deadline), drain.since);
    return this.#factsOf(nodeId);
  }

  #factsOf(nodeId: string): DrainFacts | undefined {
    const { nodeRecords, instances, instancesByNode, victims } = this.#options;
    const { condition, drain } = nodeRecords.mirror.get(nodeId)?.value ?? {};
    if (condition === undefined || drain === undefined) return undefined;
    const { since, deadline } = drain;
    const agedMs = this.#ages.since(nodeId, String(deadline), since);
    return {
      nodeId,
      condition,
      drain,
      remainingMs: Math.max(0, deadline - since - agedMs),
      victims: victims.gather(instancesByNode.get(nodeId)),
      setAside: [...instances.setAside]
        .filter(([, { value }]) => leftOfInstance(value).placement?.nodeId === nodeId)
        .map(([id]) => id),
    };
  }

  /** How far the drain of a node has come; undefined: the node is not being drained. */
  progressOf(nodeId: string): DrainProgress | undefined {
    const facts = this.#factsOf(nodeId);
    return facts === undefined ? undefined : progressOf(facts);
  }

  /** The meaning of its node's drain for an instance, in words; undefined: the node is not being drained. */
  moveOf(id: string): string | undefined {
    const nodeId = this.#options.instances.get(id)?.value.placement?.nodeId;
    const facts = nodeId === undefined ? undefined : this.#factsOf(nodeId);
    return facts === undefined ? undefined : moveOf(facts, id);
  }

  /** True when the instance is on a node that is being drained. */
  isMoving({ placement }: InstanceRecord): boolean {
    return this.#options.nodeRecords.mirror.get(placement?.nodeId ?? '')?.value.drain !== undefined;
  }

  async perform(step: DrainStep): Promise<void> {
    if (step.do === 'set-done') return this.#setDone(step);
    const nodeId = this.#options.instances.get(step.id)?.value.placement?.nodeId ?? '';
    return this.#options.mover.perform(step, 'draining', () => this.#checkDrain(nodeId));
  }

  /**
   * The operations that check in the transaction that the drain still goes on: a drain that was called off
   * moves nothing more.
   */
  #checkDrain(nodeId: string): Operation[] {
    const { mirror, keyOf } = this.#options.nodeRecords;
    const node = mirror.get(nodeId);
    if (node?.value.drain === undefined) throw new Conflict(`the drain of ${nodeId} was called off`);
    return [{ do: 'check', key: keyOf(nodeId), expectedRevision: node.revision }];
  }

  async #setDone({ nodeId, isDone }: DrainStep & { do: 'set-done' }): Promise<void> {
    const { nodeRecords, clock, logger } = this.#options;
    const doneAt = isDone ? clock.now() : null;
    const written = await modify(nodeRecords, nodeId, (node) =>
      node.drain === undefined ? undefined : { ...node, drain: { ...node.drain, doneAt } },
    );
    if (written === undefined) return;
    const stays = this.progressOf(nodeId)?.waitingFor.join('; ') ?? '';
    const text = isDone
      ? `node ${nodeId} is drained${stays === '' ? '' : `: ${stays}`}`
      : `node ${nodeId} is not drained any more`;
    logger.info({ node: nodeId }, text);
  }
}
