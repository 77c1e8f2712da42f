/**
 * Finds the extension behind an uncaught error, such as an error from its timer, socket or promise. The executable asks
 * before it takes such an error for a bug of Drover. Costs nothing until an extension runs.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { messageOf } from '../model/errors.js';

export interface FaultOwner {
  /** The directory of the extension's code, for errors that lost their origin on the way. */
  readonly directory: string;
  report(error: unknown): void;
}

export class ExtensionFaults {
  readonly #owners = new Set<FaultOwner>();
  readonly #running: AsyncLocalStorage<FaultOwner | undefined>;

  /**
   * `running`: remembers whose code runs. A process that goes on without extensions, such as a test, passes its own
   * and disables it later: each promise costs more while it is enabled.
   */
  constructor(running = new AsyncLocalStorage<FaultOwner | undefined>()) {
    this.#running = running;
  }

  /** Runs `work`; everything that it starts belongs to `owner` from now on. */
  run<T>(owner: FaultOwner, work: () => T): T {
    this.#owners.add(owner);
    return this.#running.run(owner, work);
  }

  /** Runs a callback into Drover's own code: everything that it starts belongs to Drover. */
  runOutside<T>(work: () => T): T {
    return this.#running.run(undefined, work);
  }

  /** Returns true for an error of an extension, and reports the error to it. Called on `uncaughtException`. */
  takes(thrown: unknown): boolean {
    const error = readable(thrown);
    const stack = error instanceof Error ? (error.stack ?? '') : '';
    // The stack comes first: an error of a microtask has no origin of its own, but that of whatever ran before it.
    const owner =
      [...this.#owners].find(({ directory }) => stack.includes(`${directory}/`)) ?? this.#running.getStore();
    owner?.report(error);
    return owner !== undefined;
  }
}

/** The thrown value; a plain error in its place where reading it throws, as a Proxy or a getter may. */
export function readable(thrown: unknown): unknown {
  try {
    if (thrown instanceof Error)
      for (const field of ['message', 'stack', 'code']) String(Reflect.get(thrown, field));
    return thrown;
  } catch {
    return new Error(messageOf(thrown));
  }
}
