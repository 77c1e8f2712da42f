/**
 * Who brought what the files say, for the history: the commit of the directory, and who wrote through the API. Commits
 * are asked for before a reading counts, so that records follow files without a wait in between.
 */
import type { ContentOrigin } from '../../model/configuration-history.js';
import type { Logger } from '../../telemetry/logger.js';
import { type GitOrigin, gitOriginsOf } from './git-origins.js';

/** Who writes a file through the API or a command. */
export interface FileWriter {
  /** As the audit trail names the caller. */
  readonly key: string;
  /** Why an older content is brought back; absent: it is none. */
  readonly rollback?: string;
}

export interface ContentSource {
  readonly origin: Omit<ContentOrigin, 'node'>;
  /** Why the content before it is taken back; undefined: it is not. */
  readonly rollback: string | undefined;
}

/** What a reading of a file says of it; one that was not read anew has the same signature. */
interface ReadFile {
  readonly kind: 'valid' | 'broken';
  readonly signature: string;
}

export class ContentOrigins {
  readonly #directory: string;
  readonly #logger: Pick<Logger, 'info'>;
  #isFailureTold = false;
  /** By file. */
  readonly #commits = new Map<string, GitOrigin>();
  /** Of what the records do not say yet, by name of the configuration. */
  readonly #writers = new Map<string, FileWriter>();

  constructor(directory: string, logger: Pick<Logger, 'info'>) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** Asks for the commits of what was read and does not count yet. */
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

  /** Where a file is written first, whoever writes it. */
  of(name: string, file: string): ContentSource {
    const { origin, rollback } = this.ofWriter(name, file);
    return { origin: { ...this.ofFile(file).origin, key: origin.key }, rollback };
  }

  /** Of a file that nobody wrote through the API. */
  ofFile(file: string): ContentSource {
    const { commit = null, isDirty = null } = this.#commits.get(file) ?? {};
    return { origin: { file, key: null, commit, isDirty }, rollback: undefined };
  }

  /** Of what was noted to be written, before a file says it: it comes from no commit. */
  ofWriter(name: string, file: string): ContentSource {
    const { key = null, rollback } = this.#writers.get(name) ?? {};
    return { origin: { file, key, commit: null, isDirty: null }, rollback };
  }

  /** Notes who is about to write the file of a configuration; undefined: not known. */
  noteWriter(name: string, writer: FileWriter | undefined): void {
    if (writer === undefined) this.#writers.delete(name);
    else this.#writers.set(name, writer);
  }

  /** Called when the records say what the files say: later changes are those of somebody else. */
  forgetWriters(): void {
    this.#writers.clear();
  }
}
