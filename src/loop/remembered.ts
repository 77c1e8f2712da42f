/** Makes a value once for all callers. */

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
