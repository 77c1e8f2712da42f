/** `/ping`, `/metrics` and `/node`: what the serving node says of itself, and its stop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type NodeConfiguration, nodeConfigurationSchema } from '../../model/node.js';
import { durationText } from '../../model/words.js';
import { STOPPING } from '../../operations/node-operations.js';
import { nodeStatsSchema, readNodeStats } from '../../operations/node-stats.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { sendBytes, sendError } from '../http/json-reply.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

const pingSchema = z.object({
  status: z.literal('ok'),
  nodeId: z.string(),
  clusterName: z.string(),
  master: z.boolean(),
});

const nodeSchema = z.object({
  nodeId: z.string(),
  uptime: z.string().describe('human readable, of the daemon'),
  systemStats: nodeStatsSchema.extend({ eventLoopDelayMs: z.number() }),
});

export interface NodeNeeds {
  readonly configuration: NodeConfiguration;
  readonly version: string;
  readonly metrics: Metrics;
  /** Ends the daemon as SIGTERM does. Returns at once. */
  stopDaemon(): void;
}

/** The routes of the serving node. */
export function nodeRoutes(dependencies: NodeNeeds): readonly Route[] {
  const { configuration, metrics } = dependencies;
  return [
    pingRoute(configuration),
    metricsRoute(metrics),
    nodeRoute(dependencies),
    configRoute(configuration),
    reloadRoute(),
    stopRoute(dependencies),
  ];
}

function pingRoute({ nodeId, clusterName, isMasterNode }: NodeConfiguration): Route {
  const bytes = Buffer.from(JSON.stringify({ status: 'ok', nodeId, clusterName, master: isMasterNode }));
  return defineRoute({
    method: 'GET',
    path: '/ping',
    scope: 'open',
    summary: 'Says that this node serves.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'serving', schema: pingSchema } },
    isImmediate: true,
    handle: (_call, reply) => sendBytes(reply, bytes),
  });
}

function metricsRoute(metrics: Metrics): Route {
  // Requests at the same time share one collection: the endpoint is open, so it must stay cheap.
  let running: Promise<string> | undefined;
  const collect = (): Promise<string> => {
    running ??= metrics.text().finally(() => {
      running = undefined;
    });
    return running;
  };
  return defineRoute({
    method: 'GET',
    path: '/metrics',
    scope: 'open',
    summary: 'Metrics in Prometheus exposition format.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'metrics', contentType: 'text/plain' } },
    handle: (_call, reply) => {
      reply.type(metrics.registry.contentType);
      return collect();
    },
  });
}

function nodeRoute({ configuration, version }: NodeNeeds): Route {
  return defineRoute({
    method: 'GET',
    path: '/node',
    scope: 'ALL',
    summary: 'Load and memory of the serving node.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'the node', schema: nodeSchema } },
    handle: async () => ({
      nodeId: configuration.nodeId,
      uptime: durationText(process.uptime() * 1000),
      systemStats: await readSystemStats(version),
    }),
  });
}

function configRoute(configuration: NodeConfiguration): Route {
  const shown = { ...configuration, ...(configuration.joinToken !== undefined && { joinToken: '***' }) };
  return defineRoute({
    method: 'GET',
    path: '/node/config',
    scope: 'ALL',
    summary: 'The main configuration of the serving node, without its secrets.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'config.json with defaults', schema: nodeConfigurationSchema } },
    handle: () => shown,
  });
}

function reloadRoute(): Route {
  return defineRoute({
    method: 'POST',
    path: '/node/reload',
    scope: 'ALL',
    summary: 'Not implemented.',
    errors: ['DRV_NOT_IMPLEMENTED'],
    params: nothing,
    query: nothing,
    body: nothing,
    answers: {},
    handle: (_call, reply) =>
      sendError(
        reply,
        501,
        'reloading a node is not implemented: configuration files are watched and need none; restart Drover for config.json',
      ),
  });
}

function stopRoute({ stopDaemon }: NodeNeeds): Route {
  return defineRoute({
    method: 'POST',
    path: '/node/stop',
    scope: 'ALL',
    summary: 'Ends Drover on the serving node as SIGTERM does, after this answer; instances go on running.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 202: { description: 'it stops now', schema: z.object({ message: z.string() }) } },
    handle: (_call, reply) => {
      reply.raw.once('close', stopDaemon);
      reply.code(202);
      return { message: STOPPING };
    },
  });
}

async function readSystemStats(version: string): Promise<z.output<typeof nodeSchema>['systemStats']> {
  const before = performance.now();
  await nextTurn();
  const eventLoopDelayMs = Math.round((performance.now() - before) * 1000) / 1000;
  return { ...readNodeStats(version), eventLoopDelayMs };
}
