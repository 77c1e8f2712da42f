/**
 * The hash of an assignment, computed alike by master and wrapper. With it a connecting node says what it still has, so
 * that the master sends only the rest.
 */
import { createHash } from 'node:crypto';
import type { Assignment } from './messages.js';

/** Equal for equal content, whatever the order of its fields. */
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
