/**
 * Writes what is desired of existing instances, for the API, minimum-service and replacements. Each write resolves when
 * it is durable and the mirror shows it, so that the caller reads its own write.
 */
import type { Clock } from '../loop/clock.js';
import type { InstanceRecord } from '../model/instance.js';
import { unknownInstance, unreadableInstance } from '../model/unknown.js';
import { instanceKey } from '../store/keys.js';
import type { Mirrored, MirrorReader, SetAside } from '../store/mirror.js';
import { modify } from '../store/modify.js';
import type { Operation } from '../store/store.js';
import { LIFECYCLE, type LifecycleTarget, reported, type StateReport, withGoal } from './instance-changes.js';
import type { StateRecords } from './master-state.js';

interface InstanceWriterOptions extends StateRecords {
  readonly clock: Pick<Clock, 'now'>;
  /** Remembers when the program of an instance was heard of. Absent: nobody asks. */
  readonly beats?: { heardProgram(id: string): void };
}

export class InstanceWriter {
  readonly #options: InstanceWriterOptions;
  readonly #records: StateRecords['instanceRecords'];

  constructor(options: InstanceWriterOptions) {
    this.#options = options;
    this.#records = options.instanceRecords;
  }

  /**
   * Starts, stops or restarts an instance. A second stop changes nothing; neither does a start of an instance that is
   * up or whose node is away. Throws DRV_INSTANCE_UNKNOWN.
   */
  async setLifecycle(id: string, target: LifecycleTarget): Promise<void> {
    this.#visible(id);
    await modify(this.#records, id, (record) =>
      record.desired.goal === 'remove' ? undefined : LIFECYCLE[target](record, this.isAway(record)),
    );
  }

  /**
   * Stops an instance for a controller, as `setLifecycle` does. Resolves with false and writes nothing when there is
   * no such instance, it is stopped already, or `isDue` is false for its newest record.
   */
  async stopWhile(id: string, isDue: (record: InstanceRecord) => boolean): Promise<boolean> {
    const stopped = await modify(this.#records, id, (record) =>
      record.desired.goal !== 'remove' && isDue(record)
        ? LIFECYCLE.stop(record, this.isAway(record))
        : undefined,
    );
    return stopped !== undefined;
  }

  /** True when the instance is on a node that is away: lost, or stopped after it said that it will be back. */
  isAway({ placement }: InstanceRecord): boolean {
    const node = placement === null ? undefined : this.#options.nodes.get(placement.nodeId)?.value;
    return node !== undefined && node.condition !== 'connected';
  }

  /**
   * Writes the report of an app or a tool on an instance. Throws DRV_INSTANCE_UNKNOWN, also when the instance is being
   * removed.
   */
  async reportState(id: string, report: StateReport): Promise<InstanceRecord> {
    this.#visible(id);
    this.#options.beats?.heardProgram(id);
    const now = this.#options.clock.now();
    const next = await modify(this.#records, id, (record) =>
      record.desired.goal === 'remove' ? undefined : reported(record, report, now),
    );
    if (next === undefined) throw unknownInstance(id);
    return next;
  }

  /**
   * Hides the instance at once. Instance-cleanup removes the record when the node has confirmed that process and
   * directory are gone. A record that is set aside is removed at once; its node then ends the process.
   */
  async remove(id: string): Promise<void> {
    const aside = this.#options.instances.setAside.get(id);
    if (aside !== undefined) return this.#removeSetAside(id, aside);
    this.#visible(id);
    await this.removeWhile(id, () => true);
  }

  /**
   * Removes an instance for a controller, as `remove` does. Resolves with false and writes nothing when there is no
   * such instance, or `isDue` is false for its newest record.
   */
  async removeWhile(id: string, isDue: (record: InstanceRecord) => boolean): Promise<boolean> {
    const removed = await modify(this.#records, id, (record) =>
      record.desired.goal !== 'remove' && isDue(record) ? withGoal(record, 'remove') : undefined,
    );
    return removed !== undefined;
  }

