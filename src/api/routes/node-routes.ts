/** `/ping`, `/metrics` and `/node`: the serving node's own data, and its stop. */

import { availableParallelism, freemem, loadavg, totalmem } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../../loop/clock.js';
import { type NodeConfiguration, nodeConfigurationSchema } from '../../model/node.js';
import { durationText } from '../../model/plain/duration-text.js';
import type { ApiDependencies } from '../dependencies.js';
import { sendEncoded, sendError } from '../http/json-reply.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';

/** How long the result of one scrape is given to further scrapes. */
const KEPT_MS = 1000;
const MB = 1024 * 1024;

const pingSchema = z.object({
  status: z.literal('ok'),
  nodeId: z.string(),
  clusterName: z.string(),
  master: z.boolean(),
  leader: z.string().nullable().describe('the node whose master leads; null: no master leads now'),
});

const nodeStatsSchema = z.object({
  version: z.string().describe('the version of Drover'),
  nodeVersion: z.string().describe('the version of Node.js'),
  pid: z.int(),
  uptimeSeconds: z.int().describe('how long the daemon runs'),
  cpus: z.int(),
  loadAverage: z.array(z.number()).describe('the load over 1, 5 and 15 minutes'),
  memoryTotalMB: z.int(),
  memoryFreeMB: z.int(),
  processRssMB: z.int(),
  processHeapUsedMB: z.int(),
});
export type NodeStats = z.output<typeof nodeStatsSchema>;

const nodeSchema = z.object({
  nodeId: z.string(),
  uptime: z.string().describe('how long the daemon runs, for a person'),
  systemStats: nodeStatsSchema.extend({ eventLoopDelayMs: z.number() }),
});

/** The answer of `/ping`. `leader`: the node whose master leads. */
export function pingAnswer(
  { nodeId, clusterName, isMasterNode }: NodeConfiguration,
  leader: string | null,
): z.output<typeof pingSchema> {
  return { status: 'ok', nodeId, clusterName, master: isMasterNode, leader };
}

export function metricsRoute({ configuration, metrics, clock }: ApiDependencies): Route {
  const all = keptFor(KEPT_MS, clock, () => metrics.exposition());
  const open = keptFor(KEPT_MS, clock, () => metrics.openExposition());
  return defineRoute('GET', '/metrics', {
    isOwn: true,
    scope: configuration.metricsNeedKey ? 'PUBLIC' : 'open',
    reach: 'filtered',
    summary:
      'Metrics in Prometheus exposition format; a caller without a key gets only metrics without names.',
    answers: { 200: { description: 'metrics', contentType: 'text/plain' } },
    handle: async ({ request: { actor } }, _needs, reply) => {
      const seesAll = actor?.kind === 'key' && actor.configurations === null;
      const pieces = await (seesAll ? all() : open());
      sendEncoded(reply, pieces, metrics.registry.contentType);
    },
  });
}

/**
 * Returns a function that calls `make` at most once at a time, and again only when the last result is `keptMs` old.
 * Any client may ask, so an answer must stay cheap. A failure is not kept.
 */
function keptFor<T>(
  keptMs: number,
  clock: Pick<Clock, 'monotonic'>,
  make: () => Promise<T>,
): () => Promise<T> {
  let last: Promise<T> | undefined;
  let endsAt = 0;
  return () => {
    if (last !== undefined && clock.monotonic() < endsAt) return last;
    const made = make();
    last = made;
    endsAt = Number.POSITIVE_INFINITY;
    made.then(
      () => {
        endsAt = clock.monotonic() + keptMs;
      },
      () => {
        endsAt = 0;
      },
    );
    return made;
  };
}

export const pingRoute = defineRoute('GET', '/ping', {
  isOwn: true,
  scope: 'open',
  summary: 'Says that this node serves.',
  answers: jsonAnswer('serving', pingSchema),
  handle: (_call, { configuration, leadership }, reply) => {
    const answer = pingAnswer(configuration, leadership.leader()?.nodeId ?? null);
    sendEncoded(reply, [Buffer.from(JSON.stringify(answer))]);
  },
});

/** The routes of the serving node, beside `/ping` and `/metrics`. */
export const nodeRoutes: readonly Route[] = [
  defineRoute('GET', '/node', {
    isOwn: true,
    scope: 'READ',
    summary: 'Load and memory of the serving node.',
    answers: jsonAnswer('the node', nodeSchema),
    handle: async (_call, { configuration, version }) => ({
      nodeId: configuration.nodeId,
      uptime: durationText(process.uptime() * 1000),
      systemStats: await readSystemStats(version),
    }),
  }),
  defineRoute('GET', '/node/config', {
    isOwn: true,
    scope: 'READ',
    summary: 'The main configuration of the serving node, without its secrets.',
    answers: jsonAnswer('config.json with defaults', nodeConfigurationSchema),
    handle: (_call, { configuration }) => ({
      ...configuration,
      ...(configuration.joinToken !== undefined && { joinToken: '***' }),
    }),
  }),
  defineRoute('POST', '/node/reload', {
    isOwn: true,
    scope: 'ALL',
    summary: 'Not implemented.',
    errors: ['DRV_NOT_IMPLEMENTED'],
    answers: {},
    handle: (_call, _needs, reply) =>
      sendError(
        reply,
        'DRV_NOT_IMPLEMENTED',
        'reloading a node is not implemented: configuration files are watched and need none; restart Drover for config.json',
      ),
  }),
  defineRoute('POST', '/node/stop', {
    isOwn: true,
    scope: 'ALL',
    summary: 'Ends Drover on the serving node as SIGTERM does, after this answer; instances go on running.',
    answers: { 202: { description: 'Drover stops now', schema: z.object({ message: z.string() }) } },
    handle: (_call, { stopDaemon, configuration: { nodeId } }, reply) => {
      reply.raw.once('close', stopDaemon);
      reply.code(202);
      return {
        message: `Drover stops now on node ${nodeId}. Instances go on running, and the next start takes them up (Ctrl-C would stop them too).`,
      };
    },
  }),
];

async function readSystemStats(version: string): Promise<z.output<typeof nodeSchema>['systemStats']> {
  const before = performance.now();
  await nextTurn();
  const eventLoopDelayMs = Math.round((performance.now() - before) * 1000) / 1000;
  const { rss, heapUsed } = process.memoryUsage();
  return {
    version,
    nodeVersion: process.version,
    pid: process.pid,
    uptimeSeconds: Math.floor(process.uptime()),
    cpus: availableParallelism(),
    loadAverage: loadavg(),
    memoryTotalMB: Math.round(totalmem() / MB),
    memoryFreeMB: Math.round(freemem() / MB),
    processRssMB: Math.round(rss / MB),
    processHeapUsedMB: Math.round(heapUsed / MB),
    eventLoopDelayMs,
  };
}
