/**
 * The instance-cleanup controller: removes records of instances and contents of revisions. Keys: `instances/<id>`
 * and `revisions/<hash>`, as in the store.
 */
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { Configuration, ConfigurationRecord } from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { instanceKey, PREFIX, revisionKey } from '../../../src/store/keys.js';
import type { LookupReader } from '../../../src/store/lookup.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { Store } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { type CleanupFacts, type CleanupStep, plan } from './plan.js';

export interface InstanceCleanupOptions {
  readonly store: Store;
  readonly instances: MirrorReader<InstanceRecord>;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly revisions: MirrorReader<Configuration>;
  readonly instancesByRevision: LookupReader<string>;
  readonly configurationsByHash: LookupReader<string>;
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
    return key.startsWith(PREFIX.revisions)
      ? this.#observeRevision(key.slice(PREFIX.revisions.length))
      : this.#observeInstance(key.slice(PREFIX.instances.length));
  }

  async perform(step: CleanupStep): Promise<void> {
    switch (step.do) {
      case 'remove-instance':
        return this.#removeInstance(step.id);
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

  #observeRevision(hash: string): CleanupFacts | undefined {
    const { revisions, instancesByRevision, configurationsByHash } = this.#options;
    if ((revisions.get(hash) ?? revisions.setAside.get(hash)) === undefined) return undefined;
    const isUsed = instancesByRevision.get(hash).size > 0 || configurationsByHash.get(hash).size > 0;
    return { kind: 'revision', hash, isUsed };
  }

  async #removeInstance(id: string): Promise<void> {
    const { store, instances, logger } = this.#options;
    const current = instances.get(id);
    if (current === undefined) return;
    const revision = await store.transact([
      { do: 'remove', key: instanceKey(id), expectedRevision: current.revision },
    ]);
    await instances.until(revision);
    logger.info({ instance: id, configuration: current.value.configurationName }, `instance ${id} is gone`);
  }

  /**
   * Removes a revision unless it is in use. A creation that was called before the barrier shows after it, or has
   * failed. A later one fails its check of the configuration, because none names this revision any more.
   */
  async #removeRevision(hash: string): Promise<void> {
    const { store, instances, configurations, revisions } = this.#options;
    const content = revisions.get(hash) ?? revisions.setAside.get(hash);
    const shown = await store.barrier();
    await Promise.all([instances.until(shown), configurations.until(shown)]);
    const facts = this.#observeRevision(hash);
    if (content === undefined || facts?.kind !== 'revision' || facts.isUsed)
      throw new Conflict(`revision ${hash} is in use`);
    const revision = await store.transact([
      { do: 'remove', key: revisionKey(hash), expectedRevision: content.revision },
    ]);
    await revisions.until(revision);
  }
}
