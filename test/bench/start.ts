/**
 * What a start takes until the API serves, of an empty node and of one with many records, and how much memory a node
 * has when it has come to rest. With records it is held against etcd, started again over as many keys.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { InstanceRecord } from '../../src/model/instance.js';
import { instanceKey } from '../../src/store/keys.js';
import { openStore } from '../../src/store/lmdb/open.js';
import { instanceRecord } from '../support/control-plane/records.js';
import { BenchEtcd, hasEtcd } from './etcd.js';
import { cpuTicks, ownerOf, residentMB, TICKS_PER_SECOND } from './process-figures.js';
import type { Row } from './table.js';
import { BenchDaemon, median, ms, until } from './world.js';

const STARTS = 7;
const RECORDS = 10_000;
const BATCH = 100;
const REST_MS = 60_000;

interface Start {
  readonly ms: number;
  /** User and system time that the process has had by then. */
  readonly cpuMs: number;
}

export async function benchStart(): Promise<Row[]> {
  const empty = await startsOf(async () => undefined);
  const full = await startsOf(fill);
  return [
    {
      figure: 'start of an empty node to the first 200 of /api/instances, median',
      value: textOf(empty),
      baseline: '-',
      target: '<= 450 ms',
      ok: median(empty.map((start) => start.ms)) <= 450,
    },
    await againstEtcd(full),
    ...(await memoryRows()),
  ];
}

/** Starts after the first, which makes the files of the node. */
async function startsOf(prepare: (daemon: BenchDaemon) => Promise<void>): Promise<Start[]> {
  const daemon = await BenchDaemon.start();
  try {
    await daemon.kill('SIGTERM');
    await prepare(daemon);
    const starts: Start[] = [];
    for (let index = 0; index < STARTS; index++) {
      await daemon.startAgain();
      starts.push({
        ms: daemon.startedInMs,
        cpuMs: ((await cpuTicks(daemon.pid)) / TICKS_PER_SECOND) * 1000,
      });
      await daemon.kill('SIGTERM');
    }
    await daemon.startAgain();
    return starts;
  } finally {
    await daemon.stop();
  }
}

/** Instances that were stopped: nothing is to be done about them. */
async function fill({ root }: BenchDaemon): Promise<void> {
  const store = await openStore({ directory: join(root, 'data/store/master') });
  for (let first = 0; first < RECORDS; first += BATCH)
    await store.transact(
      recordsFrom(first).map((value) => ({ do: 'put' as const, key: instanceKey(value.id), value })),
    );
  await store.close();
}

function recordsFrom(first: number): InstanceRecord[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const record = instanceRecord((first + index).toString(36).padStart(6, '0'));
    return {
      ...record,
      desired: { goal: 'stop', restartToken: 0 },
      status: { ...record.status, state: 'STOPPED' },
    };
  });
}

async function againstEtcd(full: readonly Start[]): Promise<Row> {
  const figure = `start with ${RECORDS} records to the first 200 of /api/instances, median`;
  const target = '<= 1.0 x etcd';
  if (!hasEtcd())
    return { figure, value: textOf(full), baseline: 'no etcd (apt: etcd-server)', target, ok: false };
  const etcd = await BenchEtcd.start();
  const times: number[] = [];
  try {
    for (let first = 0; first < RECORDS; first += BATCH)
      await etcd.put(recordsFrom(first).map((value) => [instanceKey(value.id), JSON.stringify(value)]));
    for (let index = 0; index < STARTS; index++) times.push(await etcd.restart(RECORDS));
  } finally {
    await etcd.stop();
  }
  const ratio = median(full.map((start) => start.ms)) / median(times);
  return {
    figure,
    value: `${textOf(full)}, ${ratio.toFixed(2)} x etcd`,
    baseline: `etcd with as many keys ${ms(median(times))}`,
    target,
    ok: ratio <= 1,
  };
}

/** Of a node with one instance, which has an owner. */
async function memoryRows(): Promise<Row[]> {
  const daemon = await BenchDaemon.start();
  try {
    await daemon.request('PUT', '/configurations/rest', {
      name: 'rest',
      command: 'sleep 100000',
      runtime: 'process',
      ramMB: 64,
      cpu: 0,
      minimumServiceCount: 1,
    });
    await until(async () => (await daemon.instances())[0]?.state === 'ONLINE');
    const owner = await ownerOf((await daemon.instances())[0]?.processPid ?? 0);
    await delay(REST_MS);
    const [daemonMB, ownerMB] = [await residentMB(daemon.pid), await residentMB(owner)];
    return [
      {
        figure: `resident memory of the daemon ${REST_MS / 1000} s after its start`,
        value: `${daemonMB.toFixed(1)} MB`,
        baseline: `this benchmark process ${(await residentMB(process.pid)).toFixed(1)} MB`,
        target: '<= 80 MB',
        ok: daemonMB <= 80,
      },
      {
        figure: 'resident memory of the process owner then',
        value: `${ownerMB.toFixed(1)} MB`,
        baseline: `a Node.js that does nothing ${(await bareNodeMB()).toFixed(1)} MB`,
        target: '<= 40 MB',
        ok: ownerMB <= 40,
      },
    ];
  } finally {
    await daemon.stop();
  }
}

async function bareNodeMB(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000); console.log("ready")'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    await once(child.stdout, 'data');
    return await residentMB(child.pid ?? 0);
  } finally {
    child.kill('SIGKILL');
  }
}

function textOf(starts: readonly Start[]): string {
  return `${ms(median(starts.map((start) => start.ms)))} (CPU ${Math.round(median(starts.map((start) => start.cpuMs)))} ms)`;
}
