/** Runs the commands `cluster ...` about nodes, `node info` and `stop`. */

import type { ForgottenNode } from '../../api/routes/node-operation-routes.js';
import type { NodeStats } from '../../api/routes/node-routes.js';
import type { NodeConfiguration } from '../../model/node.js';
import type { ListedNode } from '../../operations/cluster-status.js';
import type { CommandRuns, DataOf } from '../commands.js';
import type { NodeInfo } from '../groups/node.js';
import { type ApiCalls, find, pathPart } from './api-calls.js';

export function nodeRuns(api: ApiCalls) {
  return {
    'cluster status': async () => {
      const [status, nodes] = await Promise.all([
        api.get<DataOf<'cluster status'>['status']>('/cluster/status'),
        listNodes(api),
      ]);
      return { status, nodes };
    },
    'cluster nodes': async ({ state = '' }) =>
      (await listNodes(api)).filter(({ condition }) => ['', condition].includes(state)),
    'cluster why': ({ node }) => api.get(`${nodePath(node)}/why`),
    'cluster cordon': ({ node }) => api.send('PUT', `${nodePath(node)}/cordon`),
    'cluster uncordon': ({ node }) => api.send('DELETE', `${nodePath(node)}/cordon`),
    'cluster drain': async ({ node, deadlineSeconds }, { confirm }) => {
      const { instances = 0 } = (await listNodes(api)).find(({ nodeId }) => nodeId === node) ?? {};
      // A drain that waits for nobody is asked about in any case, by its `destroys`.
      if (instances > 1 && deadlineSeconds > 0)
        await confirm({ what: `${instances} instances of node ${node} are moved to others`, list: [] });
      return api.send('PUT', `${nodePath(node)}/drain`, { deadlineSeconds });
    },
    'cluster forget': async ({ node, force, keepToken }) => {
      const known = (await listNodes(api)).find(({ nodeId }) => nodeId === node);
      const query = `force=${force}&keepToken=${keepToken}`;
      const forgotten = await api.send<ForgottenNode>('DELETE', `${nodePath(node)}?${query}`);
      return { forgotten, wasConnected: known?.condition === 'connected' };
    },
    'node info': () => nodeInfo(api),
    stop: () => api.send('POST', '/node/stop'),
  } satisfies Partial<CommandRuns>;
}

function listNodes(api: ApiCalls): Promise<ListedNode[]> {
  return api.get('/cluster/nodes?details=true');
}

async function nodeInfo(api: ApiCalls): Promise<NodeInfo> {
  const [configuration, { systemStats }, status] = await Promise.all([
    api.get<NodeConfiguration>('/node/config'),
    api.get<{ readonly systemStats: NodeStats & { readonly eventLoopDelayMs: number } }>('/node'),
    api.get<Pick<DataOf<'cluster status'>['status'], 'leader' | 'apiCertificate'>>('/cluster/status'),
  ]);
  const { nodeId, clusterName, isMasterNode, address, port, apiPort } = configuration;
  const known = await find<Pick<NodeInfo, 'runtimes' | 'advisoryLimits'>>(api, nodePath(nodeId));
  const { eventLoopDelayMs: _, ...stats } = systemStats;
  return {
    nodeId,
    clusterName,
    role: isMasterNode ? 'master' : 'wrapper',
    address,
    port,
    apiPort,
    // The status is of the leader, so it tells nothing about the certificate of another master.
    apiCertificate: status.leader?.nodeId === nodeId ? (status.apiCertificate ?? null) : undefined,
    ...stats,
    runtimes: known?.runtimes ?? [],
    advisoryLimits: known?.advisoryLimits,
  };
}

function nodePath(id: string): string {
  return `/cluster/nodes/${pathPart(id)}`;
}
