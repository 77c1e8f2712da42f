/** Writes changed documents to the master, each only if nobody changed the configuration after it was compared. */

import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import { ifMatch } from '../../command-tree/runs/configuration-content.js';
import type { FieldDifference } from '../../model/field-differences.js';
import type { PlannedConfiguration } from '../../operations/plan/change-plan.js';
import type { ApiClient } from '../api-client.js';
import type { Compared } from './compare.js';

export interface Applied {
  readonly name: string;
  /** The file of the configuration; null: the configuration has no file and is deleted. */
  readonly file: string | null;
  /** `skipped`: not tried, because an earlier configuration failed. In a dry run: the expected result. */
  readonly result: 'created' | 'changed' | 'unchanged' | 'deleted' | 'conflict' | 'failed' | 'skipped';
  readonly differences: readonly FieldDifference[];
  readonly error: string | null;
}

interface AppliedAll {
  readonly applied: readonly Applied[];
  /** The exit code of the first failure; 0: no failure. */
  readonly exitCode: number;
}

/** A configuration to delete, if it still has this revision. */
type Removed = Pick<PlannedConfiguration, 'name' | 'revision'>;

/** One configuration to write or delete. */
interface Task {
  readonly result: Applied;
  run(): Promise<unknown>;
}

/**
 * Writes the documents one after another, then deletes. After a conflict it continues; after any other failure it skips
 * the remaining ones.
 */
export async function applyAll(
  api: ApiClient,
  all: readonly Compared[],
  removed: readonly Removed[] = [],
): Promise<AppliedAll> {
  const tasks: Task[] = [
    ...all.map((one) => ({ result: resultOf(one), run: () => write(api, one) })),
    ...removed.map((one) => ({ result: removalOf(one), run: () => remove(api, one) })),
  ];
  const applied: Applied[] = [];
  let exitCode = 0;
  let isOver = false;
  for (const { result, run } of tasks) {
    if (isOver) {
      applied.push({ ...result, result: 'skipped' });
      continue;
    }
    try {
      await run();
      applied.push(result);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const isConflict = error.exitCode === EXIT.conflict;
      applied.push({ ...result, result: isConflict ? 'conflict' : 'failed', error: error.message });
      exitCode ||= error.exitCode;
      isOver = !isConflict;
    }
  }
  return { applied, exitCode };
}

/** Lists the planned changes without making them. */
export function planAll(all: readonly Compared[], removed: readonly Removed[] = []): AppliedAll {
  return { applied: [...all.map(resultOf), ...removed.map(removalOf)], exitCode: 0 };
}

async function remove(api: ApiClient, { name, revision }: Removed): Promise<void> {
  await api.send('DELETE', `/configurations/${pathPart(name)}`, undefined, ifMatch(revision));
}

async function write(api: ApiClient, { document, change }: Compared): Promise<void> {
  if (change.change === 'unchanged') return;
  const path = `/configurations/${pathPart(document.name)}`;
  await api.send('PUT', path, document.content, ifMatch(change.revision));
}

function resultOf({ document: { name, file }, change: { change, differences } }: Compared): Applied {
  return { name, file, result: change, differences, error: null };
}

function removalOf({ name }: Removed): Applied {
  return { name, file: null, result: 'deleted', differences: [], error: null };
}
