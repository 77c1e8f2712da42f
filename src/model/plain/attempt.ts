/** Work that may fail, where the failure itself says all: a file that is not there, a process that has ended. */

/** The result of `work`, or `otherwise` when it throws. Default: undefined. Not for work whose error must be told. */
export function attempt<T>(work: () => T): T | undefined;
export function attempt<T, Otherwise>(work: () => T, otherwise: Otherwise): T | Otherwise;
export function attempt<T>(work: () => T, otherwise?: unknown): unknown {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