  /**
   * Removes one instance of a pair: an original and its replacement, or two replacements of the same original. The
   * transaction fails when `staying` has changed: of two removals at once, the second fails.
   * Resolves with false and writes nothing when the two are no longer a pair, or one of them is not wanted. Throws
   * DRV_STORE_CONFLICT when one of the two changes meanwhile, or a check of `beside` fails.
   */
  removeOfPair(id: string, staying: string, beside: readonly Operation[] = []): Promise<boolean> {
    return this.#giveWay(id, staying, beside, (going, { value, revision }) =>
      isPair(going, value)
        ? { do: 'check', key: instanceKey(staying), expectedRevision: revision }
        : undefined,
    );
  }

  /**
   * Removes an instance, and lets `heir`, so far the replacement of another instance, replace this instance. Resolves
   * with false and writes nothing when one of the two is not wanted, or `heir` replaces nothing. Throws like
   * `removeOfPair`.
   */
  handOver(id: string, heir: string, beside: readonly Operation[] = []): Promise<boolean> {
    return this.#giveWay(id, heir, beside, (_going, { value, revision }) =>
      value.replaces === undefined
        ? undefined
        : {
            do: 'update',
            key: instanceKey(heir),
            value: { ...value, replaces: id },
            expectedRevision: revision,
          },
    );
  }

  /** Sets or clears the mark that a rollout waits for the players of an instance. */
  async markOutdated(id: string, isOutdated: boolean): Promise<void> {
    await modify(this.#records, id, ({ outdated, ...record }) => {
      if ((outdated === true) === isOutdated || record.desired.goal !== 'run') return undefined;
      return isOutdated ? { ...record, outdated: true as const } : record;
    });
  }

  /**
   * Removes a wanted instance in favour of another wanted instance. The same transaction holds the operation that
   * `make` returns for the other instance. When `make` returns undefined, nothing is written.
   */
  async #giveWay(
    id: string,
    otherId: string,
    beside: readonly Operation[],
    make: (going: InstanceRecord, other: Mirrored<InstanceRecord>) => Operation | undefined,
  ): Promise<boolean> {
    const { store, instances } = this.#options;
    const going = instances.get(id);
    const other = instances.get(otherId);
    if (going?.value.desired.goal !== 'run' || other?.value.desired.goal !== 'run') return false;
    const operation = make(going.value, other);
    if (operation === undefined) return false;
    const value = withGoal(going.value, 'remove');
    const removal = { do: 'update', key: instanceKey(id), value, expectedRevision: going.revision } as const;
    await instances.until(await store.transact([removal, operation, ...beside]));
    return true;
  }

  async #removeSetAside(id: string, { revision }: SetAside): Promise<void> {
    const { store, instances } = this.#options;
    await instances.until(
      await store.transact([{ do: 'remove', key: instanceKey(id), expectedRevision: revision }]),
    );
  }

  #visible(id: string): InstanceRecord {
    return visibleInstance(this.#options.instances, id);
  }
}

/** The record of an instance that clients see. Throws DRV_INSTANCE_UNKNOWN, also when the instance is being removed. */
export function visibleInstance(
  instances: Pick<MirrorReader<InstanceRecord>, 'get' | 'setAside'>,
  id: string,
): InstanceRecord {
  const record = instances.get(id)?.value;
  const aside = instances.setAside.get(id);
  if (aside !== undefined) throw unreadableInstance(id, aside.problem);
  if (record === undefined || record.desired.goal === 'remove') throw unknownInstance(id);
  return record;
}

/** The instances that clients may see, in no order. Instances that are being removed are left out. */
export function* visibleInstances({
  instances,
}: {
  readonly instances: Pick<MirrorReader<InstanceRecord>, 'entries'>;
}): Generator<InstanceRecord> {
  for (const [, { value }] of instances.entries()) if (value.desired.goal !== 'remove') yield value;
}

function isPair(a: InstanceRecord, b: InstanceRecord): boolean {
  if (a.replaces === b.id || b.replaces === a.id) return true;
  return a.replaces !== undefined && a.replaces === b.replaces;
}
