/** The controller `configurations` as the files' part knows it: it brings the records up to what the files say. */
import type { ConfigurationFileError } from '../model/configuration.js';

export interface RecordFollower {
  /**
   * Called when the files may say something else. Resolves when the records say what the files say now, durably and
   * readable. Throws what the store throws; the controller tries again all the same.
   */
  follow(): Promise<void>;

  /** Files that are not in force as they stand. */
  faults(): readonly ConfigurationFileError[];
}
