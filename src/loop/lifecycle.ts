/** Everything that runs can be started once and stopped any number of times. */

export interface Part {
  /** Resolves when the part works; throws when it cannot. */
  start(): Promise<void> | void;
  /** Idempotent; resolves when nothing of it runs any more. */
  stop(): Promise<void> | void;
}
