/** `cluster ...` about nodes, `node info` and `stop` in the daemon. */
import type { NodeRuns } from '../../command-tree/commands.js';
import type { NodeInfo } from '../../command-tree/groups/node.js';
import { clusterStatus, listNodes } from '../../operations/cluster-status.js';
import {
  cordonNode,
  drainNode,
  forgetNode,
  STOPPING,
  uncordonNode,
} from '../../operations/node-operations.js';
import { readNodeStats } from '../../operations/node-stats.js';
import type { CommandDependencies } from '../context.js';
import { findNode, requireNode } from '../find.js';

export function nodeRuns(dependencies: CommandDependencies): NodeRuns {
  return {
    'cluster status': async () => {
      const status = await clusterStatus(dependencies);
      return { status, nodes: listNodes(dependencies) };
    },
    'cluster nodes': () => listNodes(dependencies),
    'cluster why': ({ node }) => {
      findNode(dependencies, node);
      return dependencies.explainer.node(node);
    },
    'cluster cordon': ({ node }) => {
      findNode(dependencies, node);
      return cordonNode(dependencies, node);
    },
    'cluster uncordon': ({ node }) => {
      findNode(dependencies, node);
      return uncordonNode(dependencies, node);
    },
    'cluster drain': ({ node, deadlineSeconds }) => {
      findNode(dependencies, node);
      return drainNode(dependencies, node, deadlineSeconds);
    },
    'cluster forget': async ({ node, ...options }) => {
      requireNode(dependencies, node);
      const wasConnected = dependencies.nodes.get(node)?.value.condition === 'connected';
      return { forgotten: await forgetNode(dependencies, node, options), wasConnected };
    },
    'node info': () => readInfo(dependencies),
    // The tree stops the daemon once this is printed.
    stop: () => ({ message: STOPPING }),
  };
}

function readInfo(dependencies: CommandDependencies): NodeInfo {
  const { configuration, version, nodes, apiCertificate, clock } = dependencies;
  const { nodeId, clusterName, address, port, apiPort, isMasterNode } = configuration;
  return {
    nodeId,
    clusterName,
    role: isMasterNode ? 'master' : 'wrapper',
    address,
    port,
    apiPort,
    apiCertificate: apiCertificate?.describe(clock.now()) ?? null,
    ...readNodeStats(version),
    runtimes: nodes.get(nodeId)?.value.runtimes ?? [],
    advisoryLimits: nodes.get(nodeId)?.value.advisoryLimits,
  };
}
