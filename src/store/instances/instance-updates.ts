/**
 * Gives instances another content in place, for `InstanceWriter`: same id, same node, same directory where they are static.
 * What runs is restarted by its node; what does not takes the content at its next start.
 */
import type { ConfigurationRecord } from '../../model/configuration.js';
import { DroverError } from '../../model/errors.js';
import { type InstanceRecord, isAtRest } from '../../model/instance.js';
import { unknownConfiguration } from '../../model/unknown.js';
import type { ContentsInForce } from '../contents-in-force.js';
import { configurationKey, instanceKey, revisionKey } from '../keys.js';
import type { MirrorReader } from '../mirror.js';
import { type RecordSet, untilShown } from '../modify.js';
import type { Operation } from '../store.js';
import { type InstanceContent, withContent, withContentAt } from './instance-changes.js';
import type { NewPlace } from './instance-creations.js';

const UPDATE_TRIES = 20;

export interface InstanceUpdatesOptions {
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly contents: ContentsInForce;
  readonly instanceRecords: RecordSet<InstanceRecord>;
  /**
   * Placement's answer for an instance that takes another content where it is, asked in the turn in which it is written.
   * Throws DRV_UPDATE_REFUSED when its node does not fit the content. Absent: it keeps its place as it is.
   */
  readonly placeAgain?: (update: PlacedUpdate) => NewPlace;
}

/** A placed instance and the content that it is to take. */
export interface PlacedUpdate {
  readonly before: InstanceRecord;
  /** With the new content, at the old place. */
  readonly next: InstanceRecord;
  readonly content: InstanceContent;
}

export interface UpdateOptions {
  /** Default: what is in force. */
  readonly content?: InstanceContent;
  /** Asked of the newest record before each try: false ends the update. Default: always due. */
  readonly isDue?: (record: InstanceRecord) => boolean;
}

/**
 * `restarted`: its node ends it and starts it with the new content. `taken`: nothing of it is up, and its next start has
 * the new content. `current`: it had that content. `not-due`: `isDue` said no, or there is no such instance any more.
 */
export type UpdateOutcome = 'restarted' | 'taken' | 'current' | 'not-due';

export class InstanceUpdates {
  readonly #options: InstanceUpdatesOptions;

  constructor(options: InstanceUpdatesOptions) {
    this.#options = options;
  }

  /** Resolves once it is durable and the mirror shows it. Throws DRV_UPDATE_REFUSED and DRV_CONFIGURATION_UNKNOWN. */
  update(id: string, options: UpdateOptions): Promise<UpdateOutcome> {
    return this.#options.instanceRecords.turns.run(id, () => this.#update(id, options));
  }

  /** Refuses what `update` would refuse now. Writes nothing. */
  check(record: InstanceRecord): void {
    const content = this.#options.contents.of(record.configurationName);
    if (content === undefined) throw unknownConfiguration(record.configurationName);
    if (content.hash !== record.revision) this.#next(record, content).end(false);
  }

  async #update(id: string, { content, isDue }: UpdateOptions): Promise<UpdateOutcome> {
    const { instanceRecords: set, configurations, contents } = this.#options;
    for (let tries = 1; ; tries++) {
      const current = set.mirror.get(id);
      if (current === undefined || current.value.desired.goal === 'remove') return 'not-due';
      if (isDue?.(current.value) === false) return 'not-due';
      const name = current.value.configurationName;
      const inForce = configurations.get(name);
      const taken = content ?? contents.of(name);
      if (taken === undefined) throw unknownConfiguration(name);
      const isCurrent =
        taken.hash === current.value.revision && (taken.generation ?? 0) <= (current.value.generation ?? 0);
      if (isCurrent && current.value.desired.updateWhenEmpty === undefined) return 'current';
      const kept: Operation =
        content === undefined
          ? { do: 'check', key: configurationKey(name), expectedRevision: inForce?.revision ?? 0 }
          : { do: 'put', key: revisionKey(taken.hash), value: taken.configuration };
      const next = isCurrent ? asItIs(withContent(current.value, taken)) : this.#next(current.value, taken);
      try {
        await this.#write(next, current.revision, kept);
        if (isCurrent) return 'current';
        return next.record.desired.restartToken === current.value.desired.restartToken
          ? 'taken'
          : 'restarted';
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= UPDATE_TRIES) throw error;
      }
      await Promise.all([untilShown(set.store, configurations), untilShown(set.store, set.mirror)]);
    }
  }

  /** `kept` keeps the content from being collected before the record names it. */
  async #write({ record, end }: NewPlace, expectedRevision: number, kept: Operation): Promise<void> {
    const { store, mirror } = this.#options.instanceRecords;
    let isWritten = false;
    try {
      const key = instanceKey(record.id);
      await mirror.until(
        await store.transact([{ do: 'update', key, value: record, expectedRevision }, kept]),
      );
      isWritten = true;
    } finally {
      end(isWritten);
    }
  }

  #next(before: InstanceRecord, content: InstanceContent): NewPlace {
    refuseLossOfFiles(before, content);
    const next = withContent(before, content);
    const { placement } = before;
    if (placement === null || !isHeldByNode(before)) return asItIs(next);
    return this.#options.placeAgain?.({ before, next, content }) ?? asItIs(withContentAt(next, placement));
  }
}

function asItIs(record: InstanceRecord): NewPlace {
  return { record, end: () => undefined };
}

/** A node holds it, so it is placed anew where it is. A start gives what is at rest another place, by the new content. */
export function isHeldByNode(record: InstanceRecord): boolean {
  return record.placement !== null && record.desired.goal === 'run' && !isAtRest(record);
}

/** A directory that is not static is made afresh at each start. */
export function losesFiles(before: InstanceRecord, { configuration }: InstanceContent): boolean {
  return before.static && !configuration.static;
}

function refuseLossOfFiles(before: InstanceRecord, content: InstanceContent): void {
  const { configuration } = content;
  if (!losesFiles(before, content)) return;
  throw new DroverError(
    'DRV_UPDATE_REFUSED',
    `instance ${before.id} is static and ${configuration.name} is not any more: an update would empty its directory. Delete it, and the directory stays`,
  );
}
