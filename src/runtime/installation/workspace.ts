/**
 * The working directories, `running/<instance id>/`: made from templates before a start, wholly or not at all, and
 * removed with their instance. An instance counts as an attacker of its own directory. Single calls that change a name are
 * made at once: they take some 20 microseconds, and the I/O threads would take milliseconds on a busy machine.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lchownSync, mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, systemCodeOf, toWriteError } from '../../files/system-error.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { isInstanceId, type UserIds } from '../../model/names.js';
import type { ResolvedTemplate } from '../../model/template.js';
import type { Logger } from '../../telemetry/logger.js';
import type { TemplateCache } from '../../templates/transfer/cache.js';
import type { PackThreads } from '../../templates/transfer/pack-threads.js';
import { removeTree } from '../../templates/tree/remove-tree.js';
import { syncTree } from '../../templates/tree/sync-tree.js';
import type { Variables } from '../command/variables.js';
import { modifyFiles } from './file-modifications.js';
import { closeToOthers, give, giveEntries, modeOf, openPassage, PRIVATE, takeOver } from './tree-owner.js';
import { copyItems } from './workspace-copy.js';
import { type Layer, mergeLayers, type WorkspaceItem } from './workspace-layers.js';
import { WorkspaceMerge } from './workspace-merge.js';

const STAGING = '.staging-';
const REMOVED = '.removed-';

export interface WorkspacesOptions {
  /** `running/` of the node; made when missing. */
  readonly runningDirectory: string;
  readonly cache: Pick<TemplateCache, 'pin' | 'tree' | 'discard'>;
  readonly packThreads: PackThreads;
  readonly logger: Logger;
}

export interface PrepareRequest {
  readonly instanceId: string;
  /** All with a digest that the cache holds. */
  readonly templates: readonly ResolvedTemplate[];
  /** Static instances: keep the directory and its files. */
  readonly keep: boolean;
  /** With `keep`: templates replace files that exist. */
  readonly override: boolean;
  /** Relative paths of files in which variables are replaced. */
  readonly fileModifications: readonly string[];
  readonly variables: Variables;
  /** The user of the instance, to whom everything is given; absent: Drover's own. */
  readonly owner?: UserIds | undefined;
  /** A container uses it, as a user that nobody here knows: without an owner, others may enter and read. */
  readonly isContainer?: boolean;
  readonly signal: AbortSignal;
}

export interface PreparedWorkspace {
  /** The absolute path. */
  readonly directory: string;
  /** What was asked for and could not be done, for the operator; no reason not to start. */
  readonly warnings: readonly string[];
}

export class Workspaces {
  readonly #running: string;
  readonly #cache: WorkspacesOptions['cache'];
  readonly #packThreads: PackThreads;
  readonly #logger: Logger;
  readonly #removals = new Set<Promise<void>>();
  #isPassage = false;

  constructor({ runningDirectory, cache, packThreads, logger }: WorkspacesOptions) {
    this.#running = runningDirectory;
    this.#cache = cache;
    this.#packThreads = packThreads;
    this.#logger = logger;
  }

