/**
 * Foretells what becomes of the instances of one configuration under a content that is not in force yet. It runs the
 * plans of minimum-service, of the content controller and of the rollout. Pure.
 */
import type { ServiceForecast } from '../../../src/operations/plan/forecast.js';
import type { UpdateOutcome } from '../../../src/operations/writes.js';
import { type ContentFacts, type ContentStep, plan as planContent } from '../content/plan.js';
import { type LeavingFacts, leavingIn } from '../minimum-service/leaving.js';
import { missingOf, plan as planService, type ServiceFacts, surplusIn } from '../minimum-service/plan.js';
import type { Foretold, ForetoldVictim } from '../rollout/foretell.js';

/** An existing instance that is not asked to end. */
export interface PlannedInstance extends Omit<ContentFacts, 'refusal'> {
  /** True when the content needs another process. */
  readonly isOtherProcess: boolean;
  /** The outcome when the instance takes the content without a rollout. Call once: it reserves the new place. */
  readonly byItself: () => UpdateOutlook;
  /** The outcome when a rollout updates the instance in place. Call once: it reserves the new place. */
  readonly inPlace: () => UpdateOutlook;
}

/** `refusal`: the node does not fit the content, so the instance keeps its own. */
export type UpdateOutlook = Extract<UpdateOutcome, 'restarted' | 'taken'> | { readonly refusal: string };

export interface Outcome {
  readonly create: number;
  readonly ended: ReadonlySet<string>;
  /** Ids of the `ended` instances that end only when their players have left. */
  readonly busy: ReadonlySet<string>;
}

/** More passes than any plan needs, because each pass creates or ends an instance. */
const MOST_PASSES = 10_000;

/** The creations and ends by minimum-service under a content, assuming that new instances do not fail. */
export function outcomeOf(service: ServiceFacts): Outcome {
  const ended = new Set<string>();
  let create = 0;
  // Earlier failures to create concern the former content.
  let facts = { ...service, history: undefined, ...toTheEnd(service) };
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const { steps } = planService(facts, 0);
    if (steps.length === 0) break;
    for (const step of steps) {
      // Create all missing instances in one pass: a large minimum would take a thousand passes.
      if (step.do === 'create') create += missingOf(facts);
      else ended.add(step.id);
    }
    facts = {
      ...facts,
      ordinary: service.ordinary + create,
      instances: facts.instances.filter(({ id }) => !ended.has(id)),
    };
  }
  const busy = surplusIn(service).waiting.map(({ id }) => id);
  return { create, ended, busy: new Set(busy.filter((id) => ended.has(id))) };
}

/**
 * The outcome when a configuration is removed: which instances end, and which of those wait for their players to leave.
 */
export function outcomeWithout(leaving: LeavingFacts): Outcome {
  const { now, waiting } = leavingIn(leaving);
  const ids = (some: typeof now): string[] => some.map(({ id }) => id);
  return { create: 0, ended: new Set(ids([...now, ...waiting])), busy: new Set(ids(waiting)) };
}

/** Assumes that all players leave in the end. */
function toTheEnd({ surplus }: ServiceFacts): Pick<ServiceFacts, 'surplus'> {
  return surplus === undefined ? {} : { surplus: { players: 'ignore', leftMs: null } };
}

/** The instances that take the content without being replaced. */
interface Taken {
  readonly restarted: ReadonlySet<string>;
  /** Ids of instances that have the content from their next start on, or need no start for it. */
  readonly taken: ReadonlySet<string>;
  /** Ids of the `restarted` instances that first wait for their players to leave. */
  readonly waiting: ReadonlySet<string>;
}

/**
 * Finds the instances that the content controller updates. Computed before the rollout's victims, because an updated
 * instance is no victim.
 */
export function takenOf(instances: readonly PlannedInstance[], ended: Outcome['ended']): Taken {
  const restarted = new Set<string>();
  const taken = new Set<string>();
  const waiting = new Set<string>();
  for (const instance of instances) {
    const { id } = instance;
    const step = stepOf({ ...instance, players: 0 });
    if (step === undefined || ended.has(id)) continue;
    const outlook = step.do === 'refit' ? 'taken' : instance.byItself();
    if (outlook === 'taken') taken.add(id);
    else if (outlook === 'restarted') {
      restarted.add(id);
      if (stepOf(instance) === undefined) waiting.add(id);
    }
  }
  return { restarted, taken, waiting };
}

/** The step of the content controller if the node can hold the instance; `byItself` later finds out whether it can. */
function stepOf(instance: PlannedInstance): ContentStep | undefined {
  return planContent({ ...instance, refusal: () => undefined }).steps[0];
}

/** The outcome of each instance. */
interface Fates extends Taken {
  readonly ended: ReadonlySet<string>;
  readonly replaced: readonly ForetoldVictim[];
  /** Why a static instance is not updated, by its id. */
  readonly refused: ReadonlyMap<string, string>;
}

export function fatesOf(
  instances: readonly PlannedInstance[],
  { ended, busy, ...own }: Pick<Outcome, 'ended' | 'busy'> & Taken,
  { victims, onPromotion }: Pick<Foretold, 'victims' | 'onPromotion'>,
): Fates {
  const replaced: ForetoldVictim[] = [];
  const refused = new Map<string, string>();
  const restarted = new Set(own.restarted);
  const taken = new Set(own.taken);
  const waiting = new Set([...own.waiting, ...busy]);
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  for (const victim of victims) {
    const { id } = victim;
    const instance = byId.get(id);
    if (instance === undefined || onPromotion.has(id) || ended.has(id)) continue;
    if (restarted.has(id) || taken.has(id)) continue;
    const outlook = victim.static ? instance.inPlace() : 'replaced';
    if (outlook === 'taken') taken.add(id);
    else if (outlook === 'restarted') restarted.add(id);
    else if (outlook === 'replaced') replaced.push(victim);
    else refused.set(id, outlook.refusal);
    if (victim.waits && (outlook === 'restarted' || outlook === 'replaced')) waiting.add(id);
  }
  return { ended, replaced, refused, restarted, taken, waiting };
}

export function forecastOf(
  instances: readonly PlannedInstance[],
  { ended, replaced, restarted, taken, waiting }: Fates,
  {
    create,
    onPromotion,
    isHeldBack,
  }: Pick<Outcome, 'create'> & Pick<Foretold, 'onPromotion'> & Pick<ServiceForecast, 'isHeldBack'>,
): ServiceForecast {
  const moved = new Set([...ended, ...restarted, ...replaced.map(({ id }) => id)]);
  const kept = instances.filter(({ id }) => !moved.has(id));
  const isLeft = ({ id }: PlannedInstance): boolean => onPromotion.has(id) && !taken.has(id);
  return {
    create,
    replace: replaced.length,
    restart: restarted.size,
    stop: instances.filter(({ id }) => ended.has(id)).length,
    keep: kept.length,
    waitForPlayers: waiting.size,
    onPromotion: kept.filter(isLeft).length,
    older: kept.filter((one) => one.isOtherProcess && !taken.has(one.id) && !isLeft(one)).length,
    isHeldBack,
  };
}
