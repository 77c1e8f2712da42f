/**
 * Keeps the templates of one of several masters and the shared records in step, by digest. The state has the digests,
 * the masters have the bytes: a master that lacks a tree fetches it from a master that has it.
 */
import type { NewestCommit } from '../../git/newest-commit.js';
import type { MasterPeer } from '../../leadership/leadership.js';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import type { Part } from '../../loop/lifecycle.js';
import type { ConfigurationFileError } from '../../model/configuration.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { templatePath } from '../../model/plain/template-fault.js';
import type { TemplateRecord } from '../../model/template.js';
import type { Mirror } from '../../store/mirror.js';
import type { Logger } from '../../telemetry/logger.js';
import type { DirectoryFollower, ViewConflict, ViewTree } from '../../views/view.js';
import type { TemplateLibrary, TemplateListener } from '../library/library.js';
import { noMasterHas, TemplateTree, type TemplateTreeOptions } from './template-tree.js';

/** How long a look waits after a change, for the other changes that come with it. */
const LOOK_AFTER_MS = 300;
/** How often git is asked, because it may move to a commit that changes no file here, and no event tells. */
const ASK_GIT_MS = 1000;

/** The tree that a template has in the state. */
export interface HeldTemplate {
  /** `<group>/<name>`. */
  readonly name: string;
  readonly digest: string;
  /** The store revision of the record with this digest. */
  readonly revision: number;
}

/** The other masters. */
export interface TemplatePeers {
  /** The other masters that are up. */
  list(): readonly MasterPeer[];
  /** True when no other master is known, up or not. */
  isAlone(): boolean;
  /** The tar stream of a tree of this master. */
  bundle(peer: MasterPeer, digest: string, signal: AbortSignal): AsyncIterable<Buffer>;
  /** Resolves when that master has this tree of the template on disk. */
  hold(peer: MasterPeer, wanted: HeldTemplate, signal: AbortSignal): Promise<void>;
}

