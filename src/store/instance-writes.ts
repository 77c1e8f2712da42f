/**
 * Writes what is desired of instances, for the API, the commands, minimum-service and the replacement of instances.
 * Each write resolves when it is durable and the mirror shows it, so that the caller reads its own write.
 */
import type { Clock, TimerHandle } from '../loop/clock.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { type InstanceRecord, type InstanceState, type InstanceStatus, isAtRest } from '../model/instance.js';
import { randomInstanceId } from '../model/names.js';
import { unknownConfiguration, unknownInstance, unreadableInstance } from '../model/unknown.js';
import { configurationKey, instanceKey } from './keys.js';
import { setAsideOf } from './left-of-record.js';
import type { LookupReader } from './lookup.js';
import type { MirrorReader } from './mirror.js';
import { modify, type RecordSet, untilShown } from './modify.js';
import type { SetAside } from './set-aside.js';
import type { Operation, Store } from './store.js';

/** How long `create` waits for the first placement pass, so that its answer shows node and port. */
const PLACEMENT_WAIT_MS = 250;
const CREATE_TRIES = 20;

export interface InstanceWriterOptions {
  readonly store: Store;
  readonly instances: MirrorReader<InstanceRecord>;
  readonly instanceRecords: RecordSet<InstanceRecord>;
  readonly instancesByConfiguration: LookupReader<string>;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly clock: Clock;
  /** Makes an id, which may be taken. Default: a random one. */
  readonly newInstanceId?: () => string;
}

/** The body of `PUT state`; times in Unix milliseconds. */
export interface StateReport {
  readonly state: InstanceState;
  readonly lastHeartbeat?: number | undefined;
  readonly players?: number | undefined;
  readonly maxPlayers?: number | undefined;
  readonly tps?: number | undefined;
}

/** Records to create, and the other operations of the same transaction. */
interface Creation {
  readonly records: readonly InstanceRecord[];
  readonly beside: readonly Operation[];
}

export class InstanceWriter {
  readonly #options: InstanceWriterOptions;
  readonly #records: RecordSet<InstanceRecord>;
  readonly #awaitingPlacement = new Map<string, () => void>();
  /** By configuration, how many instances are being created. */
  readonly #creating = new Map<string, number>();

  constructor(options: InstanceWriterOptions) {
    this.#options = options;
    this.#records = options.instanceRecords;
    options.instances.onChange((id, after) => {
      if (this.#awaitingPlacement.size > 0 && (after === undefined || isAnswered(after.value)))
        this.#awaitingPlacement.get(id)?.();
    });
  }

  /** Creates one instance and waits (250 ms at most) for its first placement pass. */
  async create(configurationName: string): Promise<InstanceRecord> {
    const made = await this.#create(configurationName, (configuration) => {
      this.#refuseAboveMaximum(configuration);
      return { records: this.#newRecords(configuration, 1), beside: [] };
    });
    const id = made?.[0];
    const created = id === undefined ? undefined : await this.#afterPlacement(id);
    if (created === undefined)
      throw new DroverError(
        'DRV_INSTANCE_UNKNOWN',
        `the new instance of ${configurationName} was deleted at once`,
      );
    return created;
  }

