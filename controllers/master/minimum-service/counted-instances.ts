/** The instances of a configuration as minimum-service counts them, with those that are set aside. */

import { hasFinished, type InstanceRecord, playersOf } from '../../../src/model/instance.js';
import type { NodeCondition } from '../../../src/model/node.js';
import { type LeftOfInstance, setAsideOf } from '../../../src/state/left-of-record.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { LookupReader } from '../../../src/store/lookup.js';
import { type CountedInstance, isOrdinary, type ServiceFacts } from './plan.js';

/**
 * The fields assumed for an instance whose record is set aside. It counts as the oldest of its configuration,
 * and as up unless its node is lost, because no report of its node can be recorded.
 */
const OF_SET_ASIDE = {
  state: 'OFFLINE',
  static: false,
  createdAt: 0,
  knowledge: 'set-aside',
  isDraining: false,
  maker: 'client',
  players: 'unknown',
  replaces: null,
} as const;

export class CountedInstances {
  readonly #options: StateRecords;
  /** The instances that are not ordinary (`isOrdinary`), by configuration: each must be looked at. */
  readonly #unusual: LookupReader<string>;

  /** `ending`: aborts when this master no longer leads. */
  constructor(options: StateRecords, ending?: AbortSignal) {
    this.#options = options;
    this.#unusual = options.instances.lookup(
      (record) => (isOrdinary(record) ? [] : [record.configurationName]),
      ending,
    );
  }

  all(name: string): CountedInstance[] {
    const all = this.#gather(this.#options.instancesByConfiguration.get(name));
    return [...all, ...this.#setAside(name)];
  }

  /** As `all`, but ordinary instances are only counted, not listed. */
  few(name: string): Pick<ServiceFacts, 'ordinary' | 'instances'> {
    const unusual = this.#unusual.get(name);
    const ordinary = this.#options.instancesByConfiguration.get(name).size - unusual.size;
    return { ordinary, instances: [...this.#gather(unusual), ...this.#setAside(name)] };
  }

  /** The instances that are not ordinary and whose records can be read. */
  unusual(name: string): CountedInstance[] {
    return this.#gather(this.#unusual.get(name));
  }

  #gather(ids: Iterable<string>): CountedInstance[] {
    const gathered: CountedInstance[] = [];
    for (const id of ids) {
      const record = this.#options.instances.get(id)?.value;
      // A run of a job is nobody's service, also when its configuration is no job any more.
      if (record === undefined || record.job !== undefined) continue;
      const node = this.#conditionOf(record);
      gathered.push({
        id,
        phase: phaseOf(record),
        state: record.status.state,
        static: record.static,
        createdAt: record.createdAt,
        knowledge: knowledgeOf(record, node),
        node,
        isDraining: this.#isDraining(record),
        maker: record.madeBy,
        players: playersOf(record),
        replaces: record.replaces ?? null,
        ...(record.status.keepsFailing === true && { keepsFailing: true }),
      });
    }
    return gathered;
  }

  #setAside(name: string): CountedInstance[] {
    const { instances } = this.#options;
    const counted: CountedInstance[] = [];
    for (const [id, left] of setAsideOf(instances.setAside, name))
      counted.push({ ...OF_SET_ASIDE, id, phase: left.goal, node: this.#conditionOf(left) });
    return counted;
  }

  #isDraining({ placement }: InstanceRecord): boolean {
    return this.#options.nodes.get(placement?.nodeId ?? '')?.value.drain !== undefined;
  }

  #conditionOf({ placement }: Pick<LeftOfInstance, 'placement'>): NodeCondition | null {
    if (placement === null) return null;
    return this.#options.nodes.get(placement.nodeId)?.value.condition ?? null;
  }
}

function phaseOf(record: InstanceRecord): CountedInstance['phase'] {
  const { goal, stoppedBy } = record.desired;
  if (hasFinished(record)) return 'finished';
  return goal === 'stop' && stoppedBy === 'instance' ? 'quit' : goal;
}

function knowledgeOf({ status }: InstanceRecord, node: NodeCondition | null): CountedInstance['knowledge'] {
  const isOld = status.awaitsReport === true || (status.reason === 'node-lost' && node !== 'lost');
  return isOld ? 'awaits-report' : 'present';
}
