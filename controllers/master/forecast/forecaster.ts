/**
 * Foretells what the controllers would do about changed contents in the present state. Minimum-service says which
 * instances are created and ended, and placement says which of them fit. It writes nothing and wakes no controller.
 */

import { Pace } from '../../../src/loop/pace.js';
import type { ConfigurationContent } from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { Forecast, PlannedContent, ServiceForecast } from '../../../src/operations/plan/forecast.js';
import type { ContentsInForce } from '../../../src/state/contents-in-force.js';
import { needsNoStart } from '../content/instance-updates.js';
import type { ContentFacts } from '../content/plan.js';
import { contentFactsOf, type OfferedContents } from '../content/reconciler.js';
import type { MinimumService } from '../minimum-service/reconciler.js';
import { NO_ROLLOUT } from '../rollout/foretell.js';
import type { Rollouts } from '../rollout/reconciler.js';
import {
  addVictims,
  type Fates,
  fatesOf,
  forecastOf,
  outcomeOf,
  outcomeWithout,
  type PlannedInstance,
  type UpdateOutlook,
} from './plan.js';
import { placeInstead, Room } from './room.js';
import { StillPlaces, type StillPlacesOptions } from './still-places.js';

interface ForecastSources extends StillPlacesOptions {
  readonly minimumService: Pick<MinimumService, 'factsUnder' | 'leavers'>;
  readonly foretellRollout: Rollouts['foretell'];
}

/**
 * Foretells all contents together. Creations get places before replacements, because a rollout replaces later, step by
 * step. The work is done in several turns; what changes meanwhile may count or not.
 */
export async function forecast(
  sources: ForecastSources,
  contents: readonly PlannedContent[],
): Promise<Forecast> {
  const pace = new Pace();
  const places = new StillPlaces(sources);
  const planned: ReturnType<typeof planOne>[] = [];
  for (const content of contents) {
    if (pace.isOver) await pace.rest();
    planned.push(planOne(sources, places, content));
  }
  for (const { outcome } of planned)
    for (const id of outcome.ended) {
      if (pace.isOver) await pace.rest();
      places.end(id);
    }
  const begun: ((typeof planned)[number] & { readonly fates: Fates })[] = [];
  for (const one of planned) {
    if (pace.isOver) await pace.rest();
    begun.push({ ...one, fates: await fatesOf(one.instances, one.outcome, pace) });
  }
  const room = new Room(pace, sources.nodes.size);
  for (const { configurationName, refusal } of await places.placeWaiting(pace))
    room.note(configurationName, [refusal]);
  for (const { name, offered, outcome } of planned)
    if (offered !== null) await room.placeAll(name, outcome.create, () => places.place(offered.inForce));
  const services = new Map<string, ServiceForecast>();
  for (const { name, offered, instances, outcome, fates, rollout } of begun) {
    if (pace.isOver) await pace.rest();
    const added = await addVictims(fates, { instances, rollout }, pace);
    const victims = added.filter(({ hasSpare }) => !hasSpare);
    await room.placeAll(name, victims.length, (index) => {
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
  const records: InstanceRecord[] = [];
  for (const id of instancesByConfiguration.get(name)) {
    const record = all.get(id)?.value;
    if (record !== undefined && record.desired.goal !== 'remove') records.push(record);
  }
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
  const update = { ...offered, to, contents, places, refusal: () => undefined };
  const instances = records.map((record) => new Updated(record, update));
  return { name, offered, instances, outcome, rollout };
}

interface Update extends OfferedContents {
  readonly to: ConfigurationContent;
  readonly contents: ContentsInForce;
  readonly places: StillPlaces;
  /** `byItself` finds out whether the node refuses. */
  readonly refusal: () => undefined;
}

/** An instance under the contents of the plan. It works out what it is asked for: there may be 100,000 of them. */
class Updated implements PlannedInstance {
  readonly id: string;
  // No private fields: they would make each of them several times slower to build.
  readonly record: InstanceRecord;
  readonly update: Update;

  constructor(record: InstanceRecord, update: Update) {
    this.id = record.id;
    this.record = record;
    this.update = update;
  }

  get facts(): ContentFacts {
    return contentFactsOf(this.record, this.update, this.update);
  }

  get isOtherProcess(): boolean {
    return !this.update.contents.isLive(this.record, this.update.to);
  }

  byItself(): UpdateOutlook {
    const { contents, inForce, places } = this.update;
    return needsNoStart(this.record, inForce, contents) ? 'taken' : places.update(this.record, inForce);
  }

  inPlace(): UpdateOutlook {
    return this.update.places.update(this.record, this.update.target);
  }
}

/** An instance whose configuration is removed: it takes no other content. */
const LEFT_ALONE: Omit<PlannedInstance, 'id'> = {
  facts: null,
  isOtherProcess: false,
  byItself: () => 'taken',
  inPlace: () => 'taken',
};
