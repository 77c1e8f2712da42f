/**
 * The minimum-service controller: counts the instances of a configuration and creates the missing ones. When the
 * configuration is gone, it ends the instances that are not to stay. Key: configuration name.
 */

import type { ServiceView } from '../../../src/explain/decisions.js';
import { Conflict, type Plan, type Reconciler } from '../../../src/loop/reconciler.js';
import type { Configuration } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import { hasPlayers, type InstanceRecord } from '../../../src/model/instance.js';
import { minimumAt, nextChangeOf } from '../../../src/model/schedule.js';
import type { InstanceWriter } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { Ambient } from '../../../src/telemetry/ambient.js';
import type { InstanceCreations } from '../creation/instance-creations.js';
import { CountedInstances } from './counted-instances.js';
import { Leavers, type LeavingFacts } from './leavers.js';
import {
  type CreationFacts,
  type CreationHistory,
  countOf,
  countsTowardsMinimum,
  creationDelay,
  plan,
  type ServiceFacts,
  type ServiceStep,
  surplusIn,
  withCreated,
  workingOf,
} from './plan.js';
import { after, type EndStep, patienceOf, planEnds, viewOfLeaving } from './surplus.js';

interface MinimumServiceOptions extends StateRecords, Ambient {
  /** Aborts when this master no longer leads. Default: never. */
  readonly ending?: AbortSignal | undefined;
  readonly creations: Pick<InstanceCreations, 'createMissing'>;
  readonly writer: InstanceWriter;
}

type ServiceFields = Pick<
  Configuration,
  'name' | 'minimumServiceCount' | 'maximumServiceCount' | 'surplus' | 'update' | 'windows'
>;

const NOTHING = { ordinary: 0, instances: [] } as const;

type Facts = ServiceFacts | LeavingFacts;
type Step = ServiceStep | EndStep<'leave'>;

export class MinimumService implements Reconciler<Facts, Step> {
  readonly name = 'minimum-service';
  /** Ends instances of configurations that are gone. */
  readonly leavers: Leavers;
  readonly #options: MinimumServiceOptions;
  readonly #history = new Map<string, CreationHistory>();
  /** By configuration: the time (monotonic ms) when a round first found instances beyond a lowered minimum. */
  readonly #surplusSince = new Map<string, number>();
  readonly #counted: CountedInstances;

  constructor(options: MinimumServiceOptions) {
    this.#options = options;
    this.leavers = new Leavers(options);
    this.#counted = new CountedInstances(options, options.ending);
  }

