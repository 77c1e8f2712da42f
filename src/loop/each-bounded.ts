/** Bounded parallel work over many small items, for trees of files. */

/**
 * How many file operations one caller has under way: enough to keep Node's four I/O threads busy, few enough for a
 * small limit of open files.
 */
export const FILE_PARALLELISM = 8;

/**
 * Runs `work` for every item, at most `limit` at a time, started in order. After the first failure or an abort it
 * starts no further item, and rejects when the running ones have ended: nothing is written afterwards. (p-queue would
 * build a closure and a promise per item up front, which blocks for large trees.)
 */
export async function eachBounded<T>(
  items: Iterable<T>,
  limit: number,
  signal: AbortSignal | undefined,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  const runLane = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done && failure === undefined; next = iterator.next())
      try {
        signal?.throwIfAborted();
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
  };
  await Promise.all(Array.from({ length: limit }, runLane));
  if (failure !== undefined) throw failure.error;
  signal?.throwIfAborted();
}
