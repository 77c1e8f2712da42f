/**
 * Reads the facts about configurations and records that the change stream lacks, with few calls. The key may not see
 * all of them.
 */

import type { ConfigurationFileError } from '../../../model/configuration.js';
import type { ClusterStatus } from '../../../operations/cluster-status.js';
import type { ConfigurationSummary } from '../../../operations/configuration-list.js';
import type { Api } from '../../api/api-client.js';

export interface ClusterState {
  /** `why`: the reason as a sentence, where it is known already. */
  readonly belowMinimum: readonly {
    readonly name: string;
    readonly online: number;
    readonly minimum: number;
    readonly why?: string;
  }[];
  readonly removed: ClusterStatus['removed'];
  readonly brokenFiles: readonly ConfigurationFileError[];
  readonly unreadableRecords: ClusterStatus['unreadableRecords'];
  /** The problem of the API's certificate; null: none. */
  readonly certificateProblem: string | null;
}

/** Throws ApiFailure. */
export async function readClusterState(
  api: Api,
  { isUnrestricted, signal }: { readonly isUnrestricted: boolean; readonly signal: AbortSignal },
): Promise<ClusterState> {
  if (isUnrestricted) {
    const { apiCertificate, ...status } = await api.get<ClusterStatus>('/cluster/status', { signal });
    return { ...status, certificateProblem: apiCertificate?.problem ?? null };
  }
  const [configurations, removed, brokenFiles] = await Promise.all([
    api.get<ConfigurationSummary[]>('/cluster/configurations', { signal }),
    api.get<ClusterStatus['removed']>('/cluster/removed-configurations', { signal }),
    api.get<ConfigurationFileError[]>('/configuration-files/errors', { signal }),
  ]);
  const belowMinimum = configurations.filter(({ online, finished, minimum }) => online + finished < minimum);
  return { belowMinimum, removed, brokenFiles, unreadableRecords: [], certificateProblem: null };
}