  observe(name: string): Facts | undefined {
    // Call this first: when the configuration is back, it ends the wait for players of leaving instances.
    const leaving = this.leavers.observe(name);
    const facts = this.#factsOf(name);
    if (facts === undefined) this.#history.delete(name);
    if (facts === undefined || surplusIn(facts).length === 0) this.#surplusSince.delete(name);
    else if (!this.#surplusSince.has(name)) this.#surplusSince.set(name, this.#options.clock.monotonic());
    return facts ?? leaving;
  }

  plan(facts: Facts, now: number): Plan<Step> {
    if ('leaving' in facts) return planEnds('leave', facts.name, facts.leaving);
    const { steps, recheckInMs } = plan(facts, now);
    const times = [recheckInMs, facts.windowsChangeInMs].filter((time) => time !== undefined);
    return times.length === 0 ? { steps } : { steps, recheckInMs: Math.min(...times) };
  }

  /** The facts as if this content were in force under its name. */
  factsUnder(configuration: ServiceFields): ServiceFacts {
    const { name, maximumServiceCount: maximum, surplus, update } = configuration;
    const wallNow = this.#options.clock.now();
    const minimum = minimumAt(configuration, wallNow);
    const changeAt = nextChangeOf(configuration, wallNow);
    const history = this.#history.get(name);
    // Count nothing when there is neither minimum nor maximum: otherwise each change of an instance would count them
    // all.
    const isShed = surplus === 'remove';
    const isCounted = minimum > 0 || maximum !== undefined || isShed;
    const few = isCounted ? this.#counted.few(name) : NOTHING;
    // The number above which the instances must be compared one by one.
    const most = Math.min(maximum ?? Number.POSITIVE_INFINITY, isShed ? minimum : Number.POSITIVE_INFINITY);
    const isAbove = few.ordinary + few.instances.length > most;
    const counted = isAbove ? { ordinary: 0, instances: this.#counted.all(name) } : few;
    const patience = isShed && { surplus: patienceOf({ update }) };
    return {
      name,
      minimum,
      maximum,
      ...patience,
      ...counted,
      history,
      ...(changeAt !== undefined && { windowsChangeInMs: changeAt - wallNow }),
    };
  }

  async perform(step: Step): Promise<void> {
    const { creations, writer, logger } = this.#options;
    switch (step.do) {
      case 'create': {
        const ids = await creations.createMissing(step.name, step);
        if (ids.length === 0)
          throw new Conflict(`${step.name} changes, or instances of it are being created`);
        this.#note(step.name, ids, step.streak);
        logger.info(
          { configuration: step.name, count: ids.length, instances: ids },
          `created ${ids.length} of ${step.name}: fewer than minimumServiceCount were standing`,
        );
        return;
      }
      case 'shed':
        if (!(await writer.removeWhile(step.id, (record) => isDue(record, step))))
          throw new Conflict(`instance ${step.id} has players now, or was stopped or removed meanwhile`);
        logger.info(
          { configuration: step.name, instance: step.id },
          `removing ${step.id}: ${step.name} has more than its minimumServiceCount, which was lowered`,
        );
        return;
      case 'leave':
        return this.leavers.perform(step);
      case 'stop':
      case 'remove':
        await this.#end(step);
        logger.info(
          { configuration: step.name, instance: step.id },
          `${step.do === 'stop' ? 'stopping' : 'removing'} ${step.id}: ${step.name} is above maximumServiceCount`,
        );
        return;
      default:
        step satisfies never;
    }
  }

  /** How long the next creation waits (ms) because the last new instances failed young; 0: no wait. */
  delayOf(name: string): number {
    return Math.max(0, creationDelay(this.#creationsOf(name), this.#options.clock.monotonic()).waitMs);
  }

  /**
   * Notes an instance that another controller made: its failure delays creations, like that of an instance made here.
   */
  noteCreated(name: string, id: string): void {
    this.#note(name, [id], creationDelay(this.#creationsOf(name), this.#options.clock.monotonic()).streak);
  }

  /** How many instances hold a slot of the minimum and work, as far as is known, for metrics. */
  working(name: string): number {
    return workingOf(this.#counted.few(name));
  }

  /**
   * The instances that minimum-service counts and the steps that it is about to take, for `why`; undefined: no such
   * configuration.
   */
  viewOf(name: string): ServiceView | undefined {
    const facts = this.#factsOf(name);
    if (facts === undefined) return undefined;
    const now = this.#options.clock.monotonic();
    const { steps, recheckInMs } = plan(facts, now);
    const surplus = viewOfLeaving(surplusIn(facts));
    return {
      minimum: facts.minimum,
      maximum: facts.maximum ?? null,
      counted: new Set(
        this.#counted
          .all(name)
          .filter(countsTowardsMinimum)
          .map(({ id }) => id),
      ),
      creating: steps.reduce((sum, step) => sum + (step.do === 'create' ? step.count : 0), 0),
      stopping: steps.filter((step) => step.do === 'stop' || step.do === 'remove').length,
      surplus,
      // While instances beyond the minimum wait for their players, no creation is due.
      nextCreationInMs: surplus.waiting > 0 ? null : (recheckInMs ?? null),
      failedPasses: creationDelay(facts, now).streak,
    };
  }

  /** Ids of the instances that end now or when their players have left. */
  endingOf(name: string): ReadonlySet<string> {
    const facts = this.#factsOf(name);
    if (facts === undefined) return new Set();
    const { steps } = plan(facts, this.#options.clock.monotonic());
    const now = steps.flatMap((step) => (step.do === 'create' ? [] : [step.id]));
    return new Set([...now, ...surplusIn(facts).map(({ id }) => id)]);
  }

  /** How many counted instances may go while the minimum stays met; infinite when the configuration is gone. */
  spareOf(name: string): number {
    const configuration = this.#options.configurations.get(name)?.value.configuration;
    if (configuration === undefined) return Number.POSITIVE_INFINITY;
    const minimum = minimumAt(configuration, this.#options.clock.now());
    const { maximumServiceCount: maximum = minimum } = configuration;
    return countOf(this.#counted.few(name)) - Math.min(minimum, maximum);
  }

  /**
   * The facts of a configuration now; undefined: it does not exist. The wait for players begins with the first round
   * that finds an instance beyond the minimum. A new leader begins the wait anew.
   */
  #factsOf(name: string): ServiceFacts | undefined {
    const configuration = this.#options.configurations.get(name)?.value.configuration;
    if (configuration === undefined) return undefined;
    const facts = this.factsUnder(configuration);
    const since = this.#surplusSince.get(name);
    if (since === undefined || facts.surplus === undefined || surplusIn(facts).length === 0) return facts;
    return { ...facts, surplus: after(facts.surplus, this.#options.clock.monotonic() - since) };
  }

  async #end({ do: how, id }: ServiceStep & { do: 'stop' | 'remove' }): Promise<void> {
    const { writer } = this.#options;
    if (how === 'remove') {
      // An instance that became static meanwhile is stopped instead, and keeps its files.
      if (!(await writer.removeWhile(id, (record) => record.desired.goal === 'run' && !record.static)))
        throw new Conflict(`instance ${id} was stopped, removed or made static meanwhile`);
      return;
    }
    try {
      await writer.setLifecycle(id, 'stop');
    } catch (error) {
      if (!DroverError.is(error, 'DRV_INSTANCE_UNKNOWN')) throw error;
      throw new Conflict(`instance ${id} was removed meanwhile`);
    }
  }

  #note(name: string, ids: readonly string[], streak: number): void {
    const now = this.#options.clock.monotonic();
    this.#history.set(name, withCreated(this.#creationsOf(name), ids, streak, now));
  }

  #creationsOf(name: string): CreationFacts {
    return { history: this.#history.get(name), instances: this.#counted.unusual(name) };
  }
}

/** True when the newest record of a surplus instance still says that it must be removed. */
function isDue(record: InstanceRecord, { evenUsed }: EndStep<'shed'>): boolean {
  return record.desired.goal === 'run' && (evenUsed || !hasPlayers(record));
}
