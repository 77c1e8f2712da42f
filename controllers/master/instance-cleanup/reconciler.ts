/**
 * The instance-cleanup controller: ends runs of jobs at their time-out; removes records of removed instances, of
 * instances that ended by themselves, of old ends, and of unused revisions. Keys: `instances/<id>`,
 * `configurations/<name>` and `revisions/<hash>`, as in the store, and `exits/` for all ends.
 */

import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { hasEndedByItself, hasFinished, type InstanceRecord } from '../../../src/model/instance.js';
import { durationText } from '../../../src/model/plain/duration-text.js';
import { timedOut } from '../../../src/state/instance-changes.js';
import type { InstanceWriter } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { exitKey, instanceKey, PREFIX, revisionKey } from '../../../src/store/keys.js';
import { modify } from '../../../src/store/modify.js';
import { MAX_OPERATIONS, type Operation } from '../../../src/store/store.js';
import { inSteps } from '../../../src/store/transaction.js';
import type { Ambient } from '../../../src/telemetry/ambient.js';
import { type CleanupFacts, type CleanupStep, plan } from './plan.js';

interface InstanceCleanupOptions extends StateRecords, Ambient {
  /** How many of a configuration's counted instances may go before minimum-service would make another. */
  readonly spareOf: (configurationName: string) => number;
  readonly writer: Pick<InstanceWriter, 'removeWhile'>;
}

export class InstanceCleanup implements Reconciler<CleanupFacts, CleanupStep> {
  readonly name = 'instance-cleanup';
  readonly plan = plan;
  readonly #options: InstanceCleanupOptions;
  /** When the runs of jobs are ended, monotonic ms, each with the start that it was reckoned from. */
  readonly #dueAt = new Map<string, { readonly startedAt: number; readonly at: number }>();

  constructor(options: InstanceCleanupOptions) {
    this.#options = options;
  }

  observe(key: string): CleanupFacts | undefined {
    if (key === PREFIX.exits) return this.#observeExits();
    if (key.startsWith(PREFIX.configurations))
      return this.#observeEnded(key.slice(PREFIX.configurations.length));
    return key.startsWith(PREFIX.revisions)
      ? this.#observeRevision(key.slice(PREFIX.revisions.length))
      : this.#observeInstance(key.slice(PREFIX.instances.length));
  }

  async perform(step: CleanupStep): Promise<void> {
    switch (step.do) {
      case 'remove-instance':
        return this.#removeInstance(step.id);
      case 'time-out':
        return this.#timeOut(step.id);
      case 'collect':
        return this.#collect(step);
      case 'remove-exits':
        return this.#removeExits(step.ids);
      case 'remove-revision':
        return this.#removeRevision(step.hash);
      default:
        return step satisfies never;
    }
  }

