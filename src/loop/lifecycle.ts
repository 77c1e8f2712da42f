/** Starting and stopping: every running part can be started once and stopped any number of times. */
import { storeClosed } from '../model/errors.js';

export interface Part {
  /** Resolves when the part works; throws when it cannot. */
  start(): Promise<void> | void;
  /** Idempotent; resolves when nothing of the part runs any more. */
  stop(): Promise<void> | void;
}

/** The started parts of a node. Stops them in the opposite order of their start. */
export class RunningParts {
  readonly #stops: (() => Promise<void> | void)[] = [];
  #stopping: Promise<void> | undefined;

  /**
   * Starts a part and remembers to stop it, even when its start fails half-way. Throws DRV_STORE_CLOSED once the stop
   * has begun.
   */
  async start(part: Part): Promise<void> {
    if (this.#stopping !== undefined) throw storeClosed('the node stops: nothing more is started');
    this.#stops.push(() => part.stop());
    await part.start();
  }

  /**
   * Remembers an action for the stop. The action runs after everything started later has stopped. A start that goes on
   * during the stop may still add actions.
   */
  onStop(action: () => Promise<void> | void): void {
    this.#stops.push(action);
  }

  /**
   * Stops everything. Idempotent. When the stop of a part fails, the others are stopped all the same, and the first
   * error is thrown at the end.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const errors: unknown[] = [];
    for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop())
      try {
        await stop();
      } catch (error) {
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
  }
}
