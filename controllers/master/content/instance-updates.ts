/**
 * Gives instances another content in place: same id, same node, same directory where they are static.
 * What runs is restarted by its node; what does not takes the content at its next start.
 */

import { DroverError } from '../../../src/model/errors.js';
import { changedFields, strongestClass } from '../../../src/model/field-class.js';
import { type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { unknownConfiguration } from '../../../src/model/unknown.js';
import type { UpdateOutcome } from '../../../src/operations/writes.js';
import { type InstanceContent, withContent, withLiveContent } from '../../../src/state/instance-changes.js';
import { visibleInstance } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { configurationKey, instanceKey, revisionKey } from '../../../src/store/keys.js';
import { modify, untilShown } from '../../../src/store/modify.js';
import type { Operation } from '../../../src/store/store.js';
import type { PlaceAgain, Placement } from '../placement/reconciler.js';

const UPDATE_TRIES = 20;

interface InstanceUpdatesOptions extends StateRecords {
  readonly placement: Pick<Placement, 'placeAgain'>;
}

interface UpdateOptions {
  /** Default: what is in force. */
  readonly content?: InstanceContent;
  /** Asked of the newest record before each try: false ends the update. Default: always due. */
  readonly isDue?: (record: InstanceRecord) => boolean;
  /**
   * Only where nothing has to be restarted for the content; else `not-due`. A restart that its rollout asks for is still
   * to come then.
   */
  readonly isOnlyLive?: boolean;
}

export class InstanceUpdates {
  readonly #options: InstanceUpdatesOptions;

  constructor(options: InstanceUpdatesOptions) {
    this.#options = options;
  }

  /**
   * Gives an instance another content where it is: same id, node and directory, and the same port where the content allows
   * it. Default: the content in force. What runs is restarted. Repeatable. Throws DRV_UPDATE_REFUSED when its node does
   * not fit the content, and DRV_CONFIGURATION_UNKNOWN.
   */
  update(id: string, options: UpdateOptions = {}): Promise<UpdateOutcome> {
    return this.#options.instanceRecords.turns.run(id, () => this.#update(id, options));
  }

  /** The content that `update` would give; undefined: it has it. Throws what that would throw now. Writes nothing. */
  check(record: InstanceRecord): string | undefined {
    const content = this.#options.contents.of(record.configurationName);
    if (content === undefined) throw unknownConfiguration(record.configurationName);
    if (content.hash === record.revision) return undefined;
    if (!isLive(record, content, this.#options)) this.#next(record, content);
    return content.hash;
  }

  /** Why `update` would refuse an instance the content in force now, in words; undefined: it would not. */
  refusal(record: InstanceRecord): string | undefined {
    try {
      this.check(record);
      return undefined;
    } catch (error) {
      if (DroverError.is(error, 'DRV_UPDATE_REFUSED')) return error.message;
      throw error;
    }
  }

  /**
   * Asks that an instance takes the content in force as soon as it has no players. Resolves with the hash of that content;
   * undefined: it has it. Throws DRV_INSTANCE_UNKNOWN, and as `update` what that would throw now.
   */
  async updateWhenEmpty(id: string): Promise<string | undefined> {
    const { instanceRecords } = this.#options;
    const asked = this.check(visibleInstance(instanceRecords.mirror, id));
    if (asked !== undefined)
      await modify(instanceRecords, id, (record) =>
        record.desired.goal === 'remove' || record.desired.updateWhenEmpty === true
          ? undefined
          : { ...record, desired: { ...record.desired, updateWhenEmpty: true as const } },
      );
    return asked;
  }

  async #update(id: string, { content, isDue, isOnlyLive }: UpdateOptions): Promise<UpdateOutcome> {
    const { instanceRecords: set, configurations, contents } = this.#options;
    for (let tries = 1; ; tries++) {
      const current = set.mirror.get(id);
      if (current === undefined || current.value.desired.goal === 'remove') return 'not-due';
      if (isDue?.(current.value) === false) return 'not-due';
      const name = current.value.configurationName;
      const inForce = configurations.get(name);
      const taken = content ?? contents.of(name);
      if (taken === undefined) throw unknownConfiguration(name);
      if (isOnlyLive === true && !isLive(current.value, taken, this.#options)) return 'not-due';
      const isCurrent = isOnlyLive === true || needsNoStart(current.value, taken, this.#options);
      const isAsked = current.value.desired.updateWhenEmpty !== undefined;
      if (isCurrent && taken.hash === current.value.revision && !isAsked) return 'current';
      const kept: Operation =
        content === undefined
          ? { do: 'check', key: configurationKey(name), expectedRevision: inForce?.revision ?? 0 }
          : { do: 'put', key: revisionKey(taken.hash), value: taken.configuration };
      const next = isCurrent
        ? asItIs(withLiveContent(current.value, taken))
        : this.#next(current.value, taken);
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
  async #write({ record, promise }: PlaceAgain, expectedRevision: number, kept: Operation): Promise<void> {
    const { store, mirror } = this.#options.instanceRecords;
    const end = promise();
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

  /**
   * What its node holds is placed anew where it is, also while it is being stopped: a start before it has stopped keeps the
   * place. A start gives what is at rest another place, by the new content.
   */
  #next(before: InstanceRecord, content: InstanceContent): PlaceAgain {
    refuseLossOfFiles(before, content);
    const next = withContent(before, content);
    const { placement } = before;
    if (placement === null || isAtRest(before)) return asItIs(next);
    return this.#options.placement.placeAgain({ before, next, content });
  }
}

/** True when an instance needs no restart to have a content: it differs at most in fields that hold at once. */
export function isLive(
  { revision, placement }: InstanceRecord,
  { configuration, hash }: InstanceContent,
  { revisions }: Pick<InstanceUpdatesOptions, 'revisions'>,
): boolean {
  if (hash === revision) return true;
  const before = revisions.get(revision)?.value;
  if (before === undefined) return false;
  const asked = strongestClass(changedFields(before, configuration, placement ?? undefined));
  return asked === null || asked === 'live';
}

/** The same, and no rollout asks for a restart. */
export function needsNoStart(
  record: InstanceRecord,
  content: InstanceContent,
  sources: Pick<InstanceUpdatesOptions, 'revisions'>,
): boolean {
  return isLive(record, content, sources) && (content.generation ?? 0) <= (record.generation ?? 0);
}

function asItIs(record: InstanceRecord): PlaceAgain {
  return { record, promise: () => () => undefined };
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
