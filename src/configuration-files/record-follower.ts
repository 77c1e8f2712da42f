/** The part of the controllers that the files' part calls. It brings the records up to what the files say. */
import type { Part } from '../loop/lifecycle.js';
import type { ConfigurationFileError } from '../model/configuration.js';
import type { Confirmed } from '../views/view.js';

/** A file that differs from what is in force, and waits for a person. */
export interface FileConflict {
  readonly file: string;
  /** The fault, and how to mend it. */
  readonly message: string;
}

/** Its answers are those of its last decision: asking changes nothing. */
export interface RecordFollower extends Part {
  /**
   * Called when the files may have changed. Resolves when the records agree with the files, durably and readable, but
   * for conflicts. Throws what the store throws; it goes on trying all the same. `confirmed`: what was asked to go.
   */
  follow(confirmed?: Confirmed): Promise<void>;

  /** Files that were changed here and elsewhere. */
  conflicts(): readonly FileConflict[];

  /** Configurations without a file whose removal waits to be confirmed, in order. */
  waiting(): readonly string[];

  /** Files that are not in force as they stand. */
  faults(): readonly ConfigurationFileError[];
}
