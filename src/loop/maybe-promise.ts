/**
 * A value now or later. Callers test with `instanceof Promise`, so that a value at hand costs no turn of the event
 * loop.
 */
export type MaybePromise<T> = T | Promise<T>;
