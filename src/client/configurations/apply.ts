/**
 * Writes changed documents to the master, each only if nobody changed the configuration after it was compared, and
 * reports the outcome of each document.
 */

import type { BatchOutcome } from '../../api/routes/configuration-routes.js';
import { describeDifference } from '../../command-tree/groups/configuration-diff-text.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT, exitCodeOf } from '../../command-tree/runs/client-error.js';
import type { FieldDifference } from '../../model/field-differences.js';
import type { PlannedConfiguration } from '../../operations/plan/change-plan.js';
import type { ApiClient } from '../api-client.js';
import { inBatches } from './ask-plan.js';
import type { Document } from './documents.js';

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
  /** Why no instance is made from the content; null: nothing holds it back. */
  readonly heldBack: string | null;
}

/** A configuration as planned, and the document that it is to become; undefined: it is to be removed. */
export interface Planned {
  readonly planned: PlannedConfiguration;
  readonly document: Document | undefined;
}

/** The reports in order, and the exit code of the first failure; 0: no failure. */
interface Reported<R extends Report> {
  readonly reports: readonly R[];
  readonly exitCode: number;
}

/** Writes and deletes as planned, in batches. It goes on after a conflict. */
export function applyAll(api: ApiClient, all: readonly Planned[]): Promise<Reported<Applied>> {
  const changes = all.filter(({ planned }) => planned.action !== 'unchanged');
  const batches = inBatches(changes, ({ document }) => document?.content ?? null);
  /** The refusal of each change that was sent; undefined: it is made. */
  const outcomes = new Map<Planned, ClientError | undefined>();
  const tasks = all.map((one) => ({
    report: resultOf(one),
    run: async () => {
      const batch = batches.find((some) => some.includes(one)) ?? [];
      if (batch.length > 0 && !outcomes.has(one)) await send(api, batch, outcomes);
      const refusal = outcomes.get(one);
      if (refusal !== undefined) throw refusal;
    },
    isTried: () => outcomes.has(one),
  }));
  return inTurn(tasks, EXIT.conflict, 'conflict', true);
}

async function send(
  api: ApiClient,
  batch: readonly Planned[],
  outcomes: Map<Planned, ClientError | undefined>,
): Promise<void> {
  const changes = batch.map(({ document, planned: { name, revision } }) => ({
    ...(document === undefined ? { do: 'remove', name } : { do: 'put', name, content: document.content }),
    ...(revision === null ? { ifNoneMatch: '*' } : { ifMatch: revision }),
  }));
  const body = { keepManaged: true, changes };
  try {
    const answer = await api.send<readonly BatchOutcome[]>('POST', '/configurations/batch', body);
    for (const [index, one] of batch.entries()) {
      const { status = 500, error = 'the master did not say what became of it' } = answer[index] ?? {};
      outcomes.set(one, error === null ? undefined : new ClientError(exitCodeOf(status), error));
    }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    // Whether they were written is not known, so none of them is reported as not tried.
    for (const one of batch) outcomes.set(one, error);
  }
}

/** Lists the planned changes without making them. */
export function planAll(all: readonly Planned[]): Reported<Applied> {
  return { reports: all.map(resultOf), exitCode: 0 };
}

/** Deletes configurations by name. It goes on after a configuration that does not exist. */
export function deleteAll(
  api: ApiClient,
  names: readonly string[],
  ignoreNotFound: boolean,
): Promise<Reported<Report>> {
  const tasks = names.map((name) => ({
    report: { name, result: 'deleted', error: null } as const,
    run: () => api.send('DELETE', `/configurations/${pathPart(name)}`),
  }));
  return inTurn<Report>(tasks, EXIT.notFound, 'not-found', !ignoreNotFound);
}

/**
 * Runs the tasks one after another. A refusal with the exit code `lenient` does not stop the others: its task is
 * reported as `result`, and counts as a failure only when `isFailure`. After any other refusal the remaining tasks
 * are skipped.
 */
async function inTurn<R extends Report>(
  tasks: readonly { readonly report: R; run(): Promise<unknown>; isTried?(): boolean }[],
  lenient: number,
  result: Report['result'],
  isFailure: boolean,
): Promise<Reported<R>> {
  const reports: R[] = [];
  let exitCode = 0;
  let isOver = false;
  for (const { report, run, isTried } of tasks) {
    if (isOver && isTried?.() !== true) {
      reports.push({ ...report, result: 'skipped' });
      continue;
    }
    try {
      await run();
      reports.push(report);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const isRefused = error.exitCode !== lenient;
      isOver ||= isRefused;
      reports.push({ ...report, result: isRefused ? 'failed' : result, error: error.message });
      if (isRefused || isFailure) exitCode ||= error.exitCode;
    }
  }
  return { reports, exitCode };
}

const RESULTS: Readonly<Record<PlannedConfiguration['action'], Report['result']>> = {
  create: 'created',
  change: 'changed',
  unchanged: 'unchanged',
  delete: 'deleted',
};

function resultOf({ document, planned: { name, action, fields, heldBack } }: Planned): Applied {
  return {
    name,
    file: document?.file ?? null,
    result: RESULTS[action],
    differences:
      action === 'change'
        ? fields.map(({ path, from, to }) => ({ field: path, before: from, after: to }))
        : [],
    heldBack: heldBack ?? null,
    error: null,
  };
}

const FILE_STATES: Readonly<Record<NonNullable<PlannedConfiguration['fileState']>, string>> = {
  same: '',
  broken: "the master's file is broken, and is written anew",
  different: "the master's file says something that is not in force yet, and is written anew",
  gone: "the master's file is gone, and is written anew",
};

/** Returns `lobby changed: minimumServiceCount, ramMB`. */
export function appliedText(applied: Applied): string {
  const { name, result, differences, heldBack } = applied;
  const held = heldBack === null ? '' : `; held back: ${heldBack}`;
  if (result !== 'changed') return `${reportText(applied, 'written')}${held}`;
  return `${name} changed: ${differences.map(({ field }) => field).join(', ') || 'its file is written anew'}${held}`;
}

/** Returns `lobby deleted`. `wanted`: the word for the success, for a sentence such as `lobby not deleted: ...`. */
export function reportText({ name, result, error }: Report, wanted: 'written' | 'deleted'): string {
  switch (result) {
    case 'not-found':
      return `${name} is not there`;
    case 'conflict':
    case 'failed':
      return `${name} not ${wanted}: ${error}`;
    case 'skipped':
      return `${name} not ${wanted}: not tried`;
    default:
      return `${name} ${result}`;
  }
}

/** The changes that a document would make, and in which state the file of the master is; null: there is no such configuration. */
interface Compared extends Pick<Applied, 'name' | 'file' | 'differences'> {
  readonly change: Applied['result'];
  readonly fileState: PlannedConfiguration['fileState'];
}

export function comparedText({ name, file, change, fileState, differences }: Compared): string[] {
  const state = fileState === null ? '' : FILE_STATES[fileState];
  return [
    `${name} (${file}): ${change}`,
    ...differences.map((difference) => `  ${describeDifference(difference)}`),
    ...(state === '' ? [] : [`  ${state}`]),
  ];
}
