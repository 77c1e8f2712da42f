/** Asks the master what all contents together would make of the configurations and their instances. */
import type { ChangePlan } from '../../operations/plan/change-plan.js';
import type { ApiClient } from '../api-client.js';
import type { Document } from './documents.js';

export interface PlanOptions {
  /** All others go. */
  readonly prune: boolean;
  readonly showValues: boolean;
  /** The master refuses another plan than this one, with a conflict. */
  readonly fingerprint?: string | undefined;
}

/** Throws a ClientError. */
export function askPlan(
  api: ApiClient,
  documents: readonly Document[],
  options: PlanOptions,
): Promise<ChangePlan> {
  const configurations = documents.map(({ name, content }) => ({ ...content, name }));
  return api.send<ChangePlan>('POST', '/plan', { configurations, ...options });
}

/** The contents that would be written. */
export function changedIn({ configurations }: ChangePlan): ChangePlan['configurations'] {
  return configurations.filter(({ action }) => action !== 'unchanged');
}