  /**
   * Creates `count` instances of the present configuration in one transaction; resolves with their ids. With a
   * maximum, instances that are being created already count against `count`. Creates none when the configuration
   * changes meanwhile: the caller then counts again. Throws DRV_CONFIGURATION_UNKNOWN.
   */
  async createMany(configurationName: string, count: number): Promise<string[]> {
    const counted = this.#options.configurations.get(configurationName)?.value.hash;
    const made = await this.#create(configurationName, (configuration) => {
      const { maximumServiceCount } = configuration.configuration;
      const underWay = maximumServiceCount === undefined ? 0 : this.#underWay(configurationName);
      if (configuration.hash !== counted || underWay >= count) return undefined;
      return { records: this.#newRecords(configuration, count - underWay), beside: [] };
    });
    return made ?? [];
  }

  /**
   * Makes another instance of the same, present configuration to replace one that is wanted. The new one stands
   * beside it; with `removeFirst` the same transaction removes the old one. Resolves with the new id. Undefined:
   * nothing was written, because the instance is not wanted any more or the maximum allows none beside it. Throws
   * DRV_CONFIGURATION_UNKNOWN.
   */
  async replace(id: string, { removeFirst }: { readonly removeFirst: boolean }): Promise<string | undefined> {
    const name = this.#options.instances.get(id)?.value.configurationName;
    if (name === undefined) return undefined;
    const made = await this.#create(name, (configuration) => {
      const old = this.#options.instances.get(id);
      if (old?.value.desired.goal !== 'run') return undefined;
      const { maximumServiceCount: maximum } = configuration.configuration;
      if (!removeFirst && maximum !== undefined && this.#running(name) >= maximum) return undefined;
      const records = this.#newRecords(configuration, 1).map((record) => ({ ...record, replaces: id }));
      const key = instanceKey(id);
      const expectedRevision = old.revision;
      const value = withGoal(old.value, 'remove');
      return {
        records,
        beside: [
          removeFirst
            ? { do: 'update', key, value, expectedRevision }
            : { do: 'check', key, expectedRevision },
        ],
      };
    });
    return made?.[0];
  }

  /** The instance no longer counts as the replacement of another one. Repeatable. */
  async release(id: string): Promise<void> {
    await modify(this.#records, id, ({ replaces, ...record }) =>
      replaces === undefined ? undefined : record,
    );
  }

  /**
   * Starts, stops or restarts an instance. A start of one that is up, or a second stop, changes nothing. Throws
   * DRV_INSTANCE_UNKNOWN.
   */
  async setLifecycle(id: string, target: 'start' | 'stop' | 'restart'): Promise<void> {
    this.#visible(id);
    const change = { start, stop, restart }[target];
    await modify(this.#records, id, (record) =>
      record.desired.goal === 'remove' ? undefined : change(record),
    );
  }

  /**
   * Writes what an app or a tool reports of an instance. Throws DRV_INSTANCE_UNKNOWN, also for one that is being
   * removed.
   */
  async reportState(id: string, report: StateReport): Promise<InstanceRecord> {
    this.#visible(id);
    const now = this.#options.clock.now();
    const next = await modify(this.#records, id, (record) =>
      record.desired.goal === 'remove' ? undefined : reported(record, report, now),
    );
    if (next === undefined) throw unknownInstance(id);
    return next;
  }

  /**
   * Hides the record at once. Instance-cleanup removes it when its node has confirmed that process and directory
   * are gone. A record that is set aside is removed at once: its node then ends what it has of it.
   */
  async remove(id: string): Promise<void> {
    const aside = this.#options.instances.setAside.get(id);
    if (aside !== undefined) return this.#removeSetAside(id, aside);
    this.#visible(id);
    await modify(this.#records, id, (record) =>
      record.desired.goal === 'remove' ? undefined : withGoal(record, 'remove'),
    );
  }

  /**
   * Removes one instance of a pair, in a transaction that fails unless the other one stays wanted: of two removals at
   * once, the second fails. Resolves with false, and writes nothing, when the two are no pair any more or one of them
   * is not wanted. Throws DRV_STORE_CONFLICT when one of the two changes meanwhile.
   */
  async removeOfPair(id: string, staying: string): Promise<boolean> {
    const { store, instances } = this.#options;
    const going = instances.get(id);
    const other = instances.get(staying);
    if (going?.value.desired.goal !== 'run' || other?.value.desired.goal !== 'run') return false;
    if (going.value.replaces !== staying && other.value.replaces !== id) return false;
    const value = withGoal(going.value, 'remove');
    const revision = await store.transact([
      { do: 'update', key: instanceKey(id), value, expectedRevision: going.revision },
      { do: 'check', key: instanceKey(staying), expectedRevision: other.revision },
    ]);
    await instances.until(revision);
    return true;
  }

  /**
   * Creates the instances that `make` derives from the newest configuration; resolves with their ids. After a
   * conflict it tries again, a bounded number of times. Resolves with undefined when `make` returns undefined.
   */
  async #create(
    configurationName: string,
    make: (configuration: ConfigurationRecord) => Creation | undefined,
  ): Promise<string[] | undefined> {
    const { store, instances, configurations } = this.#options;
    for (let tries = 1; ; tries++) {
      const configuration = configurations.get(configurationName);
      if (configuration === undefined) throw unknownConfiguration(configurationName);
      const creation = make(configuration.value);
      if (creation === undefined) return undefined;
      const operations: Operation[] = creation.records.map((record) => ({
        do: 'create',
        key: instanceKey(record.id),
        value: record,
      }));
      const key = configurationKey(configurationName);
      operations.push(...creation.beside, { do: 'check', key, expectedRevision: configuration.revision });
      const count = creation.records.length;
      this.#creating.set(configurationName, this.#underWay(configurationName) + count);
      try {
        await instances.until(await store.transact(operations));
        return creation.records.map(({ id }) => id);
      } catch (error) {
        // An id was taken, or a record of the transaction changed meanwhile.
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= CREATE_TRIES) throw error;
      } finally {
        this.#creating.set(configurationName, this.#underWay(configurationName) - count);
      }
      await Promise.all([untilShown(store, configurations), untilShown(store, instances)]);
    }
  }

  async #removeSetAside(id: string, { revision }: SetAside): Promise<void> {
    const { store, instances } = this.#options;
    await instances.until(
      await store.transact([{ do: 'remove', key: instanceKey(id), expectedRevision: revision }]),
    );
  }

  #visible(id: string): void {
    const { instances } = this.#options;
    const record = instances.get(id)?.value;
    const aside = instances.setAside.get(id);
    if (aside !== undefined) throw unreadableInstance(id, aside.problem);
    if (record === undefined || record.desired.goal === 'remove') throw unknownInstance(id);
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
   * Counts wanted instances, with those that are being created: of two requests at once only one may take the last
   * place.
   */
  #running(name: string): number {
    const { instances, instancesByConfiguration } = this.#options;
    let running = this.#underWay(name);
    for (const id of instancesByConfiguration.get(name))
      if (instances.get(id)?.value.desired.goal === 'run') running++;
    for (const [, { goal }] of setAsideOf(instances.setAside, name)) if (goal === 'run') running++;
    return running;
  }

  #newRecords({ configuration, hash }: ConfigurationRecord, count: number): InstanceRecord[] {
    const { clock, instances, newInstanceId = randomInstanceId } = this.#options;
    const now = clock.now();
    const ids = new Set<string>();
    while (ids.size < count) {
      const id = newInstanceId();
      if (instances.get(id) === undefined) ids.add(id);
    }
    return [...ids].map((id) => ({
      id,
      configurationName: configuration.name,
      revision: hash,
      runtime: configuration.runtime,
      static: configuration.static,
      ramMB: configuration.ramMB,
      cpu: configuration.cpu,
      createdAt: now,
      desired: { goal: 'run', restartToken: 0 },
      placement: null,
      home: null,
      status: { ...NEW_STATUS, lastHeartbeat: now },
    }));
  }

  async #afterPlacement(id: string): Promise<InstanceRecord | undefined> {
    const { instances, clock } = this.#options;
    const current = instances.get(id)?.value;
    if (current === undefined || isAnswered(current)) return current;
    let timer: TimerHandle | undefined;
    await new Promise<void>((resolve) => {
      this.#awaitingPlacement.set(id, resolve);
      timer = clock.setTimer(PLACEMENT_WAIT_MS, resolve);
    });
    timer?.cancel();
    this.#awaitingPlacement.delete(id);
    return instances.get(id)?.value;
  }
}

