/** Hides values that may be secrets in the differences that people and pipelines see. */
import type { FieldDifference } from '../model/field-differences.js';
import { isHiddenValue, type ShownValues } from '../model/plain/may-be-secret.js';
import { HIDDEN } from '../telemetry/secret-fields.js';

/** The value of a field as its reader sees it. */
export function shownValue(path: string, value: string | null, shown: ShownValues): string | null {
  return value !== null && isHiddenValue(path, value, shown) ? HIDDEN : value;
}

export function shownDifferences(
  differences: readonly FieldDifference[],
  shown: ShownValues,
): FieldDifference[] {
  return differences.map(({ field, before, after }) => ({
    field,
    before: shownValue(field, before, shown),
    after: shownValue(field, after, shown),
  }));
}
