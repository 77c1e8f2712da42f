/**
 * Foretells what becomes of the instances of one configuration under a content that is not in force yet. It runs the plan of
 * minimum-service until that has nothing to do. Pure.
 */
import type { ServiceForecast } from '../../../src/operations/plan/forecast.js';
import { plan as planService, type ServiceFacts } from '../minimum-service/plan.js';

export interface ServiceFuture {
  /** The instances that are there, and are to stay as far as anybody asked. */
  readonly instances: readonly PlannedInstance[];
  /** The content; null: none. */
  readonly hash: string | null;
}

export interface PlannedInstance {
  readonly id: string;
  readonly revision: string;
}

export interface Outcome {
  readonly create: number;
  readonly ended: ReadonlySet<string>;
}

/** More passes than any plan needs: each creates or ends something. */
const MOST_PASSES = 10_000;

/** What minimum-service creates and ends, while new instances do not fail. */
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

export function forecastOf({ instances, hash }: ServiceFuture, { create, ended }: Outcome): ServiceForecast {
  const kept = instances.filter(({ id }) => !ended.has(id));
  return {
    create,
    replace: 0,
    restart: 0,
    stop: instances.length - kept.length,
    keep: kept.length,
    waitForPlayers: 0,
    older: kept.filter(({ revision }) => hash !== null && revision !== hash).length,
  };
}
