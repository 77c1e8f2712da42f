/**
 * Foretells what becomes of the instances of one configuration under a content that is not in force yet. It runs the plans of
 * minimum-service and of the content controller, until they have nothing to do. Pure.
 */
import type { ServiceForecast } from '../../../src/operations/plan/forecast.js';
import type { UpdateOutcome } from '../../../src/store/instances/instance-updates.js';
import { type ContentFacts, plan as planContent } from '../content/plan.js';
import { plan as planService, type ServiceFacts } from '../minimum-service/plan.js';

/** An instance that is there, and stays as far as anybody asked. */
export interface PlannedInstance extends ContentFacts {
  /** What becomes of it when it takes the content where it is. */
  readonly inPlace: UpdateOutlook;
}

/** `refused`: its node does not fit the content, so it goes on with its own. */
export type UpdateOutlook = Extract<UpdateOutcome, 'restarted' | 'taken'> | 'refused';

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

export function forecastOf(
  instances: readonly PlannedInstance[],
  { create, ended }: Outcome,
): ServiceForecast {
  const standing = instances.filter(({ id }) => !ended.has(id));
  const outdated = standing.filter(({ isOutdated }) => isOutdated);
  const updated = outdated.filter(takesContent);
  const restarted = updated.filter(({ inPlace }) => inPlace === 'restarted');
  return {
    create,
    replace: 0,
    restart: restarted.length,
    stop: instances.length - standing.length,
    keep: standing.length - restarted.length,
    waitForPlayers: restarted.filter(({ players }) => players > 0).length,
    older: outdated.length - updated.length,
  };
}

/** At once, or when its players have left. */
function takesContent(instance: PlannedInstance): boolean {
  return instance.inPlace !== 'refused' && planContent({ ...instance, players: 0 }).steps.length > 0;
}
