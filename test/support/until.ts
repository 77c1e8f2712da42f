/** Waiting for what can be observed, with the patience that a busy machine needs. */

/** From one look to the next: short at first, then so long that hundreds of waiting tests leave the processors free. */
const PAUSES_MS = [5, 10, 20, 40, 60];

/**
 * Waits until `look` no longer throws; fails with its last error. The bound is for what never comes: a machine that
 * has other work may need a minute for what it does in a second when it is idle. A test's own bound is longer.
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
