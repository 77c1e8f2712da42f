/** What a client waits for, from POST to ONLINE: a daemon with its state on etcd, beside one with its state in a file. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasEtcd, withMembers } from './etcd.js';
import type { Row } from './table.js';
import { BenchDaemon, type InstanceInfo, median, ms, percentile, until } from './world.js';

export const STARTS = 60;
/** The first starts also start the owner and compile the code. */
const WARM_UP = 20;
const MEMBERS = [1, 3];

/** Milliseconds of each. `command` runs until it is ended. */
export async function postsToOnline(daemon: BenchDaemon, command: string): Promise<number[]> {
  await daemon.request('PUT', '/configurations/start', {
    name: 'start',
    command,
    minimumServiceCount: 0,
    runtime: 'process',
    ramMB: 64,
    cpu: 0,
  });
  const times: number[] = [];
  for (let index = 0; index < STARTS + WARM_UP; index++) {
    const startedAt = performance.now();
    const { id } = (await daemon.request('POST', '/instances', {
      configurationName: 'start',
    })) as InstanceInfo;
    // A client that asked without a pause would take from the daemon what it measures.
    while (((await daemon.request('GET', `/instances/${id}`)) as InstanceInfo).state !== 'ONLINE')
      await delay(1);
    times.push(performance.now() - startedAt);
    await daemon.request('DELETE', `/instances/${id}`);
    // Stopping it must not be under way while the next one is measured.
    await until(async () => (await readdir(join(daemon.root, 'running'))).length === 0);
  }
  return times.slice(WARM_UP);
}

/** `inFile`: the milliseconds with LMDB, of the same run. */
export async function etcdRows(inFile: readonly number[], command: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const members of MEMBERS) {
    const times = hasEtcd() ? await onEtcd(members, command) : undefined;
    const of = members === 1 ? 'one member' : `${members} members on this machine`;
    rows.push({
      figure: `POST /instances to ONLINE over HTTP, the state on etcd (${of}), p50 / p99`,
      value: times === undefined ? 'no etcd (apt: etcd-server)' : besideFile(times, inFile),
      baseline: `LMDB: ${halves(inFile)}`,
      target: '-',
      ok: true,
    });
  }
  return rows;
}

async function onEtcd(count: number, command: string): Promise<number[]> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-etcd-'));
  try {
    return await withMembers({ count, directory }, async ({ endpoints }) => {
      const daemon = await BenchDaemon.start({ settings: { store: { kind: 'etcd', endpoints } } });
      try {
        return await postsToOnline(daemon, command);
      } finally {
        await daemon.stop();
      }
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function besideFile(times: readonly number[], inFile: readonly number[]): string {
  return `${halves(times)} (${(median(times) / median(inFile)).toFixed(2)} x)`;
}

function halves(times: readonly number[]): string {
  return `${ms(median(times))} / ${ms(percentile(times, 0.99))}`;
}
