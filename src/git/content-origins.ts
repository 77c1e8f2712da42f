/**
 * Remembers who brought the contents of files, for the history: the commit of the directory, and writers through the
 * API. It asks for commits before a reading counts, so that the records follow the files without a wait.
 */
import type { ContentOrigin } from '../model/configuration-history.js';
import type { Logger } from '../telemetry/logger.js';
import type { SideOrder } from '../views/view.js';
import { CommitOrder } from './commit-order.js';
import { type GitOrigin, gitOriginsOf } from './git-origins.js';
import type { NewestCommit } from './newest-commit.js';

/** The author of a write through the API or a command. */
export interface FileWriter {
  /** The name of the caller in the audit trail. */
  readonly key: string;
  /** Why an older content is brought back; absent: the write is no rollback. */
  readonly rollback?: string;
  /** Why the caller writes; absent: the caller did not say. */
  readonly reason?: string | undefined;
}

export interface ContentSource {
  readonly origin: Omit<ContentOrigin, 'node'>;
  /** Why the former content is taken back; undefined: the change is no rollback. */
  readonly rollback: string | undefined;
  /** Why a caller wrote the content. */
  readonly reason?: string | undefined;
  /** The last commit that changed the file. Absent: not known, or the file differs from it. */
  readonly changedBy?: string | undefined;
}

/** The part of a reading that matters here. An unchanged file keeps its signature. */
interface ReadFile {
  readonly kind: 'valid' | 'broken';
  readonly signature: string;
}

export class ContentOrigins {
  readonly #directory: string;
  readonly #logger: Pick<Logger, 'info'>;
  readonly #originsOf: typeof gitOriginsOf;
  #isFailureTold = false;
  /** The commits by file name. */
  readonly #commits = new Map<string, GitOrigin>();
  /** The order of commits, where other masters have clones, too. */
  #order: CommitOrder | undefined;
  /** The commit that this master has written to the record of each file, or tree, last. */
  readonly #noted = new Map<string, string | undefined>();
  /**
   * The signatures of files that were not as their commit has them. Git changes files before it moves to their commit, so
   * a second look decides.
   */
  #dirty: ReadonlyMap<string, string> = new Map();
  readonly #doubted = new Set<string>();
  /** Who is writing the file of a configuration, by its name, until the records have the new content. */
  readonly #writers = new Map<string, FileWriter>();

  /** `originsOf`: the origins of whole trees, where names are those of directories. */
  constructor(directory: string, logger: Pick<Logger, 'info'>, originsOf = gitOriginsOf) {
    this.#directory = directory;
    this.#logger = logger;
    this.#originsOf = originsOf;
  }

  /** From now on `orderOf` answers. Called before the first reading. */
  followCommits(newest: NewestCommit): void {
    this.#order = new CommitOrder(this.#directory, newest, (reason) => this.#tellFailure(reason));
  }

  /** Undefined: commits are not followed. */
  get order(): Pick<CommitOrder, 'head' | 'isAt' | 'lookUp'> | undefined {
    return this.#order;
  }

  /** True when git may say something else of the whole directory than at the last reading. */
  async hasMoved(): Promise<boolean> {
    const order = this.#order;
    return this.#doubted.size > 0 || (order !== undefined && !order.isAt(await order.head()));
  }

