/**
 * Adds templates to an existing working directory (static instances). The instance may have planted links there, so
 * every directory is held open while its entries are touched: nothing outside is ever read or written.
 */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, systemCodeOf } from '../../files/system-error.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { DroverError } from '../../model/errors.js';
import { type EntryKind, OpenDirectory } from '../../templates/tree/open-directory.js';
import { hashOfFile } from './installed-files.js';
import type { WorkspaceItem } from './workspace-layers.js';

interface MergeRequest {
  readonly directory: string;
  /** The directory's name in messages: `running/<id>`. */
  readonly label: string;
  /** The entries, parents before children. */
  readonly items: Iterable<WorkspaceItem>;
  /** True: replace files that exist. */
  readonly override: boolean;
}

const WHAT: Readonly<Record<EntryKind, string>> = {
  file: 'a file',
  directory: 'a directory',
  link: 'a symbolic link',
  other: 'a device, socket or pipe',
};

const UNREADABLE = 'unreadable';

/** Finds the missing entries of one working directory, and moves them in. */
export class WorkspaceMerge {
  readonly #request: MergeRequest;
  readonly #children = new Map<string, WorkspaceItem[]>();
  /** Directories that exist on both sides, found by `select`. */
  readonly #shared = new Set<string>();

  constructor(request: MergeRequest) {
    this.#request = request;
    for (const item of request.items) {
      const parent = parentOf(item.path);
      const siblings = this.#children.get(parent) ?? [];
      siblings.push(item);
      this.#children.set(parent, siblings);
    }
  }

  /**
   * The items to install, parents before children. Existing files are left out unless `override`. Changes nothing.
   * Throws DRV_WORKSPACE_UNSAFE when a link or another kind of entry is in the way.
   */
  async select(signal: AbortSignal): Promise<WorkspaceItem[]> {
    const selected: WorkspaceItem[] = [];
    await this.#inDirectory('', OpenDirectory.open(this.#request.directory), (directory) =>
      this.#selectIn(directory, '', selected, signal),
    );
    return selected;
  }

  /**
   * Moves the selected items from `staging`, on the same disk, to their places. Each move is atomic; after a crash
   * the whole merge is repeated.
   */
  async install(staging: string, selected: readonly WorkspaceItem[], signal: AbortSignal): Promise<void> {
    const paths = new Set(selected.map(({ path }) => path));
    await this.#inDirectory('', OpenDirectory.open(this.#request.directory), (directory) =>
      this.#installIn(directory, '', { staging, paths, signal }),
    );
  }

  /**
   * The hashes of the files that are there already, by path: of those in `paths`, or of all. Call it after `select`,
   * which refuses links.
   */
  async hashes(signal: AbortSignal, paths?: ReadonlySet<string>): Promise<Map<string, string>> {
    const hashes = new Map<string, string>();
    await this.#inDirectory('', OpenDirectory.open(this.#request.directory), (directory) =>
      this.#hashIn(directory, '', { hashes, paths, signal }),
    );
    return hashes;
  }

  async #hashIn(
    directory: OpenDirectory,
    parent: string,
    job: {
      readonly hashes: Map<string, string>;
      readonly paths: ReadonlySet<string> | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    await eachBounded(this.#children.get(parent) ?? [], FILE_PARALLELISM, job.signal, async (item) => {
      const name = nameOf(item.path);
      if (this.#shared.has(item.path))
        await this.#inDirectory(item.path, directory.child(name), (child) =>
          this.#hashIn(child, item.path, job),
        );
      else if (item.kind === 'file' && job.paths?.has(item.path) !== false)
        try {
          job.hashes.set(item.path, await hashOfFile(directory.entry(name), job.signal));
        } catch (error) {
          job.signal.throwIfAborted();
          // A file that the instance has closed to Drover counts as changed.
          if (!isMissing(error)) job.hashes.set(item.path, UNREADABLE);
        }
    });
  }

  async #selectIn(
    directory: OpenDirectory,
    parent: string,
    selected: WorkspaceItem[],
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const present = new Map((await directory.list()).map(({ name, kind }) => [name.toString(), kind]));
    for (const item of this.#children.get(parent) ?? []) {
      const kind = present.get(nameOf(item.path));
      if (kind === undefined) this.#selectAll(item, selected);
      else if (kind !== item.kind) throw this.#clash(item, WHAT[kind]);
      else if (kind === 'directory') await this.#selectShared(directory, item, selected, signal);
      else if (this.#request.override) selected.push(item);
    }
  }

  async #selectShared(
    parent: OpenDirectory,
    item: WorkspaceItem,
    selected: WorkspaceItem[],
    signal: AbortSignal,
  ): Promise<void> {
    this.#shared.add(item.path);
    selected.push(item);
    const before = selected.length;
    await this.#inDirectory(item.path, parent.child(nameOf(item.path)), (directory) =>
      this.#selectIn(directory, item.path, selected, signal),
    );
    if (selected.length === before) selected.pop();
  }

  #selectAll(item: WorkspaceItem, selected: WorkspaceItem[]): void {
    selected.push(item);
    for (const child of this.#children.get(item.path) ?? []) this.#selectAll(child, selected);
  }

  async #installIn(
    directory: OpenDirectory,
    parent: string,
    job: { readonly staging: string; readonly paths: ReadonlySet<string>; readonly signal: AbortSignal },
  ): Promise<void> {
    for (const item of this.#children.get(parent) ?? []) {
      if (!job.paths.has(item.path)) continue;
      job.signal.throwIfAborted();
      const name = nameOf(item.path);
      if (this.#shared.has(item.path)) {
        await this.#inDirectory(item.path, directory.child(name), (child) =>
          this.#installIn(child, item.path, job),
        );
      } else {
        await this.#move(join(job.staging, item.path), directory.entry(name), item);
      }
    }
  }

  /** Moves a file, or a directory with all its content. rename never follows a link at its target. */
  async #move(from: string, to: string, item: WorkspaceItem): Promise<void> {
    await rename(from, to).catch((error: unknown) => {
      const code = systemCodeOf(error) ?? '';
      if (['ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST'].includes(code))
        throw this.#clash(item, 'something that came in meanwhile');
      throw error;
    });
  }

  async #inDirectory(
    path: string,
    opening: Promise<OpenDirectory>,
    work: (directory: OpenDirectory) => Promise<void>,
  ): Promise<void> {
    const directory = await opening.catch((error: unknown) => {
      const code = systemCodeOf(error);
      if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
      throw new DroverError(
        'DRV_WORKSPACE_UNSAFE',
        `${join(this.#request.label, path)} is a symbolic link or no directory; put a directory in its place`,
      );
    });
    try {
      await work(directory);
    } finally {
      await directory.close();
    }
  }

  #clash(item: WorkspaceItem, what: string): DroverError {
    return new DroverError(
      'DRV_WORKSPACE_UNSAFE',
      `${join(this.#request.label, item.path)} is ${what}, but template ${item.label} has ${WHAT[item.kind]} there; ` +
        'move one of them away',
    );
  }
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
