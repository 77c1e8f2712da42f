/**
 * Foretells what becomes of the instances of one configuration under a content that is not in force yet: it runs the plans of
 * minimum-service, of the content controller and of the rollout. Pure.
 */
import type { ServiceForecast } from '../../../src/operations/plan/forecast.js';
import type { UpdateOutcome } from '../../../src/store/instances/instance-updates.js';
import { type ContentFacts, plan as planContent } from '../content/plan.js';
import { plan as planService, type ServiceFacts } from '../minimum-service/plan.js';
import type { Foretold, ForetoldVictim } from '../rollout/foretell.js';

/** An instance that is there, and stays as far as anybody asked. */
export interface PlannedInstance extends ContentFacts {
  /** The content asks something of its process. */
  readonly isOtherProcess: boolean;
  /** What becomes of it when it takes the content where it is. Asked once, and then it holds its new place. */
  readonly inPlace: () => UpdateOutlook;
}

/** `refusal`: its node does not fit the content, so it goes on with its own. */
export type UpdateOutlook = Extract<UpdateOutcome, 'restarted' | 'taken'> | { readonly refusal: string };

export interface Outcome {
  readonly create: number;
  readonly ended: ReadonlySet<string>;
}

/** More passes than any plan needs: each creates or ends something. */
const MOST_PASSES = 10_000;

/** What minimum-service creates and ends under a content, while new instances do not fail. */
export function outcomeOf(service: ServiceFacts | null): Outcome {
  const ended = new Set<string>();
  let create = 0;
  // Creations that failed before say nothing of the new content.
  let facts = service === null ? null : { ...service, history: undefined };
  for (let pass = 0; facts !== null && pass < MOST_PASSES; pass++) {
    const { steps } = planService(facts, 0);
    if (steps.length === 0) break;
    for (const step of steps) {
      if (step.do === 'create') create += step.count;
      else ended.add(step.id);
    }
    facts = {
      ...facts,
      ordinary: (service?.ordinary ?? 0) + create,
      instances: facts.instances.filter(({ id }) => !ended.has(id)),
    };
  }
  return { create, ended };
}

/** What becomes of each instance. */
export interface Fates {
  readonly ended: ReadonlySet<string>;
  readonly replaced: readonly ForetoldVictim[];
  /** By the id of a static instance that is to be updated: why it is not. */
  readonly refused: ReadonlyMap<string, string>;
  readonly restarted: ReadonlySet<string>;
  /** It has the content from its next start on. */
  readonly taken: ReadonlySet<string>;
  /** Of those that are replaced or restarted: their players are waited for. */
  readonly waiting: ReadonlySet<string>;
}

/** The content controller comes before the rollout: what it updates is none of the victims any more. */
export function fatesOf(
  instances: readonly PlannedInstance[],
  { ended }: Pick<Outcome, 'ended'>,
  { victims, onPromotion }: Pick<Foretold, 'victims' | 'onPromotion'>,
): Fates {
  const replaced: ForetoldVictim[] = [];
  const refused = new Map<string, string>();
  const restarted = new Set<string>();
  const taken = new Set<string>();
  const waiting = new Set<string>();
  const byId = new Map(victims.map((victim) => [victim.id, victim]));
  for (const instance of instances) {
    const { id } = instance;
    const victim = onPromotion.has(id) ? undefined : byId.get(id);
    const isAsked = asksForContent(instance);
    if (ended.has(id) || (!isAsked && victim === undefined)) continue;
    const isInPlace = isAsked || victim?.static === true;
    const outlook = isInPlace ? instance.inPlace() : undefined;
    if (outlook === 'taken') taken.add(id);
    else if (outlook === 'restarted') {
      restarted.add(id);
      if (isAsked ? instance.players > 0 : victim?.waits === true) waiting.add(id);
    } else if (victim?.static === false) {
      replaced.push(victim);
      if (victim.waits) waiting.add(id);
    } else if (outlook !== undefined && !isAsked) refused.set(id, outlook.refusal);
  }
  const order = new Map(victims.map(({ id }, index) => [id, index]));
  replaced.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
  return { ended, replaced, refused, restarted, taken, waiting };
}

export function forecastOf(
  instances: readonly PlannedInstance[],
  { ended, replaced, restarted, taken, waiting }: Fates,
  { create, onPromotion }: Pick<Outcome, 'create'> & Pick<Foretold, 'onPromotion'>,
): ServiceForecast {
  const moved = new Set([...ended, ...restarted, ...replaced.map(({ id }) => id)]);
  const kept = instances.filter(({ id }) => !moved.has(id));
  const isLeft = ({ id }: PlannedInstance): boolean => onPromotion.has(id);
  return {
    create,
    replace: replaced.length,
    restart: restarted.size,
    stop: instances.filter(({ id }) => ended.has(id)).length,
    keep: kept.length,
    waitForPlayers: waiting.size,
    onPromotion: kept.filter(isLeft).length,
    older: kept.filter((one) => one.isOtherProcess && !taken.has(one.id) && !isLeft(one)).length,
  };
}

/** At once, or when its players have left. */
function asksForContent(instance: PlannedInstance): boolean {
  return planContent({ ...instance, players: 0 }).steps.length > 0;
}
