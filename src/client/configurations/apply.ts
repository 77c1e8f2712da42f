/** Writes changed documents to the master, each only if nobody changed the configuration after it was compared. */

import type { BatchOutcome } from '../../api/routes/configuration-routes.js';
import { ifMatch, pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, ENDPOINT_UNKNOWN, EXIT, exitCodeOf } from '../../command-tree/runs/client-error.js';
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

/** Up to this many changes are written one after another; more are written in batches. */
const FEW = 8;

/** Writes and deletes as planned, in order. It goes on after a conflict. */
export function applyAll(api: ApiClient, all: readonly Planned[]): Promise<Reported<Applied>> {
  const changes = all.filter(({ planned }) => planned.action !== 'unchanged');
  const batches = changes.length > FEW ? new Batches(api, changes) : undefined;
  const tasks = all.map((one) => ({
    report: resultOf(one),
    run: async () => {
      if (one.planned.action !== 'unchanged' && (await batches?.write(one)) !== true) await write(api, one);
    },
    isTried: () => batches?.outcomes.has(one) === true,
  }));
  return inTurn(tasks, EXIT.conflict, 'conflict', true);
}

/** Writes many changes with few requests. */
class Batches {
  readonly #api: ApiClient;
  readonly #batches: readonly (readonly Planned[])[];
  #isMissing = false;
  /** The refusal of each change that was sent; undefined: it is made. */
  readonly outcomes = new Map<Planned, ClientError | undefined>();

  constructor(api: ApiClient, changes: readonly Planned[]) {
    this.#api = api;
    this.#batches = inBatches(changes, ({ document }) => document?.content ?? null);
  }

  /** Sends the batch of this change, unless it was sent. False: the master is older and takes no batches. */
  async write(one: Planned): Promise<boolean> {
    if (this.#isMissing) return false;
    if (!this.outcomes.has(one)) await this.#send(this.#batches.find((batch) => batch.includes(one)) ?? []);
    const refusal = this.outcomes.get(one);
    if (refusal !== undefined) throw refusal;
    return !this.#isMissing;
  }

  async #send(batch: readonly Planned[]): Promise<void> {
    const changes = batch.map(({ document, planned: { name, revision } }) => ({
      ...(document === undefined ? { do: 'remove', name } : { do: 'put', name, content: document.content }),
      ...(revision === null ? { ifNoneMatch: '*' } : { ifMatch: revision }),
    }));
    try {
      const answer = await this.#api.send<readonly BatchOutcome[]>('POST', '/configurations/batch', {
        changes,
      });
      for (const [index, one] of batch.entries()) {
        const { status = 500, error = null } = answer[index] ?? {
          error: 'the master did not say what became of it',
        };
        this.outcomes.set(one, error === null ? undefined : new ClientError(exitCodeOf(status), error));
      }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.#isMissing = error.code === ENDPOINT_UNKNOWN;
      // Whether they were written is not known, so none of them is reported as not tried.
      if (!this.#isMissing) for (const one of batch) this.outcomes.set(one, error);
    }
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

function remove(api: ApiClient, name: string, revision?: string | null): Promise<unknown> {
  const options = revision === undefined ? undefined : ifMatch(revision);
  return api.send('DELETE', `/configurations/${pathPart(name)}`, undefined, options);
}

async function write(api: ApiClient, { document, planned }: Planned): Promise<void> {
  const { name, action, revision } = planned;
  if (action === 'unchanged') return;
  if (document === undefined) await remove(api, name, revision);
  else await api.send('PUT', `/configurations/${pathPart(name)}`, document.content, ifMatch(revision));
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