  /** Removes what a killed process left half-made or half-removed. Called at start, before the first `prepare`. */
  async removeUnfinished(): Promise<void> {
    await mkdir(this.#running, { recursive: true, mode: PRIVATE });
    for (const name of await readdir(this.#running)) {
      if (!name.startsWith(STAGING) && !name.startsWith(REMOVED)) continue;
      this.#logger.info({ name }, 'removed what an earlier daemon left unfinished');
      await removeTree(join(this.#running, name));
    }
  }

  /** Waits for directories that are being deleted. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(this.#removals);
  }

  /** Whether the instance has a working directory, or something in its place, which `prepare` then refuses. */
  async exists(instanceId: string): Promise<boolean> {
    try {
      await lstat(this.#directoryOf(instanceId));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /**
   * Makes the working directory: fresh from the templates, or with `keep` by adding what is missing. All or
   * nothing: after an error or an abort an existing directory is as it was. (The next call completes a merge that
   * was cut off between two files.) One call at a time per instance; repeatable. Throws DRV_TEMPLATE_UNKNOWN or
   * DRV_TEMPLATE_CORRUPT for templates that the cache lacks, DRV_WORKSPACE_UNSAFE for links or kinds in the way,
   * DRV_DISK_WRITE_FAILED.
   */
  async prepare(request: PrepareRequest): Promise<PreparedWorkspace> {
    const directory = this.#directoryOf(request.instanceId);
    if (request.owner !== undefined && !this.#isPassage) {
      await openPassage(this.#running);
      this.#isPassage = true;
    }
    if (request.templates.length === 0 && request.fileModifications.length === 0 && !request.keep) {
      if (this.#makeEmpty(request, directory)) return { directory, warnings: [] };
    }
    const digests = request.templates.map(digestOf);
    const releases = digests.map((digest) => this.#cache.pin(digest));
    try {
      mkdirSync(this.#running, { recursive: true, mode: PRIVATE });
      const items = mergeLayers(await this.#layersOf(request));
      const warnings = await this.#build(request, directory, items);
      return { directory, warnings };
    } catch (error) {
      request.signal.throwIfAborted();
      throw toWriteError(error, `the working directory of instance ${request.instanceId}`);
    } finally {
      for (const release of releases) release();
    }
  }

  /** Deletes the working directory; resolves when nothing is left of it. A missing one is no error. */
  async remove(instanceId: string): Promise<void> {
    const away = this.#moveAway(instanceId);
    if (away !== null) await removeTree(away);
  }

  async #build(
    request: PrepareRequest,
    directory: string,
    items: Map<string, WorkspaceItem>,
  ): Promise<string[]> {
    if (request.keep && (await this.exists(request.instanceId))) {
      return this.#mergeInto(request, directory, items);
    }
    if (items.size > 0) {
      return this.#inStaging(request, items, async (staging) => {
        if (request.keep) await syncTree(staging, [...items.values()], request.signal);
        request.signal.throwIfAborted();
        await this.#replace(request.instanceId, async () => {
          await give(staging, request.owner);
          renameSync(staging, directory);
        });
      });
    }
    await this.#replace(request.instanceId, async () => {
      await mkdir(directory, modeOf(request));
      await give(directory, request.owner);
    });
    return modifyFiles({ ...request, directory, items, files: request.fileModifications });
  }

  async #mergeInto(
    request: PrepareRequest,
    directory: string,
    items: Map<string, WorkspaceItem>,
  ): Promise<string[]> {
    const { instanceId, override, signal } = request;
    await takeOver(directory, request.owner, signal);
    if (modeOf(request) === PRIVATE) await closeToOthers(directory);
    const merge = new WorkspaceMerge({
      directory,
      label: `running/${instanceId}`,
      items: items.values(),
      override,
    });
    const selected = await merge.select(signal);
    const isKept = new Set(items.keys());
    for (const { path } of selected) isKept.delete(path);
    // The files that the instance keeps were modified when they were installed, and are its own now.
    const fileModifications = request.fileModifications.filter((path) => !isKept.has(path));
    const missing = new Map(selected.map((item) => [item.path, item]));
    if (missing.size === 0) {
      return modifyFiles({ ...request, directory, items: missing, files: fileModifications });
    }
    return this.#inStaging({ ...request, fileModifications }, missing, async (staging) => {
      await syncTree(staging, selected, signal);
      await merge.install(staging, selected, signal);
    });
  }

  /** Builds the items beside the working directories and hands them to `place`; removes the rest in any case. */
  async #inStaging(
    request: PrepareRequest,
    items: ReadonlyMap<string, WorkspaceItem>,
    place: (staging: string) => Promise<void>,
  ): Promise<string[]> {
    const { instanceId, fileModifications: files, variables, owner, signal } = request;
    const staging = this.#beside(STAGING, instanceId);
    try {
      mkdirSync(staging, modeOf(request));
      await copyItems(this.#packThreads, [...items.values()], staging, signal).catch((error: unknown) =>
        this.#onCopyFailed(request, error),
      );
      const warnings = await modifyFiles({ directory: staging, items, files, variables, signal });
      if (owner !== undefined) await giveEntries(staging, items.keys(), owner, signal);
      await place(staging);
      return warnings;
    } finally {
      // It was renamed into place, or is still here.
      if (existsSync(staging))
        await removeTree(staging).catch((error: unknown) => {
          this.#logger.warn({ instanceId, reason: messageOf(error) }, 'a staging directory is left over');
        });
    }
  }

  /** A file that the cache lacks although its tree should be there: the tree is fetched again. */
  async #onCopyFailed(request: PrepareRequest, error: unknown): Promise<never> {
    if (!isMissing(error)) throw error;
    for (const template of request.templates) await this.#cache.discard(digestOf(template));
    throw new DroverError(
      'DRV_TEMPLATE_CORRUPT',
      'the template cache of this node is incomplete; its trees are fetched again',
      { cause: error },
    );
  }