  #observeInstance(id: string): CleanupFacts | undefined {
    const record = this.#options.instances.get(id)?.value;
    if (record === undefined) {
      this.#dueAt.delete(id);
      return undefined;
    }
    return {
      kind: 'instance',
      id,
      isUnwanted: record.desired.goal === 'remove',
      isHeld: record.placement !== null && !record.status.gone,
      timeOutInMs: this.#timeOutInMs(record),
    };
  }

  #observeEnded(name: string): CleanupFacts | undefined {
    const { instances, endedByConfiguration, clock, spareOf } = this.#options;
    const now = clock.now();
    const records = [...endedByConfiguration.get(name)].flatMap((id) => instances.get(id)?.value ?? []);
    if (records.length === 0) return undefined;
    const endOf = ({ status }: InstanceRecord): number => status.endedAt ?? status.lastHeartbeat;
    // An end in the future comes from a clock that was ahead: it counts as older than all ends before now.
    const isAhead = (record: InstanceRecord): number => (endOf(record) > now ? 1 : 0);
    const ended = records
      .toSorted((a, b) => isAhead(a) - isAhead(b) || endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1))
      .map((one) => ({
        id: one.id,
        agoMs: now - endOf(one),
        counts: hasFinished(one) && one.job === undefined,
      }));
    return { kind: 'ended', ended, spare: ended.some(({ counts }) => counts) ? spareOf(name) : 0 };
  }

  #observeExits(): CleanupFacts | undefined {
    const { exits, clock } = this.#options;
    const now = clock.now();
    const ages = [...exits.entries()].map(([id, { value }]) => ({ id, agoMs: now - value.at }));
    return ages.length === 0 ? undefined : { kind: 'exits', exits: ages.sort((a, b) => a.agoMs - b.agoMs) };
  }

  #observeRevision(hash: string): CleanupFacts | undefined {
    const { revisions, instancesByRevision, configurationsByHash, historiesByRevision, rolloutsByRevision } =
      this.#options;
    if ((revisions.get(hash) ?? revisions.setAside.get(hash)) === undefined) return undefined;
    const users = [instancesByRevision, configurationsByHash, historiesByRevision, rolloutsByRevision];
    const isUsed = users.some((lookup) => lookup.get(hash).size > 0);
    return { kind: 'revision', hash, isUsed };
  }

  /**
   * The time until a run is ended. The wall clock counts at the first look alone: it may be set, and the next leader's may be
   * another one. A start in the future comes from a clock that was ahead, and counts as one of now.
   */
  #timeOutInMs({ id, job, desired, status }: InstanceRecord): number | undefined {
    const { clock } = this.#options;
    const { pid, startedAt = 0 } = status;
    if (job?.timeoutSeconds === undefined || desired.goal !== 'run' || pid === null) {
      this.#dueAt.delete(id);
      return undefined;
    }
    const known = this.#dueAt.get(id);
    const leftMs = job.timeoutSeconds * 1000 - Math.max(0, clock.now() - (startedAt || clock.now()));
    const at = known?.startedAt === startedAt ? known.at : clock.monotonic() + leftMs;
    this.#dueAt.set(id, { startedAt, at });
    return at - clock.monotonic();
  }

  async #timeOut(id: string): Promise<void> {
    const { instanceRecords, logger } = this.#options;
    const ended = await modify(instanceRecords, id, (record) =>
      (this.#timeOutInMs(record) ?? 1) > 0 ? undefined : timedOut(record),
    );
    if (ended !== undefined) logger.warn({ instance: id }, `the run ${id} is ended at its time-out`);
  }

  async #removeExits(ids: readonly string[]): Promise<void> {
    const { store, exits } = this.#options;
    for (const some of inSteps(ids))
      await exits.until(await store.transact(some.map((id) => ({ do: 'remove', key: exitKey(id) }))));
  }

  async #removeInstance(id: string): Promise<void> {
    const { store, instances, logger } = this.#options;
    const current = instances.get(id);
    if (current === undefined) return;
    const revision = await store.transact([
      { do: 'remove', key: instanceKey(id), expectedRevision: current.revision },
      ...this.#inheritances(current.value),
    ]);
    await instances.until(revision);
    logger.info({ instance: id, configuration: current.value.configurationName }, `instance ${id} is gone`);
  }

  /**
   * Keeps the family of a removed instance together: its replacements now replace its original. If the
   * removed instance had no original, its replacements still name its id, and so still form one family.
   */
  #inheritances({ id, replaces }: InstanceRecord): Operation[] {
    if (replaces === undefined) return [];
    const { instances, replacements } = this.#options;
    return [...replacements.get(id)].slice(0, MAX_OPERATIONS - 1).flatMap((other): Operation[] => {
      const heir = instances.get(other);
      if (heir === undefined) return [];
      const value = { ...heir.value, replaces };
      return [{ do: 'update', key: instanceKey(other), value, expectedRevision: heir.revision }];
    });
  }

  async #collect({ id, agoMs }: CleanupStep & { do: 'collect' }): Promise<void> {
    const { instances, writer, logger } = this.#options;
    const configuration = instances.get(id)?.value.configurationName;
    if (!(await writer.removeWhile(id, hasEndedByItself)))
      throw new Conflict(`${id} is started again, or gone`);
    logger.info(
      { instance: id, configuration },
      `${id} (${configuration}) is removed: it ended by itself ${durationText(agoMs)} ago, and newer ones are kept`,
    );
  }

  /**
   * Removes a revision unless it is in use. After the barrier, a creation that began before it is visible or has
   * failed. A later creation fails its check, because no configuration names this revision.
   */
  async #removeRevision(hash: string): Promise<void> {
    const { store, instances, configurations, histories, rollouts, revisions } = this.#options;
    const content = revisions.get(hash) ?? revisions.setAside.get(hash);
    const shown = await store.barrier();
    const users = [instances, configurations, histories, rollouts];
    await Promise.all(users.map((mirror) => mirror.until(shown)));
    const facts = this.#observeRevision(hash);
    if (content === undefined || facts?.kind !== 'revision' || facts.isUsed)
      throw new Conflict(`revision ${hash} is in use`);
    const revision = await store.transact([
      { do: 'remove', key: revisionKey(hash), expectedRevision: content.revision },
    ]);
    await revisions.until(revision);
  }
}
