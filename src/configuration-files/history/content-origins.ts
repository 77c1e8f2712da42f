/**
 * Remembers who brought the contents of files, for the history: the commit of the directory, and writers through the
 * API. It asks for commits before a reading counts, so that the records follow the files without a wait.
 */
import type { ContentOrigin } from '../../model/configuration-history.js';
import type { Logger } from '../../telemetry/logger.js';
import { type GitOrigin, gitOriginsOf } from './git-origins.js';

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
  #isFailureTold = false;
  /** The commits by file name. */
  readonly #commits = new Map<string, GitOrigin>();
  /** Who is writing the file of a configuration, by its name, until the records have the new content. */
  readonly #writers = new Map<string, FileWriter>();

  constructor(directory: string, logger: Pick<Logger, 'info'>) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /**
   * Asks git for the commit of each valid reading that differs from the settled one. Call it before the
   * readings are settled.
   */
  async look(
    readings: Iterable<readonly [file: string, ReadFile | undefined]>,
    settled: ReadonlyMap<string, ReadFile>,
  ): Promise<void> {
    const changed: string[] = [];
    for (const [file, reading] of readings)
      if (reading?.kind === 'valid' && reading.signature !== settled.get(file)?.signature) changed.push(file);
    if (changed.length === 0) return;
    const commits = await gitOriginsOf(this.#directory, changed, (reason) => {
      if (this.#isFailureTold) return;
      this.#isFailureTold = true;
      this.#logger.info({ reason }, `the commit of configuration files is not known: ${reason}`);
    });
    for (const file of changed) {
      const commit = commits.get(file);
      if (commit === undefined) this.#commits.delete(file);
      else this.#commits.set(file, commit);
    }
  }

  /** The source of a content whose file is written before its record, by the API or by hand. */
  of(name: string, file: string): ContentSource {
    const { origin, rollback } = this.ofWriter(name, file);
    return { origin: { ...this.ofFile(file).origin, key: origin.key }, rollback };
  }

  /** The source of a file that nobody wrote through the API. */
  ofFile(file: string): ContentSource {
    const { commit = null, isDirty = null } = this.#commits.get(file) ?? {};
    return { origin: { file, key: null, commit, isDirty }, rollback: undefined };
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
