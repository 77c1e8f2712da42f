/** Hides values that may be secrets in the differences that people and pipelines see. */
import type { FieldDifference } from '../model/field-differences.js';
import { isHiddenValue, type ShownValues } from '../model/plain/may-be-secret.js';
import { HIDDEN } from '../telemetry/secret-fields.js';

/** A pair of values of one field as its reader sees them: both are hidden when one is. */
export function shownValues<T extends string | null>(
  path: string,
  values: readonly [T, T],
  shown: ShownValues,
): readonly [T | string, T | string] {
  const isHidden = values.some((value) => value !== null && isHiddenValue(path, value, shown));
  const [before, after] = values.map((value) => (isHidden && value !== null ? HIDDEN : value)) as [T, T];
  return [before, after];
}

export function shownDifferences(
  differences: readonly FieldDifference[],
  shown: ShownValues,
): FieldDifference[] {
  return differences.map(({ field, before: from, after: to }) => {
    const [before, after] = shownValues(field, [from, to], shown);
    return { field, before, after };
  });
}
