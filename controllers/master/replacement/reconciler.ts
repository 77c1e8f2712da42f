/** The replacement controller: resolves pairs that no caller moves any more. Key: id of the original. */
import type { Reconciler } from '../../../src/loop/reconciler.js';
import { type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import type { NodeRecord } from '../../../src/model/node.js';
import type { InstanceWriter } from '../../../src/store/instance-writes.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { PairFacts } from './facts.js';
import type { Mover } from './mover.js';
import { type PairStep, plan } from './plan.js';
import type { Victims } from './victims.js';

export interface ReplacementsOptions {
  readonly instances: MirrorReader<InstanceRecord>;
  readonly nodes: MirrorReader<NodeRecord>;
  readonly victims: Victims;
  readonly mover: Mover;
  readonly writer: Pick<InstanceWriter, 'release'>;
  /** Whether a caller wants the instance moved. */
  readonly isMoving: (record: InstanceRecord) => boolean;
}

export class Replacements implements Reconciler<PairFacts, PairStep> {
  readonly name = 'replacement';
  readonly plan = plan;
  readonly #options: ReplacementsOptions;

  constructor(options: ReplacementsOptions) {
    this.#options = options;
  }

  observe(id: string): PairFacts | undefined {
    const { instances, nodes, victims, isMoving } = this.#options;
    const record = instances.get(id)?.value;
    const node = nodes.get(record?.placement?.nodeId ?? '')?.value;
    // An original at rest may keep its replacement: nothing of the original runs beside it.
    if (record === undefined || node === undefined || isAtRest(record)) return undefined;
    return {
      original: victims.originalOf(record),
      isMoving: isMoving(record),
      condition: node.condition,
    };
  }

  async perform(step: PairStep): Promise<void> {
    switch (step.do) {
      case 'remove':
        return this.#options.mover.perform(step, 'replacing');
      case 'release':
        return this.#options.writer.release(step.id);
      default:
        return step satisfies never;
    }
  }
}
