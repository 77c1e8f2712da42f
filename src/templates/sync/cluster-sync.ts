/**
 * `template sync` to the cluster: has every connected node fetch trees before they are needed, and keeps the result of
 * each. The desired state stays as it is: a node without a tree fetches it when an instance needs it.
 */

import type { Part } from '../../loop/lifecycle.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import { type ClusterSyncReport, LOCAL_STORAGE, type TreeResult } from '../../model/template.js';
import type { Ambient } from '../../telemetry/ambient.js';
import type { StorageLibrary } from '../storage/storage-library.js';
import type { StoredTemplate } from '../storage/storage-provider.js';
import type { TemplateSources } from '../template-sources.js';
import { describeNodeSync } from './node-sync-text.js';
import { matcherOf } from './pattern.js';
import { SyncRun } from './sync-run.js';

export interface ClusterSyncOptions extends Ambient {
  readonly templates: Pick<TemplateSources, 'rescan' | 'groups' | 'digest' | 'news'>;
  readonly stored: Pick<StorageLibrary, 'copied' | 'refresh'>;
  readonly nodes: {
    /** The ids of the connected nodes, sorted. */
    connected(): readonly string[];
    /**
     * Makes the node fetch the trees that it lacks, and yields the result of each tree. Throws DRV_NODE_DISCONNECTED.
     */
    fetch(nodeId: string, digests: readonly string[], signal: AbortSignal): AsyncIterable<TreeResult>;
  };
}

export class ClusterSync implements Part {
  readonly #options: ClusterSyncOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  #latest: SyncRun | undefined;

  constructor(options: ClusterSyncOptions) {
    this.#options = options;
  }

  start(): void {}

  /** Waits for digests that are being computed: first stop the libraries that compute them. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.whenIdle();
  }

  /** Resolves when every node has fetched its trees or has failed. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** The state of the latest sync; undefined: there was none. */
  get latest(): ClusterSyncReport | undefined {
    return this.#latest?.report();
  }

  /** Has the connected nodes fetch the matching templates. Returns at once; the run tells its progress. Throws DRV_REQUEST_INVALID. */
  async toCluster(pattern: string): Promise<SyncRun> {
    const { templates: known, stored, nodes, clock, logger } = this.#options;
    const isMeant = matcherOf(pattern);
    await known.rescan();
    stored.refresh(isMeant);
    const found = [...this.#local(), ...stored.copied()].filter(isMeant);
    const templates = [...new Set(found.map(({ group, name }) => `${group}/${name}`))].sort();
    const run = new SyncRun({ pattern, templates, nodes: nodes.connected() }, clock);
    this.#latest = run;
    logger.info({ pattern, templates: templates.length, nodes: run.nodes }, `template sync ${pattern}`);
    const running = this.#perform(run, found).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return run;
  }

  *#local(): Generator<StoredTemplate> {
    for (const [group, names] of this.#options.templates.groups())
      for (const name of names) yield { group, name, storage: LOCAL_STORAGE };
  }

  async #perform(run: SyncRun, found: readonly StoredTemplate[]): Promise<void> {
    const digests = new Set<string>();
    for (const template of found) {
      if (this.#stopped.signal.aborted) break;
      const digest = await this.#digestOf(template, run);
      if (digest !== null) digests.add(digest);
    }
    await Promise.all(run.nodes.map((nodeId) => this.#sendTo(nodeId, [...digests], run)));
  }

  async #digestOf({ group, name, storage }: StoredTemplate, run: SyncRun): Promise<string | null> {
    const { templates, logger } = this.#options;
    try {
      const digest = await templates.digest(group, name, storage);
      const news = templates.news(group, name, storage);
      if (news === undefined) return digest;
      throw new DroverError('DRV_TEMPLATE_PENDING', news);
    } catch (error) {
      if (this.#stopped.signal.aborted) return null;
      const reason = messageOf(error);
      run.leaveOut(`${group}/${name}`, publicMessage(error));
      // The template is on its way to this master. Nodes will fetch it from here when they need it.
      if (DroverError.is(error, 'DRV_TEMPLATE_PENDING')) logger.info(`template sync: ${reason}`);
      else logger.warn({ group, template: name, storage, reason }, `template sync leaves one out: ${reason}`);
      return null;
    }
  }

  async #sendTo(node: string, digests: readonly string[], run: SyncRun): Promise<void> {
    const { nodes, logger } = this.#options;
    const { signal } = this.#stopped;
    run.begin(node, digests.length);
    let problem: string | undefined;
    try {
      if (digests.length > 0)
        for await (const result of nodes.fetch(node, digests, signal)) run.note(node, result);
    } catch (error) {
      problem = signal.aborted ? 'the master stops' : publicMessage(error);
    }
    const result = run.end(node, problem);
    if (result === undefined || signal.aborted) return;
    const level = result.state === 'done' ? 'info' : 'warn';
    logger[level](result, `template sync: ${describeNodeSync(result)}`);
  }
}
