/**
 * `template sync`: tells every connected node which trees to fetch ahead of need. A hint: nothing that is desired
 * changes, and whoever misses it fetches a tree when an instance needs it.
 */
import type { Part } from '../loop/lifecycle.js';
import { DroverError, messageOf } from '../model/errors.js';
import { LOCAL_STORAGE } from '../model/template.js';
import type { Logger } from '../telemetry/logger.js';
import { matcherOf } from './pattern.js';
import type { StoredTemplate } from './storage-provider.js';

export interface ClusterSyncOptions {
  readonly templates: {
    groups(): ReadonlyMap<string, readonly string[]>;
    /** Throws what stands in the way. */
    digest(group: string, name: string, storage: string): Promise<string | null>;
  };
  /** Copies of what configurations take from storages. */
  readonly stored: {
    held(): readonly StoredTemplate[];
    refresh(isMeant: (template: StoredTemplate) => boolean): void;
  };
  readonly nodes: {
    /** Ids, in order. */
    connected(): readonly string[];
    /** Resolves with the number of trees that the node lacks, and now fetches. */
    prefetch(nodeId: string, digests: readonly string[], signal: AbortSignal): Promise<number>;
  };
  readonly logger: Logger;
}

export class ClusterSync implements Part {
  readonly #options: ClusterSyncOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(options: ClusterSyncOptions) {
    this.#options = options;
  }

  start(): void {}

  /** Waits for digests that are being computed: whoever computes them is stopped before. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.whenIdle();
  }

  /** Resolves when every node was told, or could not be. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** See `TemplateSync.toCluster`. Answers at once; the log says how it went. Throws DRV_REQUEST_INVALID. */
  async toCluster(
    pattern: string,
  ): Promise<{ readonly templates: readonly string[]; readonly nodes: readonly string[] }> {
    const { stored, nodes, logger } = this.#options;
    const isMeant = matcherOf(pattern);
    stored.refresh(isMeant);
    const found = [...this.#local(), ...stored.held()].filter(isMeant);
    const templates = [...new Set(found.map(({ group, name }) => `${group}/${name}`))].sort();
    const nodeIds = nodes.connected();
    logger.info({ pattern, templates: templates.length, nodes: nodeIds }, `template sync ${pattern}`);
    const running = this.#tell(pattern, found, nodeIds).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return { templates, nodes: nodeIds };
  }

  *#local(): Generator<StoredTemplate> {
    for (const [group, names] of this.#options.templates.groups())
      for (const name of names) yield { group, name, storage: LOCAL_STORAGE };
  }

  async #tell(pattern: string, found: readonly StoredTemplate[], nodeIds: readonly string[]): Promise<void> {
    const digests = new Set<string>();
    for (const template of found) {
      if (this.#stopped.signal.aborted) return;
      const digest = await this.#digestOf(template);
      if (digest !== null) digests.add(digest);
    }
    if (digests.size === 0 || this.#stopped.signal.aborted) return;
    await Promise.all(nodeIds.map((nodeId) => this.#tellNode(pattern, nodeId, [...digests])));
  }

  async #digestOf({ group, name, storage }: StoredTemplate): Promise<string | null> {
    const { templates, logger } = this.#options;
    try {
      return await templates.digest(group, name, storage);
    } catch (error) {
      if (this.#stopped.signal.aborted) return null;
      const reason = messageOf(error);
      // It is on its way to this master, and nodes fetch it from here when they need it.
      if (DroverError.is(error, 'DRV_TEMPLATE_PENDING')) logger.info(`template sync: ${reason}`);
      else logger.warn({ group, template: name, storage, reason }, `template sync leaves one out: ${reason}`);
      return null;
    }
  }

  async #tellNode(pattern: string, node: string, digests: readonly string[]): Promise<void> {
    const { nodes, logger } = this.#options;
    try {
      const missing = await nodes.prefetch(node, digests, this.#stopped.signal);
      logger.info(
        { pattern, node, trees: digests.length, missing },
        `template sync ${pattern}: node ${node} fetches ${missing} of ${digests.length} trees`,
      );
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      logger.warn(
        { pattern, node, reason: messageOf(error) },
        `template sync ${pattern}: node ${node} could not be told: ${messageOf(error)}`,
      );
    }
  }
}
