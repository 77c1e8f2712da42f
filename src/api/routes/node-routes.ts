/** `/ping`, `/metrics` and what the serving node says of itself. */
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type NodeConfiguration, nodeConfigurationSchema } from '../../model/node.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { ApiDependencies } from '../http/dependencies.js';
import { sendBytes, sendError } from '../http/json-reply.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

const MB = 1024 * 1024;

const pingSchema = z.object({
  status: z.literal('ok'),
  nodeId: z.string(),
  clusterName: z.string(),
  master: z.boolean(),
});

const nodeSchema = z.object({
  nodeId: z.string(),
  uptime: z.string().describe('human readable, of the daemon'),
  systemStats: z.object({
    version: z.string(),
    cpus: z.int(),
    loadAverage: z.array(z.number()).describe('over 1, 5 and 15 minutes'),
    memoryTotalMB: z.int(),
    memoryFreeMB: z.int(),
    processRssMB: z.int(),
    processHeapUsedMB: z.int(),
    eventLoopDelayMs: z.number(),
  }),
});

/** Routes of the node itself. */
export function nodeRoutes(dependencies: ApiDependencies): readonly Route[] {
  const { configuration, metrics } = dependencies;
  return [
    pingRoute(configuration),
    metricsRoute(metrics),
    nodeRoute(dependencies),
    configRoute(configuration),
    reloadRoute(),
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
  // Scrapers that come together share one collection: the endpoint is open, so it must stay cheap.
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

function nodeRoute({ configuration, version }: ApiDependencies): Route {
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
      uptime: describeUptime(process.uptime()),
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

async function readSystemStats(version: string): Promise<z.output<typeof nodeSchema>['systemStats']> {
  const before = performance.now();
  await nextTurn();
  const eventLoopDelayMs = Math.round((performance.now() - before) * 1000) / 1000;
  const { rss, heapUsed } = process.memoryUsage();
  return {
    version,
    cpus: availableParallelism(),
    loadAverage: loadavg(),
    memoryTotalMB: Math.round(totalmem() / MB),
    memoryFreeMB: Math.round(freemem() / MB),
    processRssMB: Math.round(rss / MB),
    processHeapUsedMB: Math.round(heapUsed / MB),
    eventLoopDelayMs,
  };
}

/** `2 d 3 h 4 min`; under a minute in seconds. */
export function describeUptime(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  const parts = [
    { count: Math.floor(minutes / 1440), unit: 'd' },
    { count: Math.floor(minutes / 60) % 24, unit: 'h' },
    { count: minutes % 60, unit: 'min' },
  ];
  return parts
    .filter(({ count }) => count > 0)
    .map(({ count, unit }) => `${count} ${unit}`)
    .join(' ');
}
