/** Compares the fields of two contents of a configuration, for people. Pure. */
import { z } from 'zod';
import type { Configuration } from './configuration.js';
import { canonicalJson } from './configuration.js';
import { NO_UPDATE } from './update.js';

export const fieldDifferenceSchema = z.object({
  field: z.string().describe('path such as `availablePorts.min`'),
  before: z.string().nullable().describe('as JSON; null: not there'),
  after: z.string().nullable().describe('as JSON; null: not there'),
});
export type FieldDifference = z.output<typeof fieldDifferenceSchema>;

/**
 * Returns every field that differs, by name. A list counts as one value. A missing `update` is compared as NO_UPDATE,
 * so that a block with one field is not shown with ten defaults.
 */
export function differencesOf(before: Partial<Configuration>, after: Configuration): FieldDifference[] {
  const isOne = (before.update === undefined) !== (after.update === undefined);
  const whole = (content: Partial<Configuration>): object =>
    isOne ? { ...content, update: content.update ?? NO_UPDATE } : content;
  const old = leavesOf(whole(before));
  const now = leavesOf(whole(after));
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((field) => old.get(field) !== now.get(field))
    .sort()
    .map((field) => ({ field, before: old.get(field) ?? null, after: now.get(field) ?? null }));
}

function leavesOf(value: unknown, path = '', leaves = new Map<string, string>()): Map<string, string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    if (value !== undefined)
      leaves.set(path, Array.isArray(value) ? canonicalJson(value) : JSON.stringify(value));
    return leaves;
  }
  for (const [key, child] of Object.entries(value))
    leavesOf(child, path === '' ? key : `${path}.${key}`, leaves);
  return leaves;
}
