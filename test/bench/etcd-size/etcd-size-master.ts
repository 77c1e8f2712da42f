/**
 * A master of the etcd-size benchmark in a process of its own: `<node id> <store as JSON>`. It loads the state and follows
 * it, and leads as soon as it may. Its nodes are fakes in this process, or away for ever.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { SystemClock } from '../../../src/loop/system-clock.js';
import type { Election } from '../../../src/store/etcd/election.js';
import { openElected } from '../../../src/store/etcd/open.js';
import { EtcdClient } from '../../../src/store/etcd/wire/client.js';
import { openStore } from '../../../src/store/lmdb/open.js';
import type { Store } from '../../../src/store/store.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { answerQuestions } from '../cluster/cluster-child.js';
import { ClusterProbe } from '../cluster/cluster-probe.js';
import { percentile } from '../world.js';
import { changesSchema, type Delay, PREFIX, type TakenOver, type Written } from './etcd-size-questions.js';

const storeSchema = z.union([
  z.object({ directory: z.string() }),
  z.object({ endpoints: z.array(z.string()) }),
]);
/** Longer than the benchmark: nodes that are away are not lost. */
const NODE_TIMEOUT_MS = 86_400_000;
/** As many clients as wait at once where nothing paces them. */
const CLIENTS = 256;
/** From one handful of paced changes to the next. */
const TICK_MS = 10;

const [nodeId = '', place = ''] = process.argv.slice(2);
const clock = new SystemClock();
const openedAt = performance.now();
const { store, election } = await open();
const plane = new ControlPlane({
  clock,
  masterStore: store,
  nodeMetrics: new Metrics(),
  addressOf: (id) => `${id}.example.org`,
  nodeTimeoutMs: NODE_TIMEOUT_MS,
});
await plane.master.start();
const loadedMs = performance.now() - openedAt;
const { instances } = plane.master.state;
const probe = new ClusterProbe(plane);
const leading = lead();
let delays: number[] = [];
let turn = 0;
instances.onChange((_id, after) => {
  if (after !== undefined) delays.push(clock.now() - after.value.status.lastHeartbeat);
});

answerQuestions({
  ...probe.answers(),
  loaded: () => loadedMs,
  leading: () => leading,
  settled: () => plane.whenIdle(),
  revision: () => store.barrier(),
  join: async (count) => {
    for (let index = 0; index < Number(count); index++) {
      const { wrapper } = await plane.addNode(`node-${index}`);
      await wrapper.whenFed;
    }
  },
  change: (about) => change(changesSchema.parse(JSON.parse(about))),
  delay: () => {
    const all = delays;
    delays = [];
    return { changes: all.length, p50: percentile(all, 0.5), p99: percentile(all, 0.99) } satisfies Delay;
  },
});

async function open(): Promise<{ store: Store; election?: Election }> {
  const where = storeSchema.parse(JSON.parse(place));
  if ('directory' in where) return { store: await openStore(where) };
  return openElected({
    etcd: new EtcdClient({ endpoints: where.endpoints, clock }),
    prefix: PREFIX,
    own: { nodeId, clusterAddress: `${nodeId}:6000`, root: nodeId },
    clock,
    signal: new AbortController().signal,
  });
}

/** Resolves when this master has led, has started all that a leader runs, and has had its first change written. */
async function lead(): Promise<TakenOver> {
  await election?.campaign();
  const wonAt = performance.now();
  plane.master.beginTerm({ epoch: 0 });
  await plane.master.led().controllers.start();
  const readyMs = performance.now() - wonAt;
  for (const [id] of instances.entries()) {
    await report(id);
    break;
  }
  return { readyMs, writtenMs: performance.now() - wonAt, at: Date.now() };
}

/** As many reports of apps as wanted, of one instance after the other. `perSecond` 0: as fast as they are written. */
async function change({
  count,
  perSecond,
  clients = CLIENTS,
}: z.output<typeof changesSchema>): Promise<Written> {
  const ids = [...instances.entries()].map(([id]) => id);
  const times: number[] = [];
  const startedAt = performance.now();
  let left = count;
  const one = async (): Promise<void> => {
    const askedAt = performance.now();
    await report(ids[turn++ % ids.length] ?? '');
    times.push(performance.now() - askedAt);
  };
  const client = async (): Promise<void> => {
    while (left-- > 0) await one();
  };
  if (perSecond === 0) await Promise.all(Array.from({ length: clients }, client));
  else await paced(count, perSecond, one);
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

/** What an app with players says of itself. */
async function report(id: string): Promise<void> {
  const players = (instances.get(id)?.value.status.players ?? 0) + 1;
  await plane.master.writer.reportState(id, { state: 'ONLINE', players, maxPlayers: 1000, tps: 20 });
}

async function paced(count: number, perSecond: number, one: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const all: Promise<void>[] = [];
  while (all.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - startedAt) * perSecond) / 1000));
    while (all.length < due) all.push(one());
    await delay(TICK_MS);
  }
  await Promise.all(all);
}
