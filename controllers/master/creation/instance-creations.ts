/**
 * Creates instances: one for a client, the missing ones of a minimum, one in another's place. Each
 * transaction checks that the configuration has not changed.
 */

import type { Clock, TimerHandle } from '../../../src/loop/clock.js';
import type { ConfigurationRecord } from '../../../src/model/configuration.js';
import { DroverError, invalidRequest } from '../../../src/model/errors.js';
import { type JobOrder, jobRunOf } from '../../../src/model/fields/job.js';
import type { InstanceRecord, Maker } from '../../../src/model/instance.js';
import { instanceIdOf, randomInstanceId } from '../../../src/model/names.js';
import { unknownConfiguration } from '../../../src/model/unknown.js';
import type { AdoptOptions } from '../../../src/operations/writes.js';
import type { ContentInForce } from '../../../src/state/contents-in-force.js';
import { newInstance, withGoal } from '../../../src/state/instance-changes.js';
import { wantedOf } from '../../../src/state/left-of-record.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { configurationKey, instanceKey, rolloutKey } from '../../../src/store/keys.js';
import { untilShown } from '../../../src/store/modify.js';
import { MAX_OPERATIONS, type Operation } from '../../../src/store/store.js';
import type { NewPlace, Placement } from '../placement/reconciler.js';

const NO_ORDER: JobOrder = { parameters: {} };
const CREATE_TRIES = 20;
/** How long a client's creation waits for the first placement pass. */
const PATIENCE_MS = 250;

interface InstanceCreationsOptions extends StateRecords {
  readonly clock: Clock;
  /** Makes an id, which may already be in use. Default: a random id. */
  readonly newInstanceId?: () => string;
  /**
   * Tells whether the file of a configuration still matches its record. When it does not, the record is about to change
   * or be removed, and only clients may create instances. Default: always true.
   */
  readonly isInForce?: (configuration: ConfigurationRecord) => Promise<boolean>;
  readonly placement: Pick<Placement, 'placeNew'>;
}

/** Records to create, and the other operations of the same transaction. */
interface Creation {
  readonly records: readonly InstanceRecord[];
  readonly beside: readonly Operation[];
  /** True when no client asked for the creation. */
  readonly isAutomatic?: boolean;
  /**
   * True: creates nothing when no place fits. The creation then throws DRV_ADOPTION_REFUSED with placement's
   * explanation.
   */
  readonly mustFit?: boolean;
}

interface MissingInstances {
  readonly count: number;
  /** Instances on lost nodes, at most `count`, that the first new instances replace. */
  readonly replaces: readonly string[];
}

interface ReplaceOptions {
  /** `rollout`: the new instance gets the content that the rollout brings. Default: the content for new instances. */
  readonly content?: 'rollout';
  /** The same transaction removes the old instance. */
  readonly removeFirst: boolean;
  /** Returns more operations for the same transaction. Called before each try; an error ends the replacement. */
  readonly beside?: () => readonly Operation[];
}

export class InstanceCreations {
  readonly #options: InstanceCreationsOptions;
  /** The number of instances that are being created, by configuration. */
  readonly #creating = new Map<string, number>();
  /**
   * By instance id: the function to call when a placement pass has looked at the instance, or when the
   * instance is gone.
   */
  readonly #awaited = new Map<string, () => void>();

