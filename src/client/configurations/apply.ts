/** Writes changed documents to the master, each only if nobody changed the configuration after it was compared. */

import { ifMatch, pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { FieldDifference } from '../../model/field-differences.js';
import type { PlannedConfiguration } from '../../operations/plan/change-plan.js';
import type { ApiClient } from '../api-client.js';
import type { Compared } from './compare.js';

/** What became of one configuration. */
export interface Report {
  readonly name: string;
  /** `skipped`: not tried, because an earlier configuration failed. In a dry run: the expected result. */
  readonly result:
    | 'created'
    | 'changed'
    | 'unchanged'
    | 'deleted'
    | 'conflict'
    | 'not-found'
    | 'failed'
    | 'skipped';
  readonly error: string | null;
}

export interface Applied extends Report {
  /** The file of the configuration; null: the configuration has no file and is deleted. */
  readonly file: string | null;
  readonly differences: readonly FieldDifference[];
}

/** The reports in order, and the exit code of the first failure; 0: no failure. */
interface Reported<R extends Report> {
  readonly reports: readonly R[];
  readonly exitCode: number;
}

/** A configuration to delete, if it still has this revision. */
type Removed = Pick<PlannedConfiguration, 'name' | 'revision'>;

/** Writes the documents one after another, then deletes. It goes on after a conflict. */
export function applyAll(
  api: ApiClient,
  all: readonly Compared[],
  removed: readonly Removed[],
): Promise<Reported<Applied>> {
  const tasks = [
    ...all.map((one) => ({ report: resultOf(one), run: () => write(api, one) })),
    ...removed.map((one) => ({ report: removalOf(one), run: () => remove(api, one.name, one.revision) })),
  ];
  return inTurn(tasks, EXIT.conflict, 'conflict', true);
}

/** Lists the planned changes without making them. */
export function planAll(all: readonly Compared[], removed: readonly Removed[]): Reported<Applied> {
  return { reports: [...all.map(resultOf), ...removed.map(removalOf)], exitCode: 0 };
}

/** Deletes configurations by name. It goes on after a configuration that does not exist. */
export function deleteAll(
  api: ApiClient,
  names: readonly string[],
  ignoreNotFound: boolean,
): Promise<Reported<Report>> {
  const tasks = names.map((name) => ({
    report: { name, result: 'deleted', error: null } as const,
    run: () => remove(api, name),
  }));
  return inTurn<Report>(tasks, EXIT.notFound, 'not-found', !ignoreNotFound);
}

/**
 * Runs the tasks one after another. A refusal with the exit code `lenient` does not stop the others: its task is
 * reported as `result`, and counts as a failure only when `isFailure`. After any other refusal the remaining tasks
 * are skipped.
 */
async function inTurn<R extends Report>(
  tasks: readonly { readonly report: R; run(): Promise<unknown> }[],
  lenient: number,
  result: Report['result'],
  isFailure: boolean,
): Promise<Reported<R>> {
  const reports: R[] = [];
  let exitCode = 0;
  let isOver = false;
  for (const { report, run } of tasks) {
    if (isOver) {
      reports.push({ ...report, result: 'skipped' });
      continue;
    }
    try {
      await run();
      reports.push(report);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      isOver = error.exitCode !== lenient;
      reports.push({ ...report, result: isOver ? 'failed' : result, error: error.message });
      if (isOver || isFailure) exitCode ||= error.exitCode;
    }
  }
  return { reports, exitCode };
}

function remove(api: ApiClient, name: string, revision?: string | null): Promise<unknown> {
  const options = revision === undefined ? undefined : ifMatch(revision);
  return api.send('DELETE', `/configurations/${pathPart(name)}`, undefined, options);
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