  async #layersOf({ templates, signal }: PrepareRequest): Promise<Layer[]> {
    const ordered = [...templates].sort((a, b) => a.priority - b.priority);
    const layers: Layer[] = [];
    for (const template of ordered) {
      const tree = await this.#cache.tree(digestOf(template), signal);
      layers.push({ label: `${template.group}/${template.name}`, ...tree });
    }
    return layers;
  }

  /** Puts a new directory in the place of the old one, which is deleted in the background. */
  async #replace(instanceId: string, place: () => Promise<void>): Promise<void> {
    const away = this.#moveAway(instanceId);
    try {
      await place();
    } catch (error) {
      if (away !== null) renameSync(away, this.#directoryOf(instanceId));
      throw error;
    }
    if (away !== null) this.#removeLater(instanceId, away);
  }

  /**
   * Makes an empty directory in the place of the old one, at once, because a restart after a crash waits for it. False:
   * that takes more work.
   */
  #makeEmpty(request: PrepareRequest, directory: string): boolean {
    const { instanceId, owner } = request;
    const make = (): void => {
      mkdirSync(directory, modeOf(request));
      if (owner !== undefined) lchownSync(directory, owner.uid, owner.gid);
    };
    try {
      make();
      return true;
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') return false;
    }
    const away = this.#beside(REMOVED, instanceId);
    const isKept = !removeIfEmpty(directory);
    try {
      if (isKept) renameSync(directory, away);
      make();
      return true;
    } catch {
      return false;
    } finally {
      // Last: what it does in the pool holds up the other calls. Nothing is there when the renaming failed.
      if (isKept) this.#removeLater(instanceId, away);
    }
  }

  #removeLater(instanceId: string, away: string): void {
    const removal = removeTree(away)
      .catch((error: unknown) => {
        this.#logger.warn({ instanceId, reason: messageOf(error) }, 'an old working directory is left over');
      })
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  /** Renames the working directory for its removal; null when there is none. A link itself is moved, not its target. */
  #moveAway(instanceId: string): string | null {
    const away = this.#beside(REMOVED, instanceId);
    try {
      renameSync(this.#directoryOf(instanceId), away);
      return away;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  #directoryOf(instanceId: string): string {
    if (!isInstanceId(instanceId)) {
      throw new DroverError('DRV_REQUEST_INVALID', `${instanceId} is no instance id`);
    }
    return join(this.#running, instanceId);
  }

  #beside(prefix: string, instanceId: string): string {
    return join(this.#running, `${prefix}${instanceId}-${randomBytes(6).toString('hex')}`);
  }
}

/** A run that wrote no file into its directory leaves nothing that a pool would have to look for. */
function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return false;
  }
}

function digestOf({ group, name, digest }: ResolvedTemplate): string {
  if (digest !== null) return digest;
  throw new DroverError('DRV_TEMPLATE_UNKNOWN', `template ${group}/${name} does not exist`);
}
