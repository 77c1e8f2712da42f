/** The content controller: lets instances take the content in force of their configurations. Key: instance id. */

import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { awaitsFirstStart, hasFinished, type InstanceRecord } from '../../../src/model/instance.js';
import type { InstanceContent } from '../../../src/state/instance-changes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { InstanceUpdates } from './instance-updates.js';
import { type ContentFacts, type ContentStep, plan } from './plan.js';

interface ContentsOptions extends StateRecords {
  readonly updates: Pick<InstanceUpdates, 'update' | 'refusal'>;
  readonly logger: Logger;
}

export class Contents implements Reconciler<ContentFacts, ContentStep> {
  readonly name = 'content';
  readonly plan = plan;
  readonly #options: ContentsOptions;

  constructor(options: ContentsOptions) {
    this.#options = options;
  }

  observe(id: string): ContentFacts | undefined {
    const record = this.#options.instances.get(id)?.value;
    return record === undefined ? undefined : this.#factsOf(record);
  }

  async perform({ do: how, id, why }: ContentStep): Promise<void> {
    const { updates, instances, logger } = this.#options;
    const name = instances.get(id)?.value.configurationName;
    const outcome = await updates.update(id, {
      isDue: (record) => this.#isDue(record, how),
      isOnlyLive: how === 'refit',
    });
    if (outcome === 'not-due') throw new Conflict(`instance ${id} changed meanwhile`);
    logger.info(
      { instance: id, configuration: name },
      `${id} (${name}) takes the content in force in place: ${why}`,
    );
  }

  #isDue(record: InstanceRecord, how: ContentStep['do']): boolean {
    const facts = this.#factsOf(record);
    return facts !== undefined && plan(facts).steps[0]?.do === how;
  }

  /** The facts about the instance; undefined: there is nothing to decide. */
  #factsOf(record: InstanceRecord): ContentFacts | undefined {
    const inForce = this.#options.contents.of(record.configurationName);
    // Instances of a removed configuration keep their content.
    if (inForce === undefined || record.desired.goal === 'remove') return undefined;
    const target = this.#options.contents.targetOf(record.configurationName) ?? inForce;
    const refusal = (): string | undefined => this.#options.updates.refusal(record);
    return contentFactsOf(record, { inForce, target }, { contents: this.#options.contents, refusal });
  }
}

export interface OfferedContents {
  /** The content that new instances get. */
  readonly inForce: InstanceContent;
  /** The content that a rollout brings; without one, the content in force. */
  readonly target: InstanceContent;
}

/** The facts of an instance under the offered contents, which need not be stored yet: a forecast has new ones. */
export function contentFactsOf(
  record: InstanceRecord,
  { inForce, target }: OfferedContents,
  { contents, refusal }: Pick<StateRecords, 'contents'> & Pick<ContentFacts, 'refusal'>,
): ContentFacts {
  // A canary already has the rollout's content, while other instances get the last good content.
  const isCanary = target.hash !== inForce.hash && contents.isLive(record, target);
  const hasIt = inForce.hash === record.revision || isCanary;
  return {
    id: record.id,
    asks: hasIt ? 'none' : contents.isLive(record, inForce) ? 'live' : 'start',
    isAsked: record.desired.updateWhenEmpty === true,
    players: record.status.players ?? 0,
    hasFinished: hasFinished(record),
    awaitsFirstStart: awaitsFirstStart(record),
    refusal,
  };
}
