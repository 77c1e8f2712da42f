/** Reads fields of values that come from JSON. */

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a field of its own; undefined: it has none, or is no object. */
export function fieldOf(value: unknown, key: PropertyKey): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
