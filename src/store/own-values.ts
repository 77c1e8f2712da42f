/**
 * The values that typed code of this process has written, until the mirror takes them. The compiler has checked what is
 * in them, so the mirror does not parse them again. A value that comes from a disk or from another process is another
 * object, and is parsed.
 */
export class OwnValues<T> {
  readonly #values = new WeakSet<object>();

  /** Call it with a value that is about to be written; returns the value. It must not be mutated from then on. */
  add(value: T): T {
    if (isObject(value)) this.#values.add(value);
    return value;
  }

  /** Whether `value` is one of them. It is one only once: the mirror asks when it takes the value. */
  take(value: unknown): value is T {
    return isObject(value) && this.#values.delete(value);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
