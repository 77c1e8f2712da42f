/**
 * Foretells what the controllers would do about changed contents in the present state. Minimum-service says which
 * instances are created and ended, and placement says which of them fit. It writes nothing and wakes no controller.
 */
import type {
  Forecast,
  Forecaster,
  PlannedContent,
  ServiceForecast,
} from '../../../src/operations/plan/forecast.js';
import type { InstanceContent } from '../../../src/state/instance-changes.js';
import { isLive, needsNoStart } from '../content/instance-updates.js';
import { contentFactsOf } from '../content/reconciler.js';
import type { MinimumService } from '../minimum-service/reconciler.js';
import { type Foretold, NO_ROLLOUT } from '../rollout/foretell.js';
import type { Rollouts } from '../rollout/reconciler.js';
import {
  addVictims,
  fatesOf,
  forecastOf,
  type Outcome,
  outcomeOf,
  outcomeWithout,
  type PlannedInstance,
} from './plan.js';
import { placeInstead, Room } from './room.js';
import { StillPlaces, type StillPlacesOptions } from './still-places.js';

interface ContentForecasterOptions extends StillPlacesOptions {
  readonly minimumService: Pick<MinimumService, 'factsUnder' | 'leavers'>;
  readonly foretellRollout: Rollouts['foretell'];
}

interface Planned {
  readonly content: PlannedContent;
  /** The content for new instances, which existing instances take without being replaced. */
  readonly made: InstanceContent | null;
  readonly isHeldBack: boolean;
  readonly instances: readonly PlannedInstance[];
  readonly outcome: Outcome;
  readonly rollout: Foretold;
}

export class ContentForecaster implements Forecaster {
  readonly #options: ContentForecasterOptions;

  constructor(options: ContentForecasterOptions) {
    this.#options = options;
  }

  /**
   * Foretells all contents together. Creations get places before replacements, because a rollout replaces later, step
   * by step.
   */
  forecast(contents: readonly PlannedContent[]): Forecast {
    const places = new StillPlaces(this.#options);
    const planned = contents.map((content) => this.#plan(content, places));
    for (const { outcome } of planned) for (const id of outcome.ended) places.end(id);
    const begun = planned.map((one) => ({ ...one, fates: fatesOf(one.instances, one.outcome) }));
    const room = new Room();
    for (const { configurationName, refusal } of places.placeWaiting())
      room.note(configurationName, [refusal]);
    for (const { content, made, outcome } of planned)
      if (made !== null) room.placeAll(content.name, outcome.create, () => places.place(made));
    const services = new Map<string, ServiceForecast>();
    for (const { content, instances, outcome, fates, rollout, isHeldBack } of begun) {
      const { name, to } = content;
      const victims = addVictims(fates, instances, rollout).filter(({ hasSpare }) => !hasSpare);
      room.placeAll(name, victims.length, (index) => {
        const victim = victims[index];
        return to === null || victim === undefined
          ? undefined
          : placeInstead(places, to, victim, rollout.budget);
      });
      for (const fate of fates.of.values()) if (typeof fate === 'object') room.note(name, [fate.refusal]);
      services.set(name, forecastOf(instances, fates, { ...outcome, ...rollout, isHeldBack }));
    }
    return { services, shortages: room.shortages(), unjudged: room.unjudged };
  }

  #plan(content: PlannedContent, places: StillPlaces): Planned {
    const { minimumService, foretellRollout, contents } = this.#options;
    const { to } = content;
    const made = to && contents.expectedUnder(to);
    const isHeldBack = to !== null && contents.isHeldBackUnder(to);
    const instances = this.#instancesOf({ content, made, isHeldBack }, places);
    const service = to === null ? null : minimumService.factsUnder(to.configuration);
    const outcome =
      service === null ? outcomeWithout(minimumService.leavers.without(content.name)) : outcomeOf(service);
    const standing = instances.length - outcome.ended.size + outcome.create;
    const isAtMaximum = standing >= (service?.maximum ?? Number.POSITIVE_INFINITY);
    const rollout = to === null ? NO_ROLLOUT : foretellRollout(to, isAtMaximum);
    return { content, made, isHeldBack, instances, outcome, rollout };
  }

  #instancesOf(
    { content: { name, to }, made, isHeldBack }: Pick<Planned, 'content' | 'made' | 'isHeldBack'>,
    places: StillPlaces,
  ): PlannedInstance[] {
    const { instances, instancesByConfiguration } = this.#options;
    // While canaries run, only they have the new content.
    const target = isHeldBack ? undefined : (to ?? undefined);
    return [...instancesByConfiguration.get(name)]
      .flatMap((id) => instances.get(id)?.value ?? [])
      .filter(({ desired }) => desired.goal !== 'remove')
      .map((record) => ({
        facts: made && contentFactsOf(record, { inForce: made, target }, this.#options),
        id: record.id,
        isOtherProcess: to !== null && !isLive(record, to, this.#options),
        byItself: () =>
          made === null || needsNoStart(record, made, this.#options) ? 'taken' : places.update(record, made),
        inPlace: () => (to === null ? { refusal: '' } : places.update(record, to)),
      }));
  }
}
