/**
 * A value or a promise of it. Callers test with `instanceof Promise`, so that a present value costs no turn of the
 * event loop.
 */
export type MaybePromise<T> = T | Promise<T>;
