/** Waiting for what can be observed, with the patience that a busy machine needs. */

/**
 * The pauses between two looks: short at first, then so long that hundreds of waiting tests leave the processors free.
 */
const PAUSES_MS = [5, 10, 20, 40, 60];

/**
 * Waits until `look` no longer throws, and resolves with its value. At the timeout it fails with the last error.
 *
 * The timeout only ends waits for something that never comes: a busy machine may need a minute for what an idle one
 * does in a second. The timeout of a test is longer.
 */
export async function until<T>(look: () => T | Promise<T>, timeout = 120_000): Promise<T> {
  const endAt = performance.now() + timeout;
  for (let looks = 0; ; looks++) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > endAt) throw error;
    }
    const pauseMs = PAUSES_MS[looks] ?? 100;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
