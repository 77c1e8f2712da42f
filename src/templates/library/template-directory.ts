/**
 * Writes `templates/`: one writer at a time for each template, with a staging directory for unfinished work, and whole
 * trees exchanged at once. The content of the files is the business of `files.ts` and `archives.ts`.
 *
 * ```
 *   .drover/swap~<group>~<name>~<random>/new     complete and on disk
 *   1. templates/<group>/<name>  ->  .../old     a crash here: start() moves it back
 *   2. .../new  ->  templates/<group>/<name>     a crash here: start() removes the old tree
 * ```
 */
import { randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { mkdir, rename, rmdir } from 'node:fs/promises';
import { syncPath } from '../../files/sync-path.js';
import { ignoreMissing, ignoring, systemCodeOf, toWriteError } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { KeyedTurns } from '../../loop/keyed-turns.js';
import type { Part } from '../../loop/lifecycle.js';
import { DroverError } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import type { Logger } from '../../telemetry/logger.js';
import { linkTree } from '../tree/copy-tree.js';
import { DirectoryPath, kindAt, linkInTheWay, type Obstacle } from '../tree/directory-path.js';
import { checkTemplateName } from '../tree/file-path.js';
import { OpenDirectory } from '../tree/open-directory.js';
import { removeTree } from '../tree/remove-tree.js';
import { syncTree } from '../tree/sync-tree.js';
import { walkTree } from '../tree/tree.js';

/**
 * No group can have this name, so the library does not see the directory. It must be on the file system of the
 * templates, so that trees can be renamed into place.
 */
const STAGING = '.drover';
const SWAP = /^swap~([^~]+)~([^~]+)~/;

interface TemplateDirectoryOptions {
  /** `templates/` of the master. */
  readonly directory: string;
  readonly logger: Logger;
  /** Called when a template may have changed. The write resolves after it. */
  readonly onWritten: (group: string, name: string) => Promise<void>;
}

/**
 * Fills the directory `next` and writes its files through to the disk. `current` is the path of the present template,
 * undefined when there is none.
 */
type TreeBuilder = (next: string, current: string | undefined) => Promise<void>;

export class TemplateDirectory implements Part {
  readonly #options: TemplateDirectoryOptions;
  readonly #turns = new KeyedTurns();
  readonly #stopped = new AbortController();

  constructor(options: TemplateDirectoryOptions) {
    this.#options = options;
  }

  /**
   * Undoes or finishes the exchanges of a killed process, and removes its unfinished work. Call it before the library
   * starts.
   */
  async start(): Promise<void> {
    const staging = await OpenDirectory.open(this.#stagingPath).catch(ignoreMissing);
    if (staging === undefined) return;
    await whileOpen(staging, async () => {
      for (const { name } of await staging.list()) await this.#recover(staging, name.toString());
    });
  }

  /** Waits for the writes that are under way. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#turns.whenIdle();
  }

  /** The path where the template is or would be. Only for callers that check for links themselves. */
  pathOf(group: string, name: string): string {
    return `${this.#options.directory}/${group}/${name}`;
  }

  /** See `DirectoryPath.open`; `names` begins with group and template. */
  open(names: readonly string[], how: { readonly make: boolean }): Promise<DirectoryPath | Obstacle> {
    return DirectoryPath.open(this.#options.directory, names, how);
  }

  /** Runs `work` as the only writer of the template. */
  async write<T>(group: string, name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#turns.run(`${group}/${name}`, work);
    } finally {
      // Tell the library after a failure, too, because the change may have been made before the failure.
      await this.#options.onWritten(group, name);
    }
  }

  /** Gives `work` a directory for unfinished work. `work` removes what it makes there. */
  async withStaging<T>(work: (staging: OpenDirectory) => Promise<T>): Promise<T> {
    await mkdir(this.#stagingPath, { mode: 0o700 }).catch(ignoring('EEXIST'));
    return await whileOpen(OpenDirectory.open(this.#stagingPath), work);
  }

  /**
   * Replaces the template by the tree that `build` writes, whole or not at all. Throws DRV_PATH_UNSAFE when a
   * link is in its place, DRV_TEMPLATE_UNSAFE for a tree that no template can have, DRV_DISK_WRITE_FAILED,
   * and the errors of `build`.
   */
  async replace(group: string, name: string, build: TreeBuilder): Promise<void> {
    checkTemplateName(group, name);
    const swap = `swap~${group}~${name}~${randomBytes(6).toString('hex')}`;
    await this.withStaging((staging) =>
      this.write(group, name, () => this.#exchange(staging, swap, { group, name }, build)),
    ).catch((error: unknown) => {
      throw toWriteError(error, `template ${group}/${name}`);
    });
  }

  /**
   * Like `replace`, with a tree from elsewhere on disk, which is moved or copied. No other process may write that tree.
   */
  replaceBy(group: string, name: string, tree: string): Promise<void> {
    return this.replace(group, name, async (next) => {
      try {
        await rename(tree, next);
      } catch (error) {
        if (systemCodeOf(error) !== 'EXDEV') throw error;
        await linkTree(tree, next);
      }
    });
  }

  /**
   * Removes the template. `isIt` runs while no other writer can change the template, and says whether it
   * still is the one that the caller means.
   */
  async remove(group: string, name: string, isIt: () => Promise<boolean>): Promise<void> {
    checkTemplateName(group, name);
    const left = `removed~${group}~${name}~${randomBytes(6).toString('hex')}`;
    await this.withStaging((staging) =>
      this.write(group, name, async () => {
        if (!(await isIt())) return;
        await rename(this.pathOf(group, name), staging.entry(left));
        await syncPath(`${this.#options.directory}/${group}`);
        await removeTree(staging.entry(left));
        // An empty group is removed too: a group is a directory with templates.
        await rmdir(`${this.#options.directory}/${group}`).catch(() => undefined);
      }),
    );
  }

  get #stagingPath(): string {
    return `${this.#options.directory}/${STAGING}`;
  }

  async #exchange(
    staging: OpenDirectory,
    swap: string,
    { group, name }: { readonly group: string; readonly name: string },
    build: TreeBuilder,
  ): Promise<void> {
    const path = await this.open([group], { make: true });
    if (!(path instanceof DirectoryPath))
      throw new DroverError('DRV_PATH_UNSAFE', `${group} is no directory`);
    const place = staging.entry(swap);
    try {
      await mkdir(place);
      const isThere = await isTemplate(path.last, name);
      const current = isThere ? path.last.entry(name) : undefined;
      await build(`${place}/new`, current);
      const entries = await walkTree(
        { root: `${place}/new`, label: `template ${group}/${name}` },
        this.#stopped.signal,
      );
      // `build` has written the contents through to the disk, so only the directories are left to sync.
      const directories = entries.filter(({ kind }) => kind === 'directory');
      await syncTree(`${place}/new`, directories, this.#stopped.signal);
      await syncPath(place);
      await staging.sync();
      moveInto(path.last.entry(name), place, isThere);
      await path.sync();
    } catch (error) {
      await path.undo();
      throw error;
    } finally {
      await path.close();
      await this.#discard(staging, swap);
    }
  }

  async #recover(staging: OpenDirectory, entry: string): Promise<void> {
    const [, group, name] = SWAP.exec(entry) ?? [];
    const isOurs = [group, name].every((part) => nameSchema.safeParse(part).success);
    if (isOurs && group !== undefined && name !== undefined) {
      // Open the entry as a directory: if a link has this name, the open fails instead of leading elsewhere.
      const swap = await staging.child(entry).catch(() => undefined);
      if (swap !== undefined) await whileOpen(swap, () => this.#moveBack(swap, group, name));
    }
    await this.#discard(staging, entry);
  }

  async #moveBack(swap: OpenDirectory, group: string, name: string): Promise<void> {
    const path = await this.open([group], { make: false });
    if (!(path instanceof DirectoryPath)) return;
    await whileOpen(path, async ({ last }) => {
      if ((await kindAt(last, name)) !== undefined) return;
      await rename(swap.entry('old'), last.entry(name)).catch(ignoreMissing);
      await path.sync();
    });
  }

  /**
   * Removes the rest of an exchange. An exchange that can be neither finished nor undone stays, because it has the only
   * copy of the tree.
   */
  async #discard(staging: OpenDirectory, entry: string): Promise<void> {
    const kinds = await kindsIn(staging, entry);
    if (kinds.has('old') && kinds.has('new'))
      this.#options.logger.error(
        { entry },
        `templates/${STAGING}/${entry}/old is a template that was being replaced and could not be moved back: move it by hand`,
      );
    else await removeTree(staging.entry(entry));
  }
}

/**
 * Exchanges within one turn of the event loop, so that no reader in this process sees the moment without a template.
 */
function moveInto(target: string, place: string, isThere: boolean): void {
  if (isThere) renameSync(target, `${place}/old`);
  try {
    renameSync(`${place}/new`, target);
  } catch (error) {
    if (isThere) renameSync(`${place}/old`, target);
    throw error;
  }
}

async function isTemplate(group: OpenDirectory, name: string): Promise<boolean> {
  const kind = await kindAt(group, name);
  if (kind === 'link') throw linkInTheWay(name);
  if (kind === undefined || kind === 'directory') return kind !== undefined;
  throw new DroverError('DRV_PATH_UNSAFE', `${name} is a file where the template should be: move it away`);
}

async function kindsIn(staging: OpenDirectory, entry: string): Promise<Set<string>> {
  const directory = await staging.child(entry).catch(() => undefined);
  if (directory === undefined) return new Set();
  const entries = await whileOpen(directory, () => directory.list());
  return new Set(entries.map(({ name }) => name.toString()));
}