  /**
   * Asks git for the commit of each valid reading that differs from the settled one. Call it before the
   * readings are settled. `head`: the commit before all files were read.
   */
  async look(
    readings: Iterable<readonly [file: string, ReadFile | undefined]>,
    settled: ReadonlyMap<string, ReadFile>,
    head?: string,
  ): Promise<void> {
    const signatures = new Map<string, string>();
    const isOld = this.#order?.isAt(head) === false;
    for (const [file, reading] of readings)
      if (
        reading?.kind === 'valid' &&
        (isOld || this.#dirty.has(file) || reading.signature !== settled.get(file)?.signature)
      )
        signatures.set(file, reading.signature);
    const changed = [...signatures.keys()];
    if (changed.length > 0) {
      const commits = await this.#originsOf(this.#directory, changed, (reason) => this.#tellFailure(reason));
      for (const file of changed) {
        const commit = commits.get(file);
        if (commit === undefined) this.#commits.delete(file);
        else this.#commits.set(file, commit);
      }
    }
    if (this.#order === undefined) return;
    // While git moves to another commit, nothing is known of the order.
    if (isOld || changed.length > 0) {
      const now = await this.#order.head();
      await this.#order.learn(head === now ? now : undefined);
    }
    this.#doubtDirty(signatures);
  }

  /** True for a file that may be of a commit to which git is about to move. */
  isDoubted(file: string): boolean {
    return this.#doubted.has(file);
  }

  /**
   * The order of a file and the content in force, which a commit may have brought. `here` undefined: the file is gone;
   * `inForce` undefined: nothing is in force.
   */
  orderOf(
    file: string,
    here: string | undefined,
    inForce: { readonly hash: string; readonly commit?: string | undefined } | undefined,
  ): SideOrder {
    const isAsCommitted = here === undefined || this.#commits.get(file)?.isDirty === false;
    if (inForce === undefined) return isAsCommitted ? (this.#order?.ofNew() ?? 'unknown') : 'unknown';
    const { hash, commit } = inForce;
    const { changedBy } = this.ofFile(file);
    const isAgreed = here === hash;
    // Write each commit of an agreed content once, in case the leader does not keep commits.
    if (isAgreed && (changedBy === undefined || this.#noted.get(file) === changedBy)) return 'unknown';
    if (commit === undefined) return isAgreed ? 'newer' : 'unknown';
    if (!isAsCommitted) return 'unknown';
    return this.#order?.of(file, commit, here !== undefined) ?? 'unknown';
  }

  /** Notes that the record has the commit of the file now; undefined: none is known. */
  note(file: string, commit: string | undefined): void {
    this.#noted.set(file, commit);
  }

  #doubtDirty(signatures: ReadonlyMap<string, string>): void {
    const before = this.#dirty;
    const dirty = new Map([...signatures].filter(([file]) => this.#commits.get(file)?.isDirty === true));
    this.#doubted.clear();
    for (const [file, signature] of dirty) if (before.get(file) !== signature) this.#doubted.add(file);
    this.#dirty = dirty;
  }

  #tellFailure(reason: string): void {
    if (this.#isFailureTold) return;
    this.#isFailureTold = true;
    this.#logger.info({ reason }, `the commit of the files in ${this.#directory} is not known: ${reason}`);
  }

  /** The source of a content whose file is written before its record, by the API or by hand. */
  of(name: string, file: string): ContentSource {
    const { origin, rollback } = this.ofWriter(name, file);
    return { origin: { ...this.ofFile(file).origin, key: origin.key }, rollback };
  }

  /** The source of a file that nobody wrote through the API. */
  ofFile(file: string): ContentSource {
    const { commit = null, isDirty = null } = this.#commits.get(file) ?? {};
    const changedBy = isDirty === false ? this.#order?.lastChange(file) : undefined;
    return { origin: { file, key: null, commit, isDirty }, rollback: undefined, changedBy };
  }

  /** The source of a write that `noteWriter` announced. It has no commit, because the file may not exist yet. */
  ofWriter(name: string, file: string): ContentSource {
    const { key = null, rollback, reason } = this.#writers.get(name) ?? {};
    return { origin: { file, key, commit: null, isDirty: null }, rollback, reason };
  }

  /** Notes who is about to write the file of a configuration; undefined: forget the writer. */
  noteWriter(name: string, writer: FileWriter | undefined): void {
    if (writer === undefined) this.#writers.delete(name);
    else this.#writers.set(name, writer);
  }

  /** Called when records and files agree: later changes have other authors. */
  forgetWriters(): void {
    this.#writers.clear();
  }
}
