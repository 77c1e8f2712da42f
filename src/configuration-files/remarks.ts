/** Remarks in configurations: a field `$comment`, with any value, in any object. They have no meaning. */
import { isObject } from '../model/json-object.js';

export const REMARK = '$comment';

/** The value without remarks, at every level. */
export function withoutRemarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRemarks);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([key]) => key !== REMARK);
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutRemarks(field)]));
}
