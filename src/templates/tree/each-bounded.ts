/** Bounded parallel work over many small items, for trees of files. */

/**
 * How many file operations one caller has under way: enough to keep Node's four I/O threads busy, few enough
 * for a small limit of open files.
 */
export const FILE_PARALLELISM = 8;

/**
 * Runs `work` for every item, at most `limit` at a time, in order of start. After the first failure or an abort
 * no further item is started, and it rejects only once those under way have ended: nobody writes afterwards.
 * (p-queue would build one closure and promise per item up front, which blocks for large trees.)
 */
export async function eachBounded<T>(
  items: Iterable<T>,
  limit: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  const runLane = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done && failure === undefined; next = iterator.next()) {
      try {
        signal.throwIfAborted();
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, runLane));
  if (failure !== undefined) throw failure.error;
  signal.throwIfAborted();
}
