/**
 * The working directories, `running/<instance id>/`: made from templates before a start, completely or not at all,
 * and removed with their instance. An instance counts as an attacker of its own directory. System calls that only
 * change a name are synchronous: they take some 20 microseconds, and a trip to the I/O threads takes milliseconds on
 * a busy machine.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lchownSync, lstatSync, mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, systemCodeOf, toWriteError } from '../../files/system-error.js';
import { invalidRequest, messageOf, templateCorrupt, templateUnknown } from '../../model/errors.js';
import type { FileEdit } from '../../model/fields/file-edit.js';
import type { SecretFile } from '../../model/fields/secret.js';
import { isInstanceId, type UserIds } from '../../model/names.js';
import { attempt } from '../../model/plain/attempt.js';
import type { ResolvedTemplate } from '../../model/template.js';
import type { Logger } from '../../telemetry/logger.js';
import type { TemplateCache } from '../../templates/transfer/cache.js';
import type { PackThreads } from '../../templates/transfer/pack-threads.js';
import { removeTree } from '../../templates/tree/remove-tree.js';
import { syncTree } from '../../templates/tree/sync-tree.js';
import { type Variables, withSecrets } from '../command/variables.js';
import { editFiles } from './file-edits/edit-files.js';
import type { EditThread } from './file-edits/edit-thread.js';
import { modifyFiles } from './file-modifications.js';
import { InstalledFiles, type InstalledHashes } from './installed-files.js';
import { basisOf, compareFile, hashesIn, keptWarnings, stillKept, UNKNOWN } from './kept-files.js';
import { closeToOthers, give, giveEntries, modeOf, PRIVATE, takeOver } from './tree-owner.js';
import { copyItems } from './workspace-copy.js';
import { type Layer, mergeLayers, type WorkspaceItem } from './workspace-layers.js';
import { WorkspaceMerge } from './workspace-merge.js';

/**
 * The mode of `running/` when instances have users of their own: each user can enter its directory, but list no other.
 */
const PASSAGE = 0o711;
const STAGING = '.staging-';
const REMOVED = '.removed-';

interface WorkspacesOptions {
  /** `running/` of the node; made when missing. */
  readonly runningDirectory: string;
  /** Where the records of `InstalledFiles` are; made when needed. */
  readonly installedDirectory: string;
  readonly cache: Pick<TemplateCache, 'pin' | 'tree' | 'discard'>;
  readonly packThreads: PackThreads;
  readonly editThread: Pick<EditThread, 'edit'>;
  readonly logger: Logger;
}

export interface PrepareRequest {
  readonly instanceId: string;
  /** The templates; the cache holds the tree of each digest. */
  readonly templates: readonly ResolvedTemplate[];
  /** True for static instances: keep the directory and its files. */
  readonly keep: boolean;
  /** With `keep`, true: templates replace files that exist. */
  readonly override: boolean;
  /** The relative paths of files in which variables are replaced. */
  readonly fileModifications: readonly string[];
  /** Values to set in files of the finished directory, whoever wrote them; default: none. */
  readonly fileEdits?: readonly FileEdit[] | undefined;
  /** Files to write with the values of secrets; default: none. */
  readonly secretFiles?: readonly SecretFile[] | undefined;
  /** The values of secrets, for both; default: none. */
  readonly secrets?: ReadonlyMap<string, string> | undefined;
  readonly variables: Variables;
  /** The instance's user, who gets the directory and all its files; absent: Drover's own user. */
  readonly owner?: UserIds | undefined;
  /**
   * True when a container uses the directory as a user unknown here: without an owner, other users may enter and read.
   */
  readonly isContainer?: boolean;
  readonly signal: AbortSignal;
}

export class Workspaces {
  readonly #running: string;
  readonly #cache: WorkspacesOptions['cache'];
  readonly #packThreads: PackThreads;
  readonly #editThread: Pick<EditThread, 'edit'>;
  readonly #logger: Logger;
  readonly #installed: InstalledFiles;
  readonly #removals = new Set<Promise<void>>();
  #isPassage = false;

  constructor(options: WorkspacesOptions) {
    this.#running = options.runningDirectory;
    this.#installed = new InstalledFiles(options.installedDirectory);
    this.#cache = options.cache;
    this.#packThreads = options.packThreads;
    this.#editThread = options.editThread;
    this.#logger = options.logger;
  }

