/**
 * The master's templates, `templates/<group>/<name>/`: their names, their digests, and their bytes for wrappers. The
 * library only reads; `template-directory.ts` writes and tells the library. A template's contents are read when a
 * caller first asks for its digest, and watched from then on.
 */
import { mkdir, statfs } from 'node:fs/promises';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import type { Part } from '../../loop/lifecycle.js';
import type { Logger } from '../../telemetry/logger.js';
import { packWhole } from '../transfer/bundle.js';
import { unknownTree } from '../transfer/tree-manifests.js';
import { checkTemplateName } from '../tree/file-path.js';
import type { TreePlace } from '../tree/tree.js';
import { TreeDigest } from '../tree/tree-digest.js';
import { ContentWatch } from './content-watch.js';
import { TemplateNames } from './template-names.js';

/**
 * How often names, sizes and times of files are read even without an event. The watches miss some changes: a replaced
 * directory, a file system without events, no inotify left.
 */
const RESCAN_MS = 10_000;
/** The share of the time that looks at all trees may take. */
const RESCAN_SHARE = 1 / 50;
/** Changes within this time are told as one, because programs often write several files in a row. */
const LOOK_AFTER_MS = 300;
/** The share of the time that looks at one tree may take when the tree keeps changing. */
const LOOK_SHARE = 1 / 5;

/** File systems that send no event for a change made on another machine, by the magic numbers of statfs(2). */
const WITHOUT_EVENTS: ReadonlySet<number> = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xff534d42, // CIFS
  0xfe534d42, // SMB 2
  0x01021997, // 9P
  0x65735546, // FUSE
  0x00c36400, // Ceph
  0x5346414f, // AFS
  0x0bd00bd0, // Lustre
  0x01161970, // GFS2
  0x7461636f, // OCFS2
]);

/** `name` is empty when any template of the group may have changed. */
export type TemplateListener = (group: string, name: string) => void;

export class TemplateLibrary implements Part {
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  readonly #listeners = new Set<TemplateListener>();
  readonly #digests = new Map<string, TreeDigest>();
  /** The templates that may have changed, each with the timer of the look that tells the listeners. */
  readonly #looks = new Map<string, TimerHandle>();
  readonly #names: TemplateNames;
  readonly #contents: ContentWatch;
  /** True when the file system sends events for changes. */
  #isWatched = true;
  #timer: TimerHandle | null = null;
  #rounds: Promise<unknown> = Promise.resolve();

