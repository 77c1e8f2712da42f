/** Asks for optional information, such as names to complete, within a time limit. */

/**
 * Resolves with the answer of `ask`, or with undefined when `ask` fails or takes longer than `limitMs`. Never throws.
 */
export async function within<T>(
  limitMs: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      late.abort();
      resolve(undefined);
    }, limitMs);
  });
  try {
    // Race against the timer too: some steps ignore the signal, such as a lookup at a silent name service.
    return await Promise.race([ask(late.signal).catch(() => undefined), over]);
  } finally {
    clearTimeout(timer);
  }
}
