/**
 * The instance-cleanup controller: removes records of instances, instances of a configuration that ended by themselves,
 * and contents of revisions. Keys: `instances/<id>`, `configurations/<name>` and `revisions/<hash>`, as in the store.
 */

import type { Clock } from '../../../src/loop/clock.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { hasEndedByItself, hasFinished, type InstanceRecord } from '../../../src/model/instance.js';
import { durationText } from '../../../src/model/words.js';
import type { InstanceWriter } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { instanceKey, PREFIX, revisionKey } from '../../../src/store/keys.js';
import { MAX_OPERATIONS, type Operation } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { type CleanupFacts, type CleanupStep, plan } from './plan.js';

interface InstanceCleanupOptions extends StateRecords {
  /** How many of a configuration's instances that count may go before another would be made in their place. */
  readonly spareOf: (configurationName: string) => number;
  readonly writer: Pick<InstanceWriter, 'removeWhile'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class InstanceCleanup implements Reconciler<CleanupFacts, CleanupStep> {
  readonly name = 'instance-cleanup';
  readonly plan = plan;
  readonly #options: InstanceCleanupOptions;

  constructor(options: InstanceCleanupOptions) {
    this.#options = options;
  }

  observe(key: string): CleanupFacts | undefined {
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
      case 'collect':
        return this.#collect(step);
      case 'remove-revision':
        return this.#removeRevision(step.hash);
      default:
        return step satisfies never;
    }
  }

  #observeInstance(id: string): CleanupFacts | undefined {
    const record = this.#options.instances.get(id)?.value;
    if (record === undefined) return undefined;
    return {
      kind: 'instance',
      id,
      isUnwanted: record.desired.goal === 'remove',
      isHeld: record.placement !== null && !record.status.gone,
    };
  }

  #observeEnded(name: string): CleanupFacts | undefined {
    const { instances, endedByConfiguration, clock, spareOf } = this.#options;
    const now = clock.now();
    const records = [...endedByConfiguration.get(name)].flatMap((id) => instances.get(id)?.value ?? []);
    if (records.length === 0) return undefined;
    const endOf = ({ status }: InstanceRecord): number => status.endedAt ?? status.lastHeartbeat;
    // An end that is still to come was noted by a clock that was ahead: before all that have ended by the clock of now.
    const isAhead = (record: InstanceRecord): number => (endOf(record) > now ? 1 : 0);
    const ended = records
      .toSorted((a, b) => isAhead(a) - isAhead(b) || endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1))
      .map((record) => ({ id: record.id, agoMs: now - endOf(record), counts: hasFinished(record) }));
    return { kind: 'ended', ended, spare: ended.some(({ counts }) => counts) ? spareOf(name) : 0 };
  }

  #observeRevision(hash: string): CleanupFacts | undefined {
    const { revisions, instancesByRevision, configurationsByHash, historiesByRevision, rolloutsByRevision } =
      this.#options;
    if ((revisions.get(hash) ?? revisions.setAside.get(hash)) === undefined) return undefined;
    const users = [instancesByRevision, configurationsByHash, historiesByRevision, rolloutsByRevision];
    const isUsed = users.some((lookup) => lookup.get(hash).size > 0);
    return { kind: 'revision', hash, isUsed };
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
   * What was made to replace the instance replaces from now on what that had replaced. Where it had replaced nothing,
   * its own replacements keep its id: they still stand for the same one.
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
   * Removes a revision unless it is in use. A creation that was called before the barrier shows after it, or has
   * failed. A later one fails its check of the configuration, because none names this revision any more.
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
