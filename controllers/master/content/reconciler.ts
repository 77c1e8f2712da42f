/** The content controller: lets instances take the content in force of their configurations. Key: instance id. */
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { ContentsInForce } from '../../../src/store/contents-in-force.js';
import type { InstanceWriter } from '../../../src/store/instance-writes.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { type ContentFacts, type ContentStep, plan } from './plan.js';

export interface ContentsOptions {
  readonly instances: MirrorReader<InstanceRecord>;
  readonly contents: Pick<ContentsInForce, 'of'>;
  readonly writer: Pick<InstanceWriter, 'updateInPlace'>;
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

  async perform({ id, why }: ContentStep): Promise<void> {
    const { writer, instances, logger } = this.#options;
    const name = instances.get(id)?.value.configurationName;
    const outcome = await writer.updateInPlace(id, { isDue: (record) => this.#isDue(record) });
    if (outcome === 'not-due') throw new Conflict(`instance ${id} changed meanwhile`);
    if (outcome !== 'current')
      logger.info(
        { instance: id, configuration: name },
        `${id} (${name}) takes the content in force in place: ${why}`,
      );
  }

  #isDue(record: InstanceRecord): boolean {
    const facts = this.#factsOf(record);
    return facts !== undefined && plan(facts).steps.length > 0;
  }

  /** Undefined: nothing is decided of it. */
  #factsOf(record: InstanceRecord): ContentFacts | undefined {
    const { id, configurationName, desired, revision, status } = record;
    const inForce = this.#options.contents.of(configurationName);
    // Without a configuration there is no other content.
    if (inForce === undefined || desired.goal === 'remove') return undefined;
    return {
      id,
      isOutdated: inForce.hash !== revision,
      isAsked: desired.updateWhenEmpty === true,
      players: status.players ?? 0,
    };
  }
}