  /** `directory`: `templates/` of the master, which is made when missing. */
  constructor(directory: string, clock: Clock, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
    this.#clock = clock;
    this.#names = new TemplateNames({
      directory,
      onAppeared: (group, name) => this.#appeared(group, name),
      onDisappeared: (group, name) => this.#disappeared(group, name),
      onReplaced: (group, name) => this.#replaced(group, name),
      logger,
    });
    this.#contents = new ContentWatch({
      onHint: (key) => this.#hint(key),
      onRefused: (key, why) =>
        logger.warn(
          { reason: why },
          `template ${key} is not watched, so Drover looks every ${RESCAN_MS / 1000} s: ${why}`,
        ),
      clock,
    });
  }

  /** Resolves when `groups()` is complete and watched. Throws when the directory cannot be made or read. */
  async start(): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    this.#isWatched = !WITHOUT_EVENTS.has((await statfs(this.#directory)).type);
    if (!this.#isWatched)
      this.#logger.warn(
        `templates/ lies on a network file system, which tells of no changes: Drover looks every ${RESCAN_MS / 1000} s`,
      );
    await this.#names.start();
    this.#rescanLater(RESCAN_MS);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#timer?.cancel();
    for (const timer of this.#looks.values()) timer.cancel();
    this.#looks.clear();
    await this.#names.stop();
    this.#contents.stop();
    await this.#rounds;
  }

  /** The local groups and the names of their templates, both in order; a new map at every change. */
  groups(): ReadonlyMap<string, readonly string[]> {
    return this.#names.groups();
  }

  /** Reads the names now. Resolves when `groups` shows every directory that was there before the call. */
  rescan(): Promise<void> {
    return this.#names.rescan();
  }

  /**
   * The digest of a template now; null when there is no such template. Where the template cannot be watched, the digest
   * may be a second old. Unchanged trees are not read again; concurrent calls share one walk. Throws
   * DRV_TEMPLATE_UNSAFE naming the path.
   */
  digest(group: string, name: string): Promise<string | null> {
    return this.#ask(group, name, (tree) => tree.read(this.#stopped.signal));
  }

  /** Like `digest`, but always looks at the disk. For a caller that is about to replace the tree. */
  look(group: string, name: string): Promise<string | null> {
    return this.#ask(group, name, (tree) => tree.look(this.#stopped.signal));
  }

  async #ask(
    group: string,
    name: string,
    question: (tree: TreeDigest) => Promise<string | null>,
  ): Promise<string | null> {
    const key = `${group}/${name}`;
    const tree = this.#treeOf(group, name);
    this.#contents.touch(key);
    const digest = await question(tree);
    if (digest === null) this.#forget(key);
    return digest;
  }

  /**
   * Calls `listener` within a second when a template appears, disappears, gets another digest or loses its digest.
   * Returns the function that unsubscribes.
   */
  onChange(listener: TemplateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Tells the library that Drover has written to the template. Resolves when `groups` shows the template and the next
   * `digest` looks at the disk. Listeners hear of a new template at once, of a changed template shortly after.
   */
  async noteWrite(group: string, name: string): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    if (!this.#names.has(group, name)) {
      this.#digests.get(`${group}/${name}`)?.distrust();
      await this.rescan();
    } else this.#hint(`${group}/${name}`);
  }

  /**
   * The tar stream of the tree that has this digest now. Throws DRV_TEMPLATE_UNKNOWN when no tree has it. A file that
   * changes meanwhile ends the stream with an error, or the receiver finds a wrong digest.
   */
  async *openBundle(digest: string): AsyncGenerator<Buffer> {
    const place = await this.locate(digest);
    if (place === undefined) throw unknownTree(digest);
    yield* packWhole(place, this.#stopped.signal);
  }

  /** The place of the tree that has this digest now; undefined when there is none. */
  async locate(digest: string): Promise<TreePlace | undefined> {
    const all = [...this.#names.groups()].flatMap(([group, names]) => names.map((name) => ({ group, name })));
    const last = ({ group, name }: { group: string; name: string }) =>
      this.#digests.get(`${group}/${name}`)?.last;
    // The tree that had the digest last comes first, then the trees that were not read since the master started.
    const likely = all.filter((template) => last(template) === digest);
    const unread = all.filter((template) => last(template) === undefined);
    for (const { group, name } of [...likely, ...unread]) {
      const current = await this.digest(group, name).catch(() => null);
      if (current === digest) return this.#placeOf(group, name);
    }
    return undefined;
  }

  #placeOf(group: string, name: string): TreePlace {
    return { root: `${this.#directory}/${group}/${name}`, label: `template ${group}/${name}` };
  }

  #treeOf(group: string, name: string): TreeDigest {
    checkTemplateName(group, name);
    const key = `${group}/${name}`;
    const known = this.#digests.get(key);
    if (known !== undefined) return known;
    const tree = new TreeDigest({
      place: this.#placeOf(group, name),
      clock: this.#clock,
      follow: (directories) => (this.#isWatched ? this.#contents.follow(key, directories) : undefined),
      onChanged: () => {
        this.#logger.info({ group, template: name, digest: tree.last }, `template ${key} changed`);
        this.#tell(group, name);
      },
    });
    this.#digests.set(key, tree);
    return tree;
  }

  #forget(key: string): void {
    this.#digests.delete(key);
    this.#contents.forget(key);
  }

  /** Notes that a template may have changed: the next `digest` looks, and the listeners hear soon if it did. */
  #hint(key: string): void {
    const tree = this.#digests.get(key);
    tree?.distrust();
    if (this.#stopped.signal.aborted || this.#looks.has(key)) return;
    const delayMs = Math.max(LOOK_AFTER_MS, Math.min((tree?.lookMs ?? 0) / LOOK_SHARE, RESCAN_MS));
    const timer = this.#clock.setTimer(delayMs, () => {
      this.#looks.delete(key);
      const [group = '', name = ''] = key.split('/');
      const known = this.#digests.get(key);
      known?.read(this.#stopped.signal).catch(() => undefined);
      // A tree that was not read since the start has no digest to compare with, so the listeners hear of a
      // change without a look.
      if (known === undefined) this.#tell(group, name);
    });
    this.#looks.set(key, timer);
  }

  /**
   * Hints at the templates of a group, or at one of them, because its directory was replaced. `TemplateNames`
   * finds new templates.
   */
  #replaced(group: string, name: string | undefined): void {
    const known = this.#names.groups().get(group) ?? [];
    for (const one of known) if (name === undefined || name === one) this.#hint(`${group}/${one}`);
  }

  #rescanLater(delayMs: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#timer = this.#clock.setTimer(delayMs, () => {
      this.#rounds = this.#lookAtAll().then((tookMs) =>
        this.#rescanLater(Math.max(RESCAN_MS, tookMs / RESCAN_SHARE)),
      );
    });
  }

  /** Looks at all names and known trees. Never rejects; resolves with the time that the looks took. */
  async #lookAtAll(): Promise<number> {
    const startedAt = this.#clock.monotonic();
    await this.rescan();
    for (const tree of [...this.#digests.values()]) {
      if (this.#stopped.signal.aborted) break;
      await tree.look(this.#stopped.signal).catch(() => undefined);
    }
    return this.#clock.monotonic() - startedAt;
  }

  #appeared(group: string, name: string): void {
    this.#digests.get(`${group}/${name}`)?.distrust();
    this.#logger.info({ group, template: name }, `template ${group}/${name} appeared`);
    this.#tell(group, name);
  }

  #disappeared(group: string, name: string): void {
    this.#forget(`${group}/${name}`);
    this.#logger.info({ group, template: name }, `template ${group}/${name} disappeared`);
    this.#tell(group, name);
  }

  #tell(group: string, name: string): void {
    for (const listener of this.#listeners) listener(group, name);
  }
}
