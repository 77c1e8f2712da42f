/** Remarks in configurations: a field `$comment`, with any value, in any object. They have no meaning. */
import { isObject } from '../model/json-object.js';

export const REMARK = '$comment';

/** The value without remarks, at every level. A value that has none is not copied. */
export function withoutRemarks(value: unknown): unknown {
  return hasRemark(value) ? stripped(value) : value;
}

function hasRemark(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, REMARK) || Object.values(value).some(hasRemark);
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([key]) => key !== REMARK);
  return Object.fromEntries(fields.map(([key, field]) => [key, stripped(field)]));
}
