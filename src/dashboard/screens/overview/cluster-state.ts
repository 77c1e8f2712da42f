/** Reads the facts about files and records that the change stream lacks. The key may not see all of them. */

import type { ConcernFacts } from '../../../explain/concerns.js';
import type { ClusterStatus } from '../../../operations/cluster-status.js';
import type { Api } from '../../api/api-client.js';

export type ClusterState = Omit<ConcernFacts, 'configurations' | 'nodes'>;

export const NOT_READ: ClusterState = {
  brokenFiles: [],
  undelivered: [],
  unreadableRecords: [],
  certificateProblem: null,
};

/** Throws ApiFailure. */
export async function readClusterState(
  api: Api,
  { isUnrestricted, signal }: { readonly isUnrestricted: boolean; readonly signal: AbortSignal },
): Promise<ClusterState> {
  // A restricted key sees faults of its configurations only, and these are in their health.
  if (!isUnrestricted) return NOT_READ;
  const { apiCertificate, ...status } = await api.get<ClusterStatus>('/cluster/status', { signal });
  return { ...status, certificateProblem: apiCertificate?.problem ?? null };
}
