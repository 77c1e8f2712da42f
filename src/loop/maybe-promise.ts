/** A value now or later. Callers test with `instanceof Promise` so that answers at hand cost no turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>;
