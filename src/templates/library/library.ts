/**
 * The master's templates, `templates/<group>/<name>/`: their names, their digests, and their bytes for wrappers. It
 * never writes there; `template-directory.ts` does, and tells it. The watch on the directory tells of groups and names
 * only. Contents are read when a caller asks for a digest.
 */
import { mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import type { Part } from '../../loop/lifecycle.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import type { Logger } from '../../telemetry/logger.js';
import { packTree } from '../transfer/bundle.js';
import { type TreePlace, walkTree } from '../tree/tree.js';
import { TreeDigest } from '../tree/tree-digest.js';
import { scanGroups } from './group-scan.js';

/**
 * How often the names are read even without an event, for what the watch misses (a replaced directory, no inotify
 * left).
 */
const RESCAN_MS = 10_000;
/** Changes within this time are told as one: files are often written one after the other. */
const TELL_AFTER_MS = 500;

export interface TemplateLibraryOptions {
  /** `templates/` of the master; made when missing. */
  readonly directory: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

export type TemplateListener = (group: string, name: string) => void;

export class TemplateLibrary implements Part {
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  readonly #listeners = new Set<TemplateListener>();
  readonly #digests = new Map<string, TreeDigest>();
  #groups: ReadonlyMap<string, readonly string[]> = new Map();
  #warned: ReadonlySet<string> = new Set();
  /** Templates that were written to, each with the timer that tells the listeners. */
  readonly #written = new Map<string, TimerHandle>();
  #watcher: FSWatcher | null = null;
  #timer: TimerHandle | null = null;
  #scanning: Promise<void> | null = null;
  #scanAgain = false;

  constructor({ directory, logger, clock }: TemplateLibraryOptions) {
    this.#directory = directory;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Resolves when `groups()` is complete and watched. Throws when the directory cannot be made or read. */
  async start(): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    await this.#scan();
    await this.#watch();
    this.#requestScan();
    await this.#scanning;
    this.#rescanLater();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#timer?.cancel();
    for (const timer of this.#written.values()) timer.cancel();
    this.#written.clear();
    await this.#watcher?.close();
    await this.#scanning;
  }

  /** Groups and the names of their templates, both in order; a new map at every change. */
  groups(): ReadonlyMap<string, readonly string[]> {
    return this.#groups;
  }

  /**
   * The digest of a template now, or at most a second ago; null when there is no such template. Unchanged trees are not
   * read again; concurrent calls share one walk. Throws DRV_TEMPLATE_UNSAFE naming the path.
   */
  async digest(group: string, name: string): Promise<string | null> {
    const tree = this.#treeOf(group, name);
    const digest = await tree.read(this.#stopped.signal);
    if (digest === null) this.#digests.delete(`${group}/${name}`);
    return digest;
  }

  /**
   * Calls `listener` when a template appears, disappears, or turns out to have another digest. Returns the function
   * that unsubscribes.
   */
  onChange(listener: TemplateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Call it after Drover has written to the template. Resolves when `groups` shows it and `digest` looks again.
   * Listeners hear of a new template at once, of a changed one shortly after.
   */
  async noteWrite(group: string, name: string): Promise<void> {
    const key = `${group}/${name}`;
    this.#digests.get(key)?.distrust();
    if (this.#stopped.signal.aborted || this.#written.has(key)) return;
    if (this.#groups.get(group)?.includes(name) !== true) {
      this.#requestScan();
      await this.#scanning;
      return;
    }
    const timer = this.#clock.setTimer(TELL_AFTER_MS, () => {
      this.#written.delete(key);
      this.#tell(group, name);
    });
    this.#written.set(key, timer);
  }

  /**
   * The tar stream of the tree that has this digest now. Throws DRV_TEMPLATE_UNKNOWN when no tree has it. A file that
   * changes meanwhile ends the stream with an error, or the receiver finds it by the digest.
   */
  async *openBundle(digest: string): AsyncGenerator<Buffer> {
    const found = await this.#find(digest);
    if (found === undefined) {
      throw new DroverError(
        'DRV_TEMPLATE_UNKNOWN',
        `no template has the digest ${digest.slice(0, 12)} any more`,
      );
    }
    const place = this.#placeOf(found.group, found.name);
    const { signal } = this.#stopped;
    yield* packTree(place, await walkTree(place, signal), signal);
  }

  /** The place of the tree that has this digest now; undefined when there is none. */
  async locate(digest: string): Promise<TreePlace | undefined> {
    const found = await this.#find(digest);
    return found === undefined ? undefined : this.#placeOf(found.group, found.name);
  }

  async #find(digest: string): Promise<{ group: string; name: string } | undefined> {
    const all = [...this.#groups].flatMap(([group, names]) => names.map((name) => ({ group, name })));
    const last = ({ group, name }: { group: string; name: string }) =>
      this.#digests.get(`${group}/${name}`)?.last;
    // The tree that had it last comes first. After a restart of the master no tree was read yet.
    const likely = all.filter((template) => last(template) === digest);
    const unread = all.filter((template) => last(template) === undefined);
    for (const template of [...likely, ...unread]) {
      const current = await this.digest(template.group, template.name).catch(() => null);
      if (current === digest) return template;
    }
    return undefined;
  }

  #placeOf(group: string, name: string): TreePlace {
    return { root: `${this.#directory}/${group}/${name}`, label: `template ${group}/${name}` };
  }

  #treeOf(group: string, name: string): TreeDigest {
    for (const part of [group, name]) {
      const parsed = nameSchema.safeParse(part);
      if (!parsed.success) {
        throw new DroverError('DRV_REQUEST_INVALID', `template ${group}/${name}: ${part} is no valid name`);
      }
    }
    const key = `${group}/${name}`;
    const known = this.#digests.get(key);
    if (known !== undefined) return known;
    const tree = new TreeDigest(this.#placeOf(group, name), this.#clock, (digest) => {
      this.#logger.info({ group, template: name, digest }, `template ${group}/${name} changed`);
      this.#tell(group, name);
    });
    this.#digests.set(key, tree);
    return tree;
  }

  async #watch(): Promise<void> {
    const watcher = watch(this.#directory, {
      depth: 1,
      ignoreInitial: true,
      followSymlinks: false,
      ignored: (path, stats) =>
        stats?.isFile() === true || (path !== this.#directory && basename(path).startsWith('.')),
    });
    this.#watcher = watcher;
    const request = (): void => this.#requestScan();
    watcher.on('addDir', request).on('unlinkDir', request);
    watcher.on('error', (error) => {
      this.#logger.warn(
        { reason: messageOf(error) },
        `templates are not watched, looking every ${RESCAN_MS} ms`,
      );
    });
    await new Promise<void>((resolve) => watcher.once('ready', resolve));
  }

  #rescanLater(): void {
    if (this.#stopped.signal.aborted) return;
    this.#timer = this.#clock.setTimer(RESCAN_MS, () => {
      this.#requestScan();
      this.#rescanLater();
    });
  }

  /** Requests during a scan share one further scan. */
  #requestScan(): void {
    if (this.#stopped.signal.aborted) return;
    this.#scanAgain = true;
    this.#scanning ??= this.#scanWhileAsked().finally(() => {
      this.#scanning = null;
    });
  }

  async #scanWhileAsked(): Promise<void> {
    while (this.#scanAgain && !this.#stopped.signal.aborted) {
      this.#scanAgain = false;
      await this.#scan().catch((error: unknown) => {
        this.#logger.warn({ reason: messageOf(error) }, 'templates cannot be listed');
      });
    }
  }

  async #scan(): Promise<void> {
    const { groups, ignored } = await scanGroups(this.#directory);
    for (const what of ignored) if (!this.#warned.has(what)) this.#logger.warn(`template ignored: ${what}`);
    this.#warned = new Set(ignored);
    const before = pathsOf(this.#groups);
    const after = pathsOf(groups);
    this.#groups = groups;
    for (const [path, [group, name]] of after) if (!before.has(path)) this.#appeared(group, name);
    for (const [path, [group, name]] of before) if (!after.has(path)) this.#disappeared(group, name);
  }

  #appeared(group: string, name: string): void {
    this.#digests.get(`${group}/${name}`)?.distrust();
    this.#logger.info({ group, template: name }, `template ${group}/${name} appeared`);
    this.#tell(group, name);
  }

  #disappeared(group: string, name: string): void {
    this.#digests.delete(`${group}/${name}`);
    this.#logger.info({ group, template: name }, `template ${group}/${name} disappeared`);
    this.#tell(group, name);
  }

  #tell(group: string, name: string): void {
    for (const listener of this.#listeners) listener(group, name);
  }
}

function pathsOf(groups: ReadonlyMap<string, readonly string[]>): Map<string, readonly [string, string]> {
  const paths = new Map<string, readonly [string, string]>();
  for (const [group, names] of groups) for (const name of names) paths.set(`${group}/${name}`, [group, name]);
  return paths;
}
