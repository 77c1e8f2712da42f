/** The interface of the controller that brings the records in line with the files; the files' part calls it. */
import type { Part } from '../loop/lifecycle.js';
import type { ConfigurationFileError } from '../model/configuration.js';
import type { Confirmed } from '../views/view.js';

/** A file that differs from the content in force, and waits for a person. */
export interface FileConflict {
  readonly file: string;
  /** The fault, and how to mend it. */
  readonly message: string;
}

/** Follows the files. Its answers come from its last decision: asking changes nothing. */
export interface RecordFollower extends Part {
  /**
   * Called when the files may have changed. Resolves when the records durably agree with the files, except for
   * conflicts. Throws what the store throws, but goes on trying. `confirmed`: the names whose removal the caller
   * confirms.
   */
  follow(confirmed?: Confirmed): Promise<void>;

  /** Files that were changed both here and elsewhere. */
  conflicts(): readonly FileConflict[];

  /** Configurations without a file whose removal waits to be confirmed, in order. */
  waiting(): readonly string[];

  /** Faults of the files whose present content is not in force. */
  faults(): readonly ConfigurationFileError[];
}
