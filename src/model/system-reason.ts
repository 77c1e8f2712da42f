/** Errors of the operating system in words. It imports nothing of ours: the client loads it too. */
import { getSystemErrorMap } from 'node:util';

/**
 * Returns `permission denied (EACCES)` for an error of the operating system, without the path that Node adds;
 * undefined for others.
 */
export function systemReason(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return undefined;
  const known = getSystemErrorMap().get(error.errno);
  return known === undefined ? undefined : `${known[1]} (${known[0]})`;
}
