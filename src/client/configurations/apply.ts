/** Writes contents to the master: only what differs, and only where nobody changed it since it was compared. */
import type { FieldDifference } from '../../model/field-differences.js';
import { type ApiClient, pathPart } from '../api-client.js';
import { ClientError, EXIT } from '../client-error.js';
import { ifMatch } from '../runs/configuration-content.js';
import type { Compared } from './compare.js';

export interface Applied {
  readonly name: string;
  readonly file: string;
  /** `skipped`: it was not tried after an earlier one failed. With a dry run: what would have been. */
  readonly result: 'created' | 'changed' | 'unchanged' | 'conflict' | 'failed' | 'skipped';
  readonly differences: readonly FieldDifference[];
  readonly error: string | null;
}

export interface AppliedAll {
  readonly applied: readonly Applied[];
  /** The exit code of the first that failed; 0: none did. */
  readonly exitCode: number;
}

/** Writes one after another. A conflict ends only its own; after any other failure the rest is skipped. */
export async function applyAll(api: ApiClient, all: readonly Compared[]): Promise<AppliedAll> {
  const applied: Applied[] = [];
  let exitCode = 0;
  let isOver = false;
  for (const one of all) {
    if (isOver) {
      applied.push(resultOf(one, 'skipped'));
      continue;
    }
    try {
      await write(api, one);
      applied.push(resultOf(one, one.change.change));
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const isConflict = error.exitCode === EXIT.conflict;
      applied.push(resultOf(one, isConflict ? 'conflict' : 'failed', error.message));
      exitCode ||= error.exitCode;
      isOver = !isConflict;
    }
  }
  return { applied, exitCode };
}

/** What would be written. */
export function planAll(all: readonly Compared[]): Applied[] {
  return all.map((one) => resultOf(one, one.change.change));
}

async function write(api: ApiClient, { document, change }: Compared): Promise<void> {
  if (change.change === 'unchanged') return;
  const path = `/configurations/${pathPart(document.name)}`;
  await api.send('PUT', path, document.content, ifMatch(change.revision));
}

function resultOf(
  { document: { name, file }, change: { differences } }: Compared,
  result: Applied['result'],
  error: string | null = null,
): Applied {
  return { name, file, result, differences, error };
}
