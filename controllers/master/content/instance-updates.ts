/**
 * Gives instances another content in place: same id, same node, same directory where they are static. A running
 * instance is restarted by its node; a stopped instance takes the content at its next start.
 */

import { DroverError } from '../../../src/model/errors.js';
import { type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { unknownConfiguration } from '../../../src/model/unknown.js';
import type { UpdateOutcome } from '../../../src/operations/writes.js';
import type { ContentsInForce } from '../../../src/state/contents-in-force.js';
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
  /** The content to give. Default: the content in force. */
  readonly content?: InstanceContent;
  /**
   * Says whether the update is still due. It is asked about the newest record before each try; false ends the
   * update. Default: always due.
   */
  readonly isDue?: (record: InstanceRecord) => boolean;
  /**
   * Updates only if the content needs no restart; otherwise the outcome is `not-due`. A restart that a rollout asks for
   * is left to that rollout.
   */
  readonly isOnlyLive?: boolean;
}

export class InstanceUpdates {
  readonly #options: InstanceUpdatesOptions;

  constructor(options: InstanceUpdatesOptions) {
    this.#options = options;
  }

  /**
   * Gives an instance another content in place: same id, node and directory, and the same port if the content allows
   * it. Default: the content in force.
   * A running instance is restarted. Repeatable. Throws DRV_CONFIGURATION_UNKNOWN, or DRV_UPDATE_REFUSED when its node
   * does not fit the content.
   */
  update(id: string, options: UpdateOptions = {}): Promise<UpdateOutcome> {
    return this.#options.instanceRecords.turns.run(id, () => this.#update(id, options));
  }

  /**
   * The content that `update` would give; undefined: the instance has it already. Throws what `update` would throw now.
   * Writes nothing.
   */
  check(record: InstanceRecord): string | undefined {
    const content = this.#options.contents.of(record.configurationName);
    if (content === undefined) throw unknownConfiguration(record.configurationName);
    if (content.hash === record.revision) return undefined;
    if (!this.#options.contents.isLive(record, content)) this.#next(record, content);
    return content.hash;
  }

  /** Why `update` would now refuse to give an instance the content in force; undefined: `update` would not refuse. */
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
   * Asks that an instance takes the content in force as soon as it has no players. Resolves with the hash of that
   * content; undefined: the instance has it already. Throws DRV_INSTANCE_UNKNOWN, and what `update` would throw now.
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
      if (isOnlyLive === true && !contents.isLive(current.value, taken)) return 'not-due';
      const isCurrent = isOnlyLive === true || needsNoStart(current.value, taken, contents);
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

  /**
   * Writes the changed record. The operation `kept` keeps the content from being deleted before the record names it.
   */
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
   * The changed record. An instance that its node holds gets a new place on that node, even while it is being stopped,
   * because a start may come before the stop is complete. An instance at rest gets its place when it starts.
   */
  #next(before: InstanceRecord, content: InstanceContent): PlaceAgain {
    refuseLossOfFiles(before, content);
    const next = withContent(before, content);
    const { placement } = before;
    if (placement === null || isAtRest(before)) return asItIs(next);
    // The former run holds what it has until its node reports its end (`StatusIntake`).
    const held = { ramMB: Math.max(before.ramMB, next.ramMB), cpu: Math.max(before.cpu, next.cpu) };
    return this.#options.placement.placeAgain({ before, next: { ...next, ...held }, content });
  }
}

/** True when the content needs no restart (`ContentsInForce.isLive`), and no rollout asks for one. */
export function needsNoStart(
  record: InstanceRecord,
  content: InstanceContent,
  contents: Pick<ContentsInForce, 'isLive'>,
): boolean {
  return contents.isLive(record, content) && (content.generation ?? 0) <= (record.generation ?? 0);
}

function asItIs(record: InstanceRecord): PlaceAgain {
  return { record, promise: () => () => undefined };
}

/**
 * True when an update would empty the instance's directory: the instance is static and the content is not. A
 * directory that is not static is made afresh at each start.
 */
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
