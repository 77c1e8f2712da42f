/**
 * Foretells what the controllers would do about changed contents in the present state. Minimum-service says which
 * instances are created and ended, and placement says which of them fit. It writes nothing and wakes no controller.
 */

import type { InstanceRecord } from '../../../src/model/instance.js';
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
  /** The content that the rollout brings. */
  readonly target: InstanceContent | null;
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
    for (const {
      content: { name },
      target,
      instances,
      outcome,
      fates,
      rollout,
    } of begun) {
      const victims = addVictims(fates, instances, rollout).filter(({ hasSpare }) => !hasSpare);
      room.placeAll(name, victims.length, (index) => {
        const victim = victims[index];
        return target === null || victim === undefined
          ? undefined
          : placeInstead(places, target, victim, rollout.budget);
      });
      for (const fate of fates.of.values()) if (typeof fate === 'object') room.note(name, [fate.refusal]);
      services.set(name, forecastOf(instances, fates, { ...outcome, ...rollout }));
    }
    return { services, shortages: room.shortages(), unjudged: room.unjudged };
  }

  #plan(content: PlannedContent, places: StillPlaces): Planned {
    const { minimumService, foretellRollout, contents } = this.#options;
    const { name, to } = content;
    if (to === null) {
      const outcome = outcomeWithout(minimumService.leavers.without(name));
      const instances = this.#instancesOf(content, places, null);
      return { content, made: null, target: null, instances, outcome, rollout: NO_ROLLOUT };
    }
    const service = minimumService.factsUnder(to.configuration);
    const outcome = outcomeOf(service);
    const standing = this.#records(name).length - outcome.ended.size + outcome.create;
    const isAtMaximum = standing >= (service.maximum ?? Number.POSITIVE_INFINITY);
    const rollout = foretellRollout(to, { isAtMaximum, leaving: outcome.ended });
    const made = contents.expectedUnder(to, rollout.rollout);
    const target = rollout.rollout === undefined ? to : contents.targetUnder(to, rollout.rollout);
    const instances = this.#instancesOf(content, places, { inForce: made, target });
    return { content, made, target, instances, outcome, rollout };
  }

  #instancesOf(
    { name, to }: PlannedContent,
    places: StillPlaces,
    offered: { readonly inForce: InstanceContent; readonly target: InstanceContent } | null,
  ): PlannedInstance[] {
    return this.#records(name).map((record) => ({
      id: record.id,
      facts: offered && contentFactsOf(record, offered, this.#options),
      isOtherProcess: to !== null && !isLive(record, to, this.#options),
      byItself: () =>
        offered === null || needsNoStart(record, offered.inForce, this.#options)
          ? 'taken'
          : places.update(record, offered.inForce),
      inPlace: () => (offered === null ? { refusal: '' } : places.update(record, offered.target)),
    }));
  }

  #records(name: string): InstanceRecord[] {
    const { instances, instancesByConfiguration } = this.#options;
    return [...instancesByConfiguration.get(name)]
      .flatMap((id) => instances.get(id)?.value ?? [])
      .filter(({ desired }) => desired.goal !== 'remove');
  }
}
