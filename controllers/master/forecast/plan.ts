/**
 * Foretells what becomes of the instances of one configuration under a content that is not in force yet: it runs the plans of
 * minimum-service, of the content controller and of the rollout. Pure.
 */
import type { ServiceForecast } from '../../../src/operations/plan/forecast.js';
import type { UpdateOutcome } from '../../../src/operations/writes.js';
import { type ContentFacts, type ContentStep, plan as planContent } from '../content/plan.js';
import { type LeavingFacts, leavingIn } from '../minimum-service/leaving.js';
import { missingOf, plan as planService, type ServiceFacts, surplusIn } from '../minimum-service/plan.js';
import type { Foretold, ForetoldVictim } from '../rollout/foretell.js';

/** An instance that is there, and stays as far as anybody asked. */
export interface PlannedInstance extends Omit<ContentFacts, 'refusal'> {
  /** The content asks something of its process. */
  readonly isOtherProcess: boolean;
  /** What becomes of it when it takes by itself what it may. Asked once, and then it holds its new place. */
  readonly byItself: () => UpdateOutlook;
  /** The same when a rollout updates it in place. */
  readonly inPlace: () => UpdateOutlook;
}

/** `refusal`: its node does not fit the content, so it goes on with its own. */
export type UpdateOutlook = Extract<UpdateOutcome, 'restarted' | 'taken'> | { readonly refusal: string };

export interface Outcome {
  readonly create: number;
  readonly ended: ReadonlySet<string>;
  /** Of those: they go when their players have left. */
  readonly busy: ReadonlySet<string>;
}

/** More passes than any plan needs: each creates or ends something. */
const MOST_PASSES = 10_000;

/** What minimum-service creates and ends under a content, while new instances do not fail. */
export function outcomeOf(service: ServiceFacts): Outcome {
  const ended = new Set<string>();
  let create = 0;
  // Creations that failed before say nothing of the new content.
  let facts = { ...service, history: undefined, ...toTheEnd(service) };
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const { steps } = planService(facts, 0);
    if (steps.length === 0) break;
    for (const step of steps) {
      // All at once: pass by pass would be a thousand passes for a large minimum.
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

/** Of a configuration that goes: who ends, and whose players are waited for. */
export function outcomeWithout(leaving: LeavingFacts): Outcome {
  const { now, waiting } = leavingIn(leaving);
  const ids = (some: typeof now): string[] => some.map(({ id }) => id);
  return { create: 0, ended: new Set(ids([...now, ...waiting])), busy: new Set(ids(waiting)) };
}

/** All players leave some time. */
function toTheEnd({ surplus }: ServiceFacts): Pick<ServiceFacts, 'surplus'> {
  return surplus === undefined ? {} : { surplus: { players: 'ignore', leftMs: null } };
}

/** What instances take by themselves. */
interface Taken {
  readonly restarted: ReadonlySet<string>;
  /** It has the content from its next start on, or needs none. */
  readonly taken: ReadonlySet<string>;
  /** Of those that are restarted: their players are waited for. */
  readonly waiting: ReadonlySet<string>;
}

/** The content controller comes first: what it updates is no victim of a rollout any more. */
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

/** Whether its node can hold it is asked afterwards. */
function stepOf(instance: PlannedInstance): ContentStep | undefined {
  return planContent({ ...instance, refusal: () => undefined }).steps[0];
}

/** What becomes of each instance. */
interface Fates extends Taken {
  readonly ended: ReadonlySet<string>;
  readonly replaced: readonly ForetoldVictim[];
  /** By the id of a static instance that is to be updated: why it is not. */
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