  /**
   * Removes the half-made and half-removed directories of a killed process. Called at start, before the first
   * `prepare`.
   */
  async removeUnfinished(): Promise<void> {
    await mkdir(this.#running, { recursive: true, mode: PRIVATE });
    for (const name of await readdir(this.#running)) {
      if (!name.startsWith(STAGING) && !name.startsWith(REMOVED)) continue;
      this.#logger.info({ name }, 'removed what an earlier daemon left unfinished');
      await removeTree(join(this.#running, name));
    }
    await this.#installed.removeOthers((id) => existsSync(join(this.#running, id)));
  }

  /** Waits for directories that are being deleted. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(this.#removals);
  }

  /**
   * Makes the working directory fresh from the templates. With `keep` it adds missing entries, and replaces files that
   * the instance has not changed since Drover installed them. After an error or an abort an existing directory is as it was; a merge cut off between two files is completed by the next call.
   * Only one call at a time per instance; repeatable. Resolves with the requests that could not be met, for the
   * operator; they do not hinder the start. Throws DRV_TEMPLATE_UNKNOWN or DRV_TEMPLATE_CORRUPT for templates that the
   * cache lacks, DRV_WORKSPACE_UNSAFE when a link or another kind of entry is in the way, DRV_DISK_WRITE_FAILED.
   * DRV_FILE_EDIT_FAILED comes after the directory was made.
   */
  async prepare(request: PrepareRequest): Promise<readonly string[]> {
    const warnings = await this.#install(request);
    const directory = this.#directoryOf(request.instanceId);
    const edits = [...(request.fileEdits ?? []), ...(request.secretFiles ?? [])];
    const variables = withSecrets(request.variables, request.secrets);
    await editFiles(this.#editThread, { ...request, edits, variables, directory });
    return warnings;
  }

  async #install(request: PrepareRequest): Promise<readonly string[]> {
    const directory = this.#directoryOf(request.instanceId);
    if (request.owner !== undefined && !this.#isPassage) {
      await chmod(this.#running, PASSAGE);
      this.#isPassage = true;
    }
    if (request.templates.length === 0 && request.fileModifications.length === 0 && !request.keep) {
      if (this.#makeEmpty(request, directory)) return [];
    }
    const digests = request.templates.map(digestOf);
    const releases = digests.map((digest) => this.#cache.pin(digest));
    try {
      mkdirSync(this.#running, { recursive: true, mode: PRIVATE });
      return await this.#build(request, directory, mergeLayers(await this.#layersOf(request)));
    } catch (error) {
      request.signal.throwIfAborted();
      throw toWriteError(error, `the working directory of instance ${request.instanceId}`);
    } finally {
      for (const release of releases) release();
    }
  }

  /** Deletes the working directory; resolves when nothing is left of it. Does nothing when there is none. */
  async remove(instanceId: string): Promise<void> {
    const away = this.#moveAway(instanceId);
    if (away !== null) await removeTree(away);
    await this.#installed.remove(instanceId);
  }

  async #build(
    request: PrepareRequest,
    directory: string,
    items: Map<string, WorkspaceItem>,
  ): Promise<string[]> {
    // Anything at the path counts as the directory, also a link: the merge then refuses the link.
    if (request.keep && lstatSync(directory, { throwIfNoEntry: false }) !== undefined)
      return this.#mergeInto(request, directory, items);
    if (items.size > 0)
      return this.#inStaging(request, items, async (staging) => {
        if (request.keep) await syncTree(staging, [...items.values()], request.signal);
        const files = request.keep ? await hashesIn(staging, items.values(), request.signal) : undefined;
        request.signal.throwIfAborted();
        await this.#replace(request.instanceId, async () => {
          await give(staging, request.owner);
          renameSync(staging, directory);
        });
        if (files !== undefined) await this.#note(request, {}, files);
      });
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
    const record = items.size === 0 ? undefined : await this.#installed.read(instanceId);
    const isSame = items.size === 0 || record?.head.basis === basisOf(request);
    if (!isSame && !override) return this.#renew(request, { merge, items, selected, record });
    const before = record?.head.kept ?? {};
    const kept = override ? {} : await stillKept(before, merge, selected, signal);
    const isChosen = new Set(selected.map(({ path }) => path));
    // Leave out the files that the instance keeps: they were modified at their installation, and belong to the instance
    // now.
    const fileModifications = request.fileModifications.filter(
      (path) => isChosen.has(path) || !items.has(path),
    );
    const chosen = new Map(selected.map((item) => [item.path, item]));
    const settled = Object.entries(before).filter(([path]) => kept[path] === undefined);
    if (chosen.size === 0 && settled.length === 0)
      return [
        ...(await modifyFiles({ ...request, directory, items: chosen, files: fileModifications })),
        ...keptWarnings(kept),
      ];
    const warnings = await this.#inStaging({ ...request, fileModifications }, chosen, async (staging) => {
      await syncTree(staging, selected, signal);
      const files = await hashesIn(staging, selected, signal);
      await merge.install(staging, selected, signal);
      await this.#note(request, kept, { ...record?.files(), ...Object.fromEntries(settled), ...files });
    });
    return [...warnings, ...keptWarnings(kept)];
  }

  /**
   * Brings other templates, or other values of variables, into a directory that is kept. A file that the instance has
   * changed since its install stays as it is, and is named if the templates have another content for it now.
   */
  async #renew(request: PrepareRequest, { merge, items, selected, record }: Renewal): Promise<string[]> {
    const { signal } = request;
    const kept: Record<string, string> = {};
    const warnings = await this.#inStaging(request, items, async (staging) => {
      const wanted = await hashesIn(staging, items.values(), signal);
      const before = record?.files() ?? {};
      const files: Record<string, string> = { ...before, ...wanted };
      const chosen = new Set(selected.map(({ path }) => path));
      for (const [path, present] of await merge.hashes(signal)) {
        if (chosen.has(path)) continue;
        const [is = '', was] = [wanted[path], before[path]];
        const what = compareFile({ present, wanted: is, installed: was, isRecorded: record !== undefined });
        if (what === 'replace') chosen.add(path);
        else if (what !== 'same') files[path] = what === 'unknown' ? UNKNOWN + is : (was ?? UNKNOWN + is);
        if (what === 'kept') kept[path] = is;
      }
      const isToMove = ({ path, kind }: WorkspaceItem): boolean => kind === 'directory' || chosen.has(path);
      const moved = [...items.values()].filter(isToMove);
      await syncTree(staging, moved, signal);
      await merge.install(staging, moved, signal);
      await this.#note(request, kept, files);
    });
    return [...warnings, ...keptWarnings(kept)];
  }

  /** Notes what is installed now. `files`: the hashes of all files that Drover installed. */
  #note(
    request: PrepareRequest,
    kept: Readonly<Record<string, string>>,
    files: InstalledHashes,
  ): Promise<void> {
    return this.#installed.write(request.instanceId, { basis: basisOf(request), kept }, files);
  }

  /**
   * Builds the items in a staging directory beside the working directories and hands it to `place`. Always removes what
   * remains of it.
   */
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
      // Files of templates are edited here too, so that an edited one still counts as installed.
      const edits = (request.fileEdits ?? []).filter(({ path }) => items.get(path)?.kind === 'file');
      await editFiles(this.#editThread, { directory: staging, edits, variables, signal });
      if (owner !== undefined) await giveEntries(staging, items.keys(), owner, signal);
      await place(staging);
      return warnings;
    } finally {
      // After a successful rename the staging directory is gone. After a failure it must be removed.
      if (existsSync(staging))
        await removeTree(staging).catch((error: unknown) => {
          this.#logger.warn({ instanceId, reason: messageOf(error) }, 'a staging directory is left over');
        });
    }
  }

  /**
   * Throws the error of a failed copy. A missing file means that a tree in the cache is incomplete: the trees of the
   * instance are discarded, and fetched again.
   */
  async #onCopyFailed(request: PrepareRequest, error: unknown): Promise<never> {
    if (!isMissing(error)) throw error;
    for (const template of request.templates) await this.#cache.discard(digestOf(template));
    throw templateCorrupt('the template cache of this node is incomplete; its trees are fetched again', {
      cause: error,
    });
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

  /**
   * Moves the old directory away, lets `place` put a new one there, and deletes the old one in the background. When
   * `place` fails, the old directory comes back.
   */
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
   * Replaces the old directory by an empty one synchronously, because a restart after a crash waits for it. False:
   * that failed, and `#build` must make it.
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
      // Remove the old directory last, because the work in the thread pool would delay the other calls. Nothing is
      // there when the rename failed.
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

  /** Renames the working directory for its removal; null: there is none. A link is moved itself, not its target. */
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
    if (!isInstanceId(instanceId)) throw invalidRequest(`${instanceId} is no instance id`);
    return join(this.#running, instanceId);
  }

  #beside(prefix: string, instanceId: string): string {
    return join(this.#running, `${prefix}${instanceId}-${randomBytes(6).toString('hex')}`);
  }
}

interface Renewal {
  readonly merge: WorkspaceMerge;
  readonly items: ReadonlyMap<string, WorkspaceItem>;
  /** The items that the directory lacks. */
  readonly selected: readonly WorkspaceItem[];
  readonly record: Awaited<ReturnType<InstalledFiles['read']>>;
}

/** Removes the directory at once if it is empty, which spares the thread pool the work. False: it is not empty. */
function removeIfEmpty(directory: string): boolean {
  return attempt(() => {
    rmdirSync(directory);
    return true;
  }, false);
}

function digestOf({ group, name, digest }: ResolvedTemplate): string {
  if (digest !== null) return digest;
  throw templateUnknown(`template ${group}/${name} does not exist`);
}
