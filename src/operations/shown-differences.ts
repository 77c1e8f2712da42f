/** Hides values that may be secrets in the differences that people and pipelines see. */
import type { FieldDifference } from '../model/field-differences.js';
import { mayBeSecret } from '../model/plain/may-be-secret.js';
import { HIDDEN } from '../telemetry/secret-fields.js';

export function withoutSecrets(differences: readonly FieldDifference[]): FieldDifference[] {
  const hide = (value: string | null): string | null => (value === null ? null : HIDDEN);
  return differences.map((difference) => {
    const { field, before, after } = difference;
    return mayBeSecret(field) ? { field, before: hide(before), after: hide(after) } : difference;
  });
}
