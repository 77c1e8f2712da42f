/**
 * The part of the controller `configurations` that the files' part calls. The controller brings the records up to
 * what the files say.
 */
import type { ConfigurationFileError } from '../model/configuration.js';

/** A file that differs from what is in force, and waits for a person. */
export interface FileConflict {
  readonly file: string;
  /** What is wrong, and what to do. */
  readonly message: string;
}

export interface RecordFollower {
  /**
   * Called when the files may have changed. Resolves when the records agree with the files, durably and readable.
   * Throws what the store throws; the controller tries again all the same.
   */
  follow(): Promise<void>;

  /** Files that were changed here and elsewhere. Only where several masters share the records. */
  conflicts(): readonly FileConflict[];

  /** Configurations without a file whose removal waits to be confirmed. Absent: their records say it. */
  waiting?(): readonly string[];

  /** Files that are not in force as they stand. */
  faults(): readonly ConfigurationFileError[];
}
