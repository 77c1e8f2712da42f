/** Makes a value once for all callers, or once for those that ask at the same time. */

/**
 * Returns a function that calls `make` at its first call, and answers all calls with that promise. After a failure the
 * next call makes the value anew.
 */
export function remembered<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Returns a function that calls `work`, and shares its promise with all calls until it settles. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
