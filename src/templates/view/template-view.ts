/**
 * Lets the templates of one of several masters and the shared records follow each other, by digest. The state has the
 * digests, the masters have the bytes: a master that lacks a tree fetches it from one that has it.
 */
import type { MasterPeer } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';
import type { Part } from '../../loop/lifecycle.js';
import { DroverError, messageOf } from '../../model/errors.js';
import type { TemplateRecord } from '../../model/template.js';
import type { Mirror } from '../../store/mirror.js';
import type { Logger } from '../../telemetry/logger.js';
import { Bases } from '../../views/bases.js';
import { DirectoryView } from '../../views/directory-view.js';
import type { ViewConflict } from '../../views/plan.js';
import type { TemplateLibrary } from '../library/library.js';
import { TemplateTree, type TemplateTreeOptions } from './template-tree.js';

/** After a change, for the other changes that come with it. */
const LOOK_AFTER_MS = 300;

/** The tree that a template has in the state. */
export interface HeldTemplate {
  /** `<group>/<name>`. */
  readonly name: string;
  readonly digest: string;
  /** Of the state that says so. */
  readonly revision: number;
}

/** The other masters. */
export interface TemplatePeers {
  /** Those that are up, without this one. */
  list(): readonly MasterPeer[];
  /** The tar stream of a tree of this master. */
  bundle(peer: MasterPeer, digest: string, signal: AbortSignal): AsyncIterable<Buffer>;
  /** Resolves when that master has this tree of a template, on disk. */
  hold(peer: MasterPeer, wanted: HeldTemplate, signal: AbortSignal): Promise<void>;
}

export interface TemplateViewOptions
  extends Omit<TemplateTreeOptions, 'fetch' | 'records' | 'signal' | 'library'> {
  readonly library: TemplateLibrary;
  readonly records: Mirror<TemplateRecord>;
  readonly peers: TemplatePeers;
  /** Absolute path of the file of bases. */
  readonly basesFile: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export class TemplateView implements Part {
  readonly #options: TemplateViewOptions;
  readonly #tree: TemplateTree;
  readonly #view: DirectoryView;
  readonly #stopped = new AbortController();
  #told = '';
  #looking: Promise<void> | undefined;
  #isLookDue = false;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(options: TemplateViewOptions) {
    const { basesFile, clock, random, logger } = options;
    this.#options = options;
    this.#tree = new TemplateTree({
      ...options,
      fetch: (record, signal) => this.#offers(record, signal),
      signal: this.#stopped.signal,
    });
    const bases = new Bases({ path: basesFile, logger });
    this.#view = new DirectoryView({ name: 'templates', tree: this.#tree, bases, clock, random, logger });
  }

  /** The library has started. Resolves before trees are read, which may take long. */
  async start(): Promise<void> {
    const { library, records } = this.#options;
    await this.#view.start();
    this.#unsubscribe = [library.onChange(() => this.#lookSoon()), records.onChange(() => this.#view.wake())];
    this.#lookSoon();
  }

  async stop(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    this.#stopped.abort();
    await this.#looking?.catch(() => undefined);
    await this.#view.stop();
  }

  conflicts(): readonly ViewConflict[] {
    return this.#view.conflicts();
  }

  /** Another master is up: it may have what is missing here. */
  wake(): void {
    this.#view.wake();
  }

  /** Looks at the directory now. Resolves when both sides agree but for conflicts. Throws what hinders it. */
  async follow(): Promise<void> {
    await this.#look();
    await this.#view.follow();
    this.#tell();
  }

  /**
   * Called after a write through the API. Resolves when the state and a second master have what this one has of the
   * template; without one it says so in the log. Throws what the store throws.
   */
  async spread(group: string, name: string): Promise<void> {
    const { library, peers, records, logger } = this.#options;
    await this.follow();
    const key = `${group}/${name}`;
    const digest = await library.digest(group, name);
    const others = peers.list();
    if (digest === null || others.length === 0) return;
    const { signal } = this.#stopped;
    const wanted = { name: key, digest, revision: records.revision };
    try {
      await Promise.any(others.map((peer) => peers.hold(peer, wanted, signal)));
    } catch (error) {
      const reasons =
        error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : messageOf(error);
      logger.warn({ template: key }, `template ${key} is on this master only so far: ${reasons}`);
    }
  }

  /** Answers `hold` of another master. */
  async hold({ name, digest, revision }: HeldTemplate): Promise<void> {
    await this.#options.records.until(revision);
    await this.#look();
    await this.#view.follow();
    const [group = '', template = ''] = name.split('/');
    const found = await this.#options.library.digest(group, template);
    if (found !== digest)
      throw new DroverError('DRV_TEMPLATE_PENDING', `template ${name} has another content here, or none`);
  }

  *#offers(record: TemplateRecord, signal: AbortSignal): Generator<AsyncIterable<Buffer>> {
    const { peers } = this.#options;
    const all = peers.list();
    const source = all.filter(({ nodeId }) => nodeId === record.sourceNode);
    for (const peer of new Set([...source, ...all])) yield peers.bundle(peer, record.digest, signal);
  }

  #lookSoon(): void {
    if (this.#isLookDue || this.#stopped.signal.aborted) return;
    this.#isLookDue = true;
    this.#options.clock.setTimer(LOOK_AFTER_MS, () => {
      this.#isLookDue = false;
      this.#look().then(
        () => this.#view.wake(),
        (error: unknown) =>
          this.#options.logger.warn({ err: error }, `templates cannot be read: ${messageOf(error)}`),
      );
    });
  }

  /** One look at a time: a caller gets one that began after its call. */
  async #look(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    const before = this.#looking;
    const looking = (async () => {
      await before?.catch(() => undefined);
      await this.#tree.look();
      this.#tell();
    })();
    this.#looking = looking;
    await looking;
  }

  #tell(): void {
    const conflicts = this.#view.conflicts();
    const text = JSON.stringify(conflicts);
    if (text === this.#told) return;
    this.#told = text;
    for (const { name, kind } of conflicts)
      this.#options.logger.error({ template: name, kind }, conflictText(name, kind));
  }
}

function conflictText(name: string, kind: ViewConflict['kind']): string {
  const what =
    kind === 'removed-there'
      ? 'was removed elsewhere, and changed here since'
      : kind === 'both-changed'
        ? 'was changed elsewhere, and here too'
        : 'differs from the one in force, and this node does not know which of the two is newer';
  return `conflict: template ${name} ${what}; what is in force stays. To take that one, delete templates/${name} here; to take what is here, copy it aside, delete it, and copy it back once the other is there`;
}
