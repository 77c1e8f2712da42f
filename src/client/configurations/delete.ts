/** Deletes configurations by name. */

import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { ApiClient } from '../api-client.js';

interface Deleted {
  readonly name: string;
  readonly result: 'deleted' | 'not-found' | 'failed' | 'skipped';
  readonly error: string | null;
}

/**
 * Continues after a configuration that does not exist; skips the remaining ones after any other failure. `exitCode`:
 * that of the first failure, or 0.
 */
export async function deleteAll(
  api: ApiClient,
  names: readonly string[],
  ignoreNotFound: boolean,
): Promise<{ readonly deleted: readonly Deleted[]; readonly exitCode: number }> {
  const deleted: Deleted[] = [];
  let exitCode = 0;
  let isOver = false;
  for (const name of names) {
    if (isOver) {
      deleted.push({ name, result: 'skipped', error: null });
      continue;
    }
    try {
      await api.send('DELETE', `/configurations/${pathPart(name)}`);
      deleted.push({ name, result: 'deleted', error: null });
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const isMissing = error.exitCode === EXIT.notFound;
      deleted.push({ name, result: isMissing ? 'not-found' : 'failed', error: error.message });
      if (!isMissing || !ignoreNotFound) exitCode ||= error.exitCode;
      isOver = !isMissing;
    }
  }
  return { deleted, exitCode };
}

/** Returns `lobby deleted`. */
export function deletedText({ name, result, error }: Deleted): string {
  switch (result) {
    case 'deleted':
      return `${name} deleted`;
    case 'not-found':
      return `${name} is not there`;
    case 'failed':
      return `${name} not deleted: ${error}`;
    case 'skipped':
      return `${name} not deleted: not tried`;
  }
}
