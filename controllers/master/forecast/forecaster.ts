/**
 * Foretells what the controllers would make of changed contents, on the state as it is: minimum-service says what is created
 * and ended, placement what fits. It writes nothing and wakes no controller.
 */
import type { Clock } from '../../../src/loop/clock.js';
import { DroverError } from '../../../src/model/errors.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type {
  Forecast,
  Forecaster,
  PlannedContent,
  ServiceForecast,
  Shortage,
} from '../../../src/operations/plan/forecast.js';
import { type InstanceContent, withContent } from '../../../src/store/instances/instance-changes.js';
import { isHeldByNode, losesFiles } from '../../../src/store/instances/instance-updates.js';
import type { LookupReader } from '../../../src/store/lookup.js';
import type { MinimumService } from '../minimum-service/reconciler.js';
import { type AgainOptions, placementAgain } from '../placement/again.js';
import { forecastOf, type Outcome, outcomeOf, type PlannedInstance, type UpdateOutlook } from './plan.js';
import { StillPlaces, type StillPlacesOptions } from './still-places.js';

/** New instances that are looked for a place: each takes some 10 µs, in which the master does nothing else. */
const MOST_PLACED = 10_000;

export interface ContentForecasterOptions extends StillPlacesOptions, AgainOptions {
  readonly clock: Clock;
  readonly instancesByConfiguration: LookupReader<string>;
  readonly minimumService: Pick<MinimumService, 'factsUnder'>;
}

interface Planned extends Outcome {
  readonly content: PlannedContent;
  readonly instances: readonly PlannedInstance[];
}

export class ContentForecaster implements Forecaster {
  readonly #options: ContentForecasterOptions;

  constructor(options: ContentForecasterOptions) {
    this.#options = options;
  }

  forecast(contents: readonly PlannedContent[]): Forecast {
    const planned = contents.map((content): Planned => {
      const instances = this.#instancesOf(content);
      const { minimumService } = this.#options;
      const service = content.to === null ? null : minimumService.factsUnder(content.to.configuration);
      return { content, instances, ...outcomeOf(service) };
    });
    const services = new Map<string, ServiceForecast>();
    for (const { content, instances, ...outcome } of planned)
      services.set(content.name, forecastOf(instances, outcome));
    return { services, ...this.#placeAll(planned) };
  }

  #instancesOf({ name, to }: PlannedContent): PlannedInstance[] {
    const { instances, instancesByConfiguration } = this.#options;
    return [...instancesByConfiguration.get(name)]
      .flatMap((id) => instances.get(id)?.value ?? [])
      .filter(({ desired }) => desired.goal !== 'remove')
      .map((record) => ({
        id: record.id,
        isOutdated: to !== null && to.hash !== record.revision,
        isAsked: record.desired.updateWhenEmpty === true,
        players: record.status.players ?? 0,
        inPlace: to === null ? 'refused' : this.#outlookInPlace(record, to),
      }));
  }

  /** As `InstanceUpdates` decides it. */
  #outlookInPlace(before: InstanceRecord, content: InstanceContent): UpdateOutlook {
    if (losesFiles(before, content)) return 'refused';
    if (!isHeldByNode(before)) return 'taken';
    try {
      placementAgain(this.#options, { before, next: withContent(before, content), content });
      return 'restarted';
    } catch (error) {
      if (!DroverError.is(error, 'DRV_UPDATE_REFUSED')) throw error;
      return 'refused';
    }
  }

  #placeAll(planned: readonly Planned[]): Pick<Forecast, 'shortages' | 'unjudged'> {
    if (planned.every(({ create }) => create === 0)) return { shortages: [], unjudged: 0 };
    const places = new StillPlaces(this.#options);
    for (const { ended } of planned) for (const id of ended) places.end(id);
    places.placeWaiting();
    const shortages: Shortage[] = [];
    let left = MOST_PLACED;
    let unjudged = 0;
    for (const { content, create } of planned) {
      if (content.to === null || create === 0) continue;
      const wanted = Math.min(create, left);
      left -= wanted;
      unjudged += create - wanted;
      shortages.push(...shortageOf(places, { name: content.name, wanted }, content.to));
    }
    return { shortages, unjudged };
  }
}

/** All instances of a content ask the same, so when one fits nowhere none of the others does. */
function shortageOf(
  places: StillPlaces,
  { name, wanted }: { readonly name: string; readonly wanted: number },
  content: InstanceContent,
): Shortage[] {
  for (let placed = 0; placed < wanted; placed++) {
    const message = places.place(content);
    if (message !== undefined)
      return [{ configurationName: name, wanted, missing: wanted - placed, message }];
  }
  return [];
}