  constructor(options: InstanceCreationsOptions) {
    this.#options = options;
    options.instances.onChange((id, after) => {
      if (this.#awaited.size > 0 && (after === undefined || isAnswered(after.value)))
        this.#awaited.get(id)?.();
    });
  }

  /**
   * Creates one instance, of a job a run, and waits (250 ms at most) for its first placement pass. With the key of a run
   * that is there, it creates nothing and resolves with that run. Throws DRV_REQUEST_INVALID for an order that the
   * configuration does not allow.
   */
  async create(configurationName: string, order: JobOrder = NO_ORDER): Promise<InstanceRecord> {
    const { instances } = this.#options;
    const { key } = order;
    // Two masters, and two requests at once, make the same id of a key, and the store takes it once.
    const keyed = key === undefined ? undefined : instanceIdOf(`${configurationName} ${key}`);
    const made = await this.#create(configurationName, (configuration) => {
      const content = this.#contentOf(configuration);
      const { job: field } = content.configuration;
      if (field === undefined && order !== NO_ORDER)
        throw invalidRequest(`configuration ${configurationName} is no job: it has no field "job"`);
      const before = instances.get(keyed ?? '')?.value;
      if (before !== undefined) {
        if (isRunOf(before, configurationName, order)) return undefined;
        throw invalidRequest(`key: ${before.id} has it, with other parameters: give another key`);
      }
      const job = field && jobRunOf(field, order);
      this.#refuseAboveMaximum(configuration);
      const records = this.#newRecords(content, 'client', 1);
      for (const one of records) Object.assign(one, keyed && { id: keyed }, job && { job });
      return { records, beside: [] };
    });
    const id = made?.[0] ?? keyed ?? '';
    await this.#firstPlacement(id);
    return this.#made(id);
  }

  /**
   * Creates a static instance for the directory that an earlier instance of the same id left on its node. Throws
   * DRV_CONFIGURATION_UNKNOWN. Throws DRV_ADOPTION_REFUSED when the id is taken, the configuration is not static, or
   * the node does not fit.
   */
  async adopt(configurationName: string, { id, home }: AdoptOptions): Promise<InstanceRecord> {
    const { instances, clock } = this.#options;
    await this.#create(configurationName, (inForce) => {
      this.#refuseAboveMaximum(inForce);
      if (instances.get(id) !== undefined || instances.setAside.has(id))
        throw new DroverError('DRV_ADOPTION_REFUSED', `there is an instance ${id} already`);
      const content = this.#contentOf(inForce);
      if (!content.configuration.static)
        throw new DroverError(
          'DRV_ADOPTION_REFUSED',
          `configuration ${configurationName} is not static: a start would empty the directory ${id}`,
        );
      const record = newInstance(content, { id, madeBy: 'client', now: clock.now() });
      return { records: [{ ...record, home }], beside: [], mustFit: true };
    });
    return this.#made(id);
  }

  #made(id: string): InstanceRecord {
    const made = this.#options.instances.get(id)?.value;
    if (made !== undefined) return made;
    throw new DroverError('DRV_INSTANCE_UNKNOWN', `instance ${id} was deleted at once`);
  }

  /**
   * Creates the instances that the present configuration lacks, in one transaction; resolves with their ids. With a
   * maximum, instances that are being created already count against `count`. Creates none when the configuration, its
   * file or one of the originals changes meanwhile: the caller then counts again. Throws DRV_CONFIGURATION_UNKNOWN.
   */
  async createMissing(configurationName: string, { count, replaces }: MissingInstances): Promise<string[]> {
    const counted = this.#options.configurations.get(configurationName)?.value.hash;
    // Check the records of the originals: an original that changes meanwhile may be back.
    const originals = this.#checksOf(replaces);
    const made = await this.#create(configurationName, (configuration) => {
      const { maximumServiceCount } = configuration.configuration;
      const underWay = maximumServiceCount === undefined ? 0 : this.#underWay(configurationName);
      const isOutdated = configuration.hash !== counted || !isSame(originals, this.#checksOf(replaces));
      if (isOutdated || underWay >= count) return undefined;
      // Two further operations check the configuration and its rollout.
      const most = MAX_OPERATIONS - 2 - originals.length;
      const due = Math.min(count - underWay, most);
      const made = this.#newRecords(this.#contentOf(configuration), 'enforcer', due);
      const records = made.map((record, index) => {
        const original = replaces[index];
        return original === undefined ? record : { ...record, replaces: original };
      });
      return { records, beside: originals, isAutomatic: true };
    });
    return made ?? [];
  }

  /**
   * Creates an instance of the present configuration to replace the wanted instance `id`, with the same `madeBy`. The
   * old instance stays; with `removeFirst` the same transaction removes it. Resolves with the new id. Resolves with
   * undefined, and writes nothing, when the old instance is no longer wanted, the maximum allows no further instance,
   * or the configuration's file is changing. Throws DRV_CONFIGURATION_UNKNOWN.
   */
  async replace(id: string, { removeFirst, beside, content }: ReplaceOptions): Promise<string | undefined> {
    const name = this.#options.instances.get(id)?.value.configurationName;
    if (name === undefined) return undefined;
    const made = await this.#create(name, (configuration) => {
      const old = this.#options.instances.get(id);
      // A run is not repeated elsewhere: what it did until now, it would do twice.
      if (old?.value.desired.goal !== 'run' || old.value.job !== undefined) return undefined;
      const { maximumServiceCount: maximum } = configuration.configuration;
      if (!removeFirst && maximum !== undefined && this.#running(name) >= maximum) return undefined;
      const made =
        content === 'rollout' ? this.#options.contents.targetOf(name) : this.#contentOf(configuration);
      if (made === undefined) return undefined;
      const records = this.#newRecords(made, old.value.madeBy, 1).map((record) => ({
        ...record,
        replaces: id,
      }));
      const key = instanceKey(id);
      const expectedRevision = old.revision;
      const value = withGoal(old.value, 'remove');
      return {
        records,
        isAutomatic: true,
        beside: [
          removeFirst
            ? { do: 'update', key, value, expectedRevision }
            : { do: 'check', key, expectedRevision },
          ...(beside?.() ?? []),
        ],
      };
    });
    return made?.[0];
  }

  /**
   * Creates the instances that `make` derives from the newest configuration; resolves with their ids. After a conflict
   * it tries again, a bounded number of times. Resolves with undefined when `make` returns undefined, or when the
   * configuration's file is changing and no client asked for the creation.
   */
  async #create(
    configurationName: string,
    make: (configuration: ConfigurationRecord) => Creation | undefined,
  ): Promise<string[] | undefined> {
    const { store, instances, configurations, rollouts, isInForce } = this.#options;
    for (let tries = 1; ; tries++) {
      const configuration = configurations.get(configurationName);
      if (configuration === undefined) throw unknownConfiguration(configurationName);
      const creation = make(configuration.value);
      if (creation === undefined) return undefined;
      // A configuration without a rollout needs no check of it: a rollout that begins now finds these instances, and
      // replaces those that have the former content.
      const rollout = rollouts.get(configurationName);
      const checks: Operation[] = [
        { do: 'check', key: configurationKey(configurationName), expectedRevision: configuration.revision },
        ...(rollout === undefined ? [] : [checkOf(rolloutKey(configurationName), rollout.revision)]),
      ];
      const count = creation.records.length;
      this.#creating.set(configurationName, this.#underWay(configurationName) + count);
      try {
        if (creation.isAutomatic === true && (await isInForce?.(configuration.value)) === false)
          return undefined;
        await this.#write(creation, checks);
        return creation.records.map(({ id }) => id);
      } catch (error) {
        // Try again after a conflict: the id was in use, or a record of the transaction changed meanwhile.
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= CREATE_TRIES) throw error;
      } finally {
        this.#creating.set(configurationName, this.#underWay(configurationName) - count);
      }
      await Promise.all([configurations, rollouts, instances].map((mirror) => untilShown(store, mirror)));
    }
  }

  /** Resolves after the first placement pass over an instance, after 250 ms, or when the instance is gone. */
  async #firstPlacement(id: string): Promise<void> {
    const { instances, clock } = this.#options;
    const record = instances.get(id)?.value;
    if (record === undefined || isAnswered(record)) return;
    let timer: TimerHandle | undefined;
    await new Promise<void>((resolve) => {
      this.#awaited.set(id, resolve);
      timer = clock.setTimer(PATIENCE_MS, resolve);
    });
    timer?.cancel();
    this.#awaited.delete(id);
  }

  #contentOf({ configuration, hash }: ConfigurationRecord): ContentInForce {
    return this.#options.contents.of(configuration.name) ?? { configuration, hash, generation: 0 };
  }

  /** Creates the records in the places that placement chooses. Nothing else runs between the choice and the write. */
  async #write({ records, beside, mustFit }: Creation, checks: readonly Operation[]): Promise<void> {
    const { store, instances, placement } = this.#options;
    const born: NewPlace[] = [];
    let isWritten = false;
    try {
      for (const record of records) born.push(placement.placeNew(record));
      if (mustFit === true) for (const { record } of born) refuseUnplaced(record);
      const creates = born.map(
        ({ record }): Operation => ({ do: 'create', key: instanceKey(record.id), value: record }),
      );
      await instances.until(await store.transact([...creates, ...beside, ...checks]));
      isWritten = true;
    } finally {
      for (const { end } of born) end(isWritten);
    }
  }

  #checksOf(ids: readonly string[]): Operation[] {
    return ids.map((id) => {
      const expectedRevision = this.#options.instances.get(id)?.revision ?? 0;
      return checkOf(instanceKey(id), expectedRevision);
    });
  }

  /** How many instances of a configuration are being created and are not in the mirror yet. */
  #underWay(configurationName: string): number {
    return this.#creating.get(configurationName) ?? 0;
  }

  #refuseAboveMaximum(record: ConfigurationRecord): void {
    const { name, maximumServiceCount: maximum } = record.configuration;
    if (maximum === undefined) return;
    const running = this.#running(name);
    if (running >= maximum)
      throw new DroverError(
        'DRV_REQUEST_INVALID',
        `configuration ${name} has ${running} instances and allows ${maximum} (maximumServiceCount): stop one or raise the maximum`,
      );
  }

  /**
   * The number of wanted instances and of those being created. Both count, so only one of two simultaneous
   * requests can take the last place below the maximum.
   */
  #running(name: string): number {
    return this.#underWay(name) + wantedOf(this.#options, name);
  }

  #newRecords(content: ContentInForce, madeBy: Maker, count: number): InstanceRecord[] {
    const { clock, instances, newInstanceId = randomInstanceId } = this.#options;
    const now = clock.now();
    const ids = new Set<string>();
    while (ids.size < count) {
      const id = newInstanceId();
      if (instances.get(id) === undefined) ids.add(id);
    }
    return [...ids].map((id) => newInstance(content, { id, madeBy, now }));
  }
}

/** True when an instance is the run that an order asks for again. */
function isRunOf({ configurationName, job }: InstanceRecord, name: string, order: JobOrder): boolean {
  const isSame = Object.entries(order.parameters).every(([key, value]) => job?.parameters[key] === value);
  return isSame && configurationName === name && job?.key === order.key;
}

/** True when a placement pass has looked at the instance: it has a node, or a message says why it has none. */
function isAnswered(record: InstanceRecord): boolean {
  return record.placement !== null || record.status.message !== null;
}

function refuseUnplaced({ id, configurationName, placement, home, status }: InstanceRecord): void {
  if (placement !== null) return;
  const why = status.message ?? `node ${home?.nodeId} is awaited: try again in a moment`;
  throw new DroverError(
    'DRV_ADOPTION_REFUSED',
    `directory ${id} cannot be taken up as an instance of ${configurationName}: ${why}`,
  );
}

function checkOf(key: string, expectedRevision: number): Operation {
  return { do: 'check', key, expectedRevision };
}

/** True when both lists name equal revisions of equal keys. */
function isSame(a: readonly Operation[], b: readonly Operation[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
