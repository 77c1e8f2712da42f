/**
 * Foretells what the controllers would do about changed contents in the present state. Minimum-service says which
 * instances are created and ended, and placement says which of them fit. It writes nothing and wakes no controller.
 */

import type { Forecast, PlannedContent, ServiceForecast } from '../../../src/operations/plan/forecast.js';
import { needsNoStart } from '../content/instance-updates.js';
import { contentFactsOf } from '../content/reconciler.js';
import type { MinimumService } from '../minimum-service/reconciler.js';
import { NO_ROLLOUT } from '../rollout/foretell.js';
import type { Rollouts } from '../rollout/reconciler.js';
import { addVictims, fatesOf, forecastOf, outcomeOf, outcomeWithout, type PlannedInstance } from './plan.js';
import { placeInstead, Room } from './room.js';
import { StillPlaces, type StillPlacesOptions } from './still-places.js';

interface ForecastSources extends StillPlacesOptions {
  readonly minimumService: Pick<MinimumService, 'factsUnder' | 'leavers'>;
  readonly foretellRollout: Rollouts['foretell'];
}

/**
 * Foretells all contents together. Creations get places before replacements, because a rollout replaces later, step by
 * step.
 */
export function forecast(sources: ForecastSources, contents: readonly PlannedContent[]): Forecast {
  const places = new StillPlaces(sources);
  const planned = contents.map((content) => planOne(sources, places, content));
  for (const { outcome } of planned) for (const id of outcome.ended) places.end(id);
  const begun = planned.map((one) => ({ ...one, fates: fatesOf(one.instances, one.outcome) }));
  const room = new Room();
  for (const { configurationName, refusal } of places.placeWaiting()) room.note(configurationName, [refusal]);
  for (const { name, offered, outcome } of planned)
    if (offered !== null) room.placeAll(name, outcome.create, () => places.place(offered.inForce));
  const services = new Map<string, ServiceForecast>();
  for (const { name, offered, instances, outcome, fates, rollout } of begun) {
    const victims = addVictims(fates, instances, rollout).filter(({ hasSpare }) => !hasSpare);
    room.placeAll(name, victims.length, (index) => {
      const victim = victims[index];
      return offered === null || victim === undefined
        ? undefined
        : placeInstead(places, offered.target, victim, rollout.budget);
    });
    for (const fate of fates.of.values()) if (typeof fate === 'object') room.note(name, [fate.refusal]);
    services.set(name, forecastOf(instances, fates, { ...outcome, ...rollout }));
  }
  return { services, shortages: room.shortages(), unjudged: room.unjudged };
}

function planOne(sources: ForecastSources, places: StillPlaces, { name, to }: PlannedContent) {
  const { minimumService, foretellRollout, contents, instances: all, instancesByConfiguration } = sources;
  const records = [...instancesByConfiguration.get(name)]
    .flatMap((id) => all.get(id)?.value ?? [])
    .filter(({ desired }) => desired.goal !== 'remove');
  if (to === null) {
    const outcome = outcomeWithout(minimumService.leavers.without(name));
    const instances = records.map(({ id }) => ({ ...LEFT_ALONE, id }));
    return { name, offered: null, instances, outcome, rollout: NO_ROLLOUT };
  }
  const service = minimumService.factsUnder(to.configuration);
  const outcome = outcomeOf(service);
  const standing = records.length - outcome.ended.size + outcome.create;
  const isAtMaximum = standing >= (service.maximum ?? Number.POSITIVE_INFINITY);
  const rollout = foretellRollout(to, { isAtMaximum, leaving: outcome.ended });
  const offered = {
    inForce: contents.expectedUnder(to, rollout.rollout),
    target: rollout.rollout === undefined ? to : contents.targetUnder(to, rollout.rollout),
  };
  const { inForce, target } = offered;
  const fitting = { contents, refusal: () => undefined };
  const instances = records.map((record): PlannedInstance => {
    const facts = contentFactsOf(record, offered, fitting);
    return {
      id: record.id,
      facts,
      isOtherProcess: !contents.isLive(record, to),
      byItself: () => (needsNoStart(record, inForce, contents) ? 'taken' : places.update(record, inForce)),
      inPlace: () => places.update(record, target),
    };
  });
  return { name, offered, instances, outcome, rollout };
}

/** An instance whose configuration is removed: it takes no other content. */
const LEFT_ALONE: Omit<PlannedInstance, 'id'> = {
  facts: null,
  isOtherProcess: false,
  byItself: () => 'taken',
  inPlace: () => 'taken',
};
