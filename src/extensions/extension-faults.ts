/**
 * Finds the extension behind an error that nobody caught: one thrown from a timer, a socket or a promise that it left
 * alone. The executable asks it before it takes such an error for a bug of Drover's. Costs nothing until an
 * extension runs.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface FaultOwner {
  /** Where its code lies, for errors that lost their origin on the way. */
  readonly directory: string;
  report(error: unknown): void;
}

export class ExtensionFaults {
  readonly #owners = new Set<FaultOwner>();
  readonly #running = new AsyncLocalStorage<FaultOwner | undefined>();

  /** Everything that `work` sets off belongs to `owner` from now on. */
  run<T>(owner: FaultOwner, work: () => T): T {
    this.#owners.add(owner);
    return this.#running.run(owner, work);
  }

  /** For callbacks into Drover's own code: what they set off is nobody's but ours. */
  runOutside<T>(work: () => T): T {
    return this.#running.run(undefined, work);
  }

  /** True: it was an extension's, and that extension was told. Called in `uncaughtException`. */
  takes(error: unknown): boolean {
    const stack = error instanceof Error ? (error.stack ?? '') : '';
    const owner =
      this.#running.getStore() ?? [...this.#owners].find(({ directory }) => stack.includes(`${directory}/`));
    owner?.report(error);
    return owner !== undefined;
  }
}