const NEW_STATUS: Omit<InstanceStatus, 'lastHeartbeat'> = {
  state: 'CREATING',
  reason: null,
  message: null,
  pid: null,
  restarts: 0,
  exitCode: null,
  exitSignal: null,
  players: null,
  maxPlayers: null,
  tps: null,
  gone: false,
};

/** True when a placement pass has looked at the instance: it has a node, or a message says why it has none. */
function isAnswered(record: InstanceRecord): boolean {
  return record.placement !== null || record.status.message !== null;
}

function withGoal(record: InstanceRecord, goal: InstanceRecord['desired']['goal']): InstanceRecord {
  return { ...record, desired: { ...record.desired, goal } };
}

function start(record: InstanceRecord): InstanceRecord | undefined {
  if (isAtRest(record)) return freshStart(record);
  const isUp = record.desired.goal === 'run' && record.status.state !== 'OFFLINE';
  return isUp ? undefined : again(record);
}

function restart(record: InstanceRecord): InstanceRecord {
  return isAtRest(record) ? freshStart(record) : again(record);
}

function stop(record: InstanceRecord): InstanceRecord | undefined {
  if (record.desired.goal === 'stop') return undefined;
  const next = withGoal(record, 'stop');
  // No node holds it, so no report will say that it is stopped.
  return record.placement === null
    ? { ...next, status: { ...next.status, state: 'STOPPED', reason: 'stopped', message: null } }
    : next;
}

/** Ends the running process, if there is one, and starts anew on the same node. */
function again(record: InstanceRecord): InstanceRecord {
  return { ...record, desired: { goal: 'run', restartToken: record.desired.restartToken + 1 } };
}

/** A start of an instance at rest. It gave its RAM back, so it must be placed again (a static one on its own node). */
function freshStart(record: InstanceRecord): InstanceRecord {
  const status: InstanceStatus = { ...record.status, state: 'CREATING', reason: null, message: null };
  return { ...again(record), placement: null, status };
}

function reported(record: InstanceRecord, report: StateReport, now: number): InstanceRecord {
  const { state } = report;
  const isNew = state !== record.status.state;
  const status: InstanceStatus = {
    ...record.status,
    state,
    ...(isNew && { reason: 'reported', message: `reported ${state} by the instance or a tool` }),
    lastHeartbeat: report.lastHeartbeat ?? now,
    players: report.players ?? record.status.players,
    maxPlayers: report.maxPlayers ?? record.status.maxPlayers,
    tps: report.tps ?? record.status.tps,
  };
  const next = { ...record, status };
  return state === 'STOPPED' && record.desired.goal === 'run' ? withGoal(next, 'stop') : next;
}
