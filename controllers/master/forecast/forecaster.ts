/**
 * Foretells what the controllers would make of changed contents, on the state as it is: minimum-service says what is created
 * and ended, placement what fits. It writes nothing and wakes no controller.
 */
import type { InstanceRecord } from '../../../src/model/instance.js';
import { isSameProcess } from '../../../src/model/rollout.js';
import type {
  Forecast,
  Forecaster,
  PlannedContent,
  ServiceForecast,
} from '../../../src/operations/plan/forecast.js';
import type { InstanceContent } from '../../../src/store/instances/instance-changes.js';
import type { LookupReader } from '../../../src/store/lookup.js';
import type { MinimumService } from '../minimum-service/reconciler.js';
import { type Foretold, NO_ROLLOUT } from '../rollout/foretell.js';
import type { Rollouts } from '../rollout/reconciler.js';
import { fatesOf, forecastOf, type Outcome, outcomeOf, type PlannedInstance } from './plan.js';
import { NO_VICTIM, Room } from './room.js';
import { StillPlaces, type StillPlacesOptions } from './still-places.js';

export interface ContentForecasterOptions extends StillPlacesOptions {
  readonly instancesByConfiguration: LookupReader<string>;
  readonly minimumService: Pick<MinimumService, 'factsUnder'>;
  readonly rollouts: Pick<Rollouts, 'foretell'>;
}

interface Planned {
  readonly content: PlannedContent;
  readonly instances: readonly PlannedInstance[];
  readonly outcome: Outcome;
  readonly rollout: Foretold;
}

export class ContentForecaster implements Forecaster {
  readonly #options: ContentForecasterOptions;

  constructor(options: ContentForecasterOptions) {
    this.#options = options;
  }

  /** What is created comes before what is replaced: that goes step by step. */
  forecast(contents: readonly PlannedContent[]): Forecast {
    const places = new StillPlaces(this.#options);
    const planned = contents.map((content) => this.#plan(content, places));
    for (const { outcome } of planned) for (const id of outcome.ended) places.end(id);
    places.placeWaiting();
    const room = new Room(places);
    for (const { content, outcome } of planned)
      room.placeAll(
        content,
        Array.from({ length: outcome.create }, () => NO_VICTIM),
      );
    const services = new Map<string, ServiceForecast>();
    for (const { content, instances, outcome, rollout } of planned) {
      const fates = fatesOf(instances, outcome, rollout);
      const needed = fates.replaced.filter(({ hasSpare }) => !hasSpare);
      room.placeAll(
        content,
        needed.map((victim) => ({ victim, budget: rollout.budget })),
      );
      room.note(content.name, fates);
      services.set(content.name, forecastOf(instances, fates, { ...outcome, ...rollout }));
    }
    return { services, shortages: room.shortages(), unjudged: room.unjudged };
  }

  #plan(content: PlannedContent, places: StillPlaces): Planned {
    const { minimumService, rollouts } = this.#options;
    const { to } = content;
    const instances = this.#instancesOf(content, places);
    const service = to === null ? null : minimumService.factsUnder(to.configuration);
    const outcome = outcomeOf(service);
    const standing = instances.length - outcome.ended.size + outcome.create;
    const isAtMaximum = standing >= (service?.maximum ?? Number.POSITIVE_INFINITY);
    const rollout = to === null ? NO_ROLLOUT : rollouts.foretell({ ...to, sourceFile: '' }, isAtMaximum);
    return { content, instances, outcome, rollout };
  }

  #instancesOf({ name, to }: PlannedContent, places: StillPlaces): PlannedInstance[] {
    const { instances, instancesByConfiguration } = this.#options;
    return [...instancesByConfiguration.get(name)]
      .flatMap((id) => instances.get(id)?.value ?? [])
      .filter(({ desired }) => desired.goal !== 'remove')
      .map((record) => ({
        id: record.id,
        isOutdated: to !== null && to.hash !== record.revision,
        isOtherProcess: to !== null && this.#isOtherProcess(record, to),
        isAsked: record.desired.updateWhenEmpty === true,
        players: record.status.players ?? 0,
        inPlace: () => (to === null ? { refusal: '' } : places.update(record, to)),
      }));
  }

  #isOtherProcess(
    { revision, placement }: InstanceRecord,
    { configuration, hash }: InstanceContent,
  ): boolean {
    const made = this.#options.revisions.get(revision)?.value;
    if (revision === hash) return false;
    return made === undefined || !isSameProcess(made, configuration, placement ?? undefined);
  }
}
