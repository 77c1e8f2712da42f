/**
 * The replacement controller: removes what is surplus of an original and its replacements, unless a caller moves the
 * original. Key: id of the original.
 */

import type { Reconciler } from '../../../src/loop/reconciler.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { FamilyFacts } from './facts.js';
import type { Mover } from './mover.js';
import type { RemoveStep } from './moves.js';
import { plan } from './plan.js';
import type { Victims } from './victims.js';

interface ReplacementsOptions extends StateRecords {
  readonly victims: Victims;
  readonly mover: Mover;
  /** Whether a caller wants the instance moved. */
  readonly isMoving: (record: InstanceRecord) => boolean;
}

export class Replacements implements Reconciler<FamilyFacts, RemoveStep> {
  readonly name = 'replacement';
  readonly plan = plan;
  readonly #options: ReplacementsOptions;

  constructor(options: ReplacementsOptions) {
    this.#options = options;
  }

  observe(id: string): FamilyFacts | undefined {
    const { instances, victims, isMoving } = this.#options;
    const replacements = victims.replacementsOf(id);
    if (replacements.length === 0) return undefined;
    const record = instances.get(id)?.value;
    return {
      id,
      original: this.#originalOf(record),
      replacements,
      isMoving: record !== undefined && isMoving(record),
    };
  }

  async perform(step: RemoveStep): Promise<void> {
    await this.#options.mover.perform(step, 'replacing');
  }

  #originalOf(record: InstanceRecord | undefined): FamilyFacts['original'] {
    if (record === undefined || record.desired.goal !== 'run') return 'gone';
    const condition = this.#options.nodes.get(record.placement?.nodeId ?? '')?.value.condition;
    if (condition === 'lost') return 'gone';
    const { awaitsReport, reason } = record.status;
    // The marks of a lost node are taken back after its condition has changed.
    if (condition !== 'connected' || awaitsReport === true || reason === 'node-lost') return 'away';
    return this.#options.victims.originalOf(record);
  }
}
