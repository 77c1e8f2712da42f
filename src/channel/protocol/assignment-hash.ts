/**
 * The hash of an assignment, which master and wrapper compute alike. A connecting node names by it the assignments that
 * it still has, so that the master sends only the others.
 */
import { createHash } from 'node:crypto';
import type { Assignment } from './messages.js';

/** The hash. It is equal for equal content, whatever the order of the fields. */
export function hashAssignment(assignment: Assignment): string {
  return createHash('sha256').update(canonical(assignment)).digest('base64url').slice(0, 22);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${fields.join(',')}}`;
}