interface TemplateViewOptions extends Omit<TemplateTreeOptions, 'fetch' | 'records' | 'signal' | 'library'> {
  readonly library: TemplateLibrary;
  readonly records: Mirror<TemplateRecord>;
  readonly newest: NewestCommit;
  readonly peers: TemplatePeers;
  /** Called when the conflicts have changed. */
  readonly onConflicts: () => void;
  /**
   * Makes the follower that brings the directory and the records in line. `onRound`: the follower calls it
   * when its answers may have changed.
   */
  readonly followerOf: (tree: ViewTree, onRound: () => void) => DirectoryFollower;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class TemplateView implements Part {
  readonly #options: TemplateViewOptions;
  readonly #tree: TemplateTree;
  readonly #follower: DirectoryFollower;
  readonly #stopped = new AbortController();
  #told = '[]';
  #looking: Promise<void> | undefined;
  /** The timer of the next look. */
  #timer: TimerHandle | undefined;
  /** The timer of the next question to git. */
  #poll: TimerHandle | undefined;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(options: TemplateViewOptions) {
    this.#options = options;
    this.#tree = new TemplateTree({
      ...options,
      fetch: ({ digest, sourceNode }) => this.#offers(digest, sourceNode),
      signal: this.#stopped.signal,
    });
    this.#follower = options.followerOf(this.#tree, () => this.#tell());
  }

  /**
   * Begins to follow the records. Call it after the library has started. Resolves before trees are read, which may take
   * long.
   */
  async start(): Promise<void> {
    const { library, records } = this.#options;
    await this.#follower.start();
    this.#options.git.followCommits(this.#options.newest);
    this.#pollLater();
    this.#unsubscribe = [
      library.onChange(() => this.#lookSoon()),
      records.onChange(() => {
        this.#follower.wake();
        // The changed record may be in conflict with the directory.
        this.#lookSoon();
      }),
    ];
    this.#lookSoon();
  }

  async stop(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    this.#stopped.abort();
    this.#timer?.cancel();
    this.#poll?.cancel();
    await this.#looking?.catch(() => undefined);
    await this.#follower.stop();
  }

  conflicts(): readonly ViewConflict[] {
    return this.#follower.conflicts();
  }

  /** The conflicts, in the form of faults of configuration files. */
  faults(): readonly ConfigurationFileError[] {
    return this.conflicts().map(({ name, kind }) => ({
      file: templatePath(name),
      line: null,
      column: null,
      field: null,
      message: this.#textOf({ name, kind }),
    }));
  }

  /** Called when another master is up: it may have a tree that is missing here. */
  wake(): void {
    this.#follower.wake();
  }

  /**
   * Looks at the directory now. Resolves when the directory and the state agree, except for conflicts. Throws the
   * reason why they cannot.
   */
  async follow(): Promise<void> {
    await this.#look();
    await this.#follower.follow();
  }

  /**
   * Called after a write through the API. Resolves when the state and a second master have this master's tree.
   * Otherwise resolves with the reason why only this master has it so far.
   *
   * Throws the errors of the store, and DRV_STORE_CONFLICT when the template was changed elsewhere: then the written
   * tree is in this directory, but not in force.
   */
  async spread(group: string, name: string): Promise<string | undefined> {
    const { peers, records, logger } = this.#options;
    const key = `${group}/${name}`;
    const digest = await this.#followOne(key);
    const conflict = this.conflicts().find((one) => one.name === key);
    if (conflict !== undefined) throw new DroverError('DRV_STORE_CONFLICT', this.#textOf(conflict));
    if (digest === null || peers.isAlone()) return undefined;
    const { signal } = this.#stopped;
    const wanted = { name: key, digest, revision: records.revision };
    const others = peers.list();
    try {
      await Promise.any(others.map((peer) => peers.hold(peer, wanted, signal)));
      return undefined;
    } catch (error) {
      const errors = error instanceof AggregateError ? error.errors : [error];
      const named = errors.map((one, index) => `${others[index]?.nodeId}: ${messageOf(one)}`);
      const reasons = named.length === 0 ? 'no other one is up' : named.join('; ');
      logger.warn({ template: key }, `template ${key} is on this master only so far: ${reasons}`);
      return `on this master only so far: ${reasons}`;
    }
  }

  #textOf({ name, kind }: ViewConflict): string {
    return conflictText(name, kind, this.#options.git.owns(name));
  }

  /** The templates in force, as `<group>/<name>`. */
  names(): Iterable<string> {
    return [...this.#options.records.entries()].map(([name]) => name);
  }

  /** The record of a template, which all masters have agreed on. Undefined: they have no such template. */
  record(name: string): TemplateRecord | undefined {
    return this.#options.records.get(name)?.value;
  }

  /** The digest in force of a template. `here`: the digest of that template in this directory, or null. */
  inForce(name: string, here: string | null): string | null {
    const record = this.#options.records.get(name)?.value.digest;
    // What git owns here may be of a commit that is not in force, and is not judged yet.
    if (this.#options.git.owns(name)) return record ?? null;
    if (record === undefined || record === here) return here;
    return here === null || this.#follower.isBehind(name) ? record : here;
  }

  /**
   * The tar stream of a tree that another master has. Throws DRV_TEMPLATE_UNKNOWN before the first byte when no master
   * has it.
   */
  async *elsewhere(digest: string): AsyncGenerator<Buffer> {
    for (const stream of this.#offers(digest)) {
      const reading = stream[Symbol.asyncIterator]();
      const first = await reading.next().catch(() => undefined);
      if (first === undefined) continue;
      if (first.done !== true) yield first.value;
      yield* { [Symbol.asyncIterator]: () => reading };
      return;
    }
    throw noMasterHas(digest);
  }

  onChange(listener: TemplateListener): () => void {
    return this.#options.records.onChange((key) => {
      const [group = '', name = ''] = key.split('/');
      listener(group, name);
    });
  }

  /**
   * Answers another master that asks this one to `hold` a tree. Throws DRV_TEMPLATE_PENDING when this master has
   * another content.
   */
  async hold({ name, digest, revision }: HeldTemplate): Promise<void> {
    await this.#options.records.until(revision);
    if ((await this.#followOne(name)) !== digest)
      throw new DroverError('DRV_TEMPLATE_PENDING', `template ${name} has another content here, or none`);
  }

  /** Like `follow`, but throws only when this template is not in step. Resolves with its digest in the directory. */
  async #followOne(key: string): Promise<string | null> {
    const { library, records } = this.#options;
    const hindrance = await this.follow().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const [group = '', name = ''] = key.split('/');
    const digest = await library.digest(group, name);
    const isInForce = (records.get(key)?.value.digest ?? null) === digest;
    if (hindrance !== undefined && !isInForce) throw hindrance.error;
    return digest;
  }

  /** The tar streams of a tree from the other masters, beginning with the master that `sourceNode` names. */
  *#offers(digest: string, sourceNode?: string): Generator<AsyncIterable<Buffer>> {
    const { peers } = this.#options;
    const all = peers.list();
    const source = all.filter(({ nodeId }) => nodeId === sourceNode);
    for (const peer of new Set([...source, ...all])) yield peers.bundle(peer, digest, this.#stopped.signal);
  }

  #lookSoon(): void {
    if (this.#timer !== undefined || this.#stopped.signal.aborted) return;
    this.#timer = this.#options.clock.setTimer(LOOK_AFTER_MS, () => {
      this.#timer = undefined;
      this.#look().then(
        () => this.#follower.wake(),
        (error: unknown) =>
          this.#options.logger.warn({ err: error }, `templates cannot be read: ${messageOf(error)}`),
      );
    });
  }

  /** Asks git at set times where it owns the directory, and looks when its answer may be another one. */
  #pollLater(): void {
    const { origins } = this.#options.git;
    if (origins.order === undefined || this.#stopped.signal.aborted) return;
    this.#poll = this.#options.clock.setTimer(ASK_GIT_MS, () => {
      void origins.hasMoved().then((hasMoved) => {
        if (hasMoved) this.#lookSoon();
        this.#pollLater();
      });
    });
  }

  /** Makes one look at a time: a caller gets a look that began after its call. */
  async #look(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    const before = this.#looking;
    const looking = (async () => {
      await before?.catch(() => undefined);
      await this.#tree.look();
    })();
    this.#looking = looking;
    await looking;
  }

  #tell(): void {
    void this.#options.git.origins.order?.lookUp().then((isKnown) => isKnown && this.wake());
    const conflicts = this.#follower.conflicts();
    const text = JSON.stringify(conflicts);
    if (text === this.#told) return;
    this.#told = text;
    this.#options.onConflicts();
    for (const { name, kind } of conflicts)
      this.#options.logger.error({ template: name, kind }, this.#textOf({ name, kind }));
  }
}

function conflictText(name: string, kind: ViewConflict['kind'], isOfGit: boolean): string {
  const what =
    kind === 'removed-there'
      ? 'was removed elsewhere, and changed here since'
      : kind === 'both-changed'
        ? 'was changed elsewhere, and here too'
        : 'differs from the one in force, and this node does not know which of the two is newer';
  const cure = isOfGit
    ? 'Merge the commits of both masters, and pull the merge on each'
    : `To take that one, delete templates/${name} here; to take what is here, copy it aside, delete it, and copy it back once the other is there`;
  return `conflict: template ${name} ${what}; what is in force stays. ${cure}`;
}
