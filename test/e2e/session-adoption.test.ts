/**
 * One instance in screen, one in tmux and one plain process, all counting aloud: the daemon, the session owners, the owner and
 * the whole machine die. Exactly the right ones are adopted, nothing is doubled, no line is lost.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProcess } from '../../src/files/processes.js';
import { readLastLines } from '../../src/logs/tail.js';
import type { InstanceInfo } from '../../src/model/instance.js';
import { openStore } from '../../src/store/lmdb/open.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { kill } from '../support/daemon/root-processes.js';
import { hasTool, livePids, readText } from '../support/runtime/process-world.js';
import { until } from '../support/until.js';

const RUNTIMES = ['process', 'screen', 'tmux'] as const;
/** Each line costs a fork. */
const COUNTING = 'i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.1; done';

describe.skipIf(!hasTool('tmux') || !hasTool('screen'))('instances in sessions', () => {
  let world: DaemonWorld;
  beforeEach(async () => {
    world = await DaemonWorld.create();
    for (const runtime of RUNTIMES)
      world.configure(`by-${runtime}`, { runtime, command: COUNTING, minimumServiceCount: 1 });
    await world.start();
  });
  afterEach(({ task }) => world.finish(failedOf(task)));

  const online = async (): Promise<Record<(typeof RUNTIMES)[number], InstanceInfo>> => {
    const find = async (runtime: string): Promise<InstanceInfo> => {
      const [instance] = await world.untilOnline(`by-${runtime}`, 1);
      if (instance === undefined) throw new Error(`${runtime}: none`);
      return instance;
    };
    return { process: await find('process'), screen: await find('screen'), tmux: await find('tmux') };
  };

  const linesOf = async ({ id }: InstanceInfo): Promise<string[]> =>
    (await readLastLines(join(world.paths.instanceLogs, id), 1_000_000)).lines;

  const untilLonger = async (instance: InstanceInfo): Promise<void> => {
    const before = (await linesOf(instance)).length;
    await until(async () => expect((await linesOf(instance)).length).toBeGreaterThan(before + 5));
  };

  const untilAllLonger = async (instances: Record<string, InstanceInfo>): Promise<void> => {
    await Promise.all(Object.values(instances).map(untilLonger));
  };

  /** How many runs stand in the log; each must count from 1 without a gap or a line twice. */
  const countRuns = async (instance: InstanceInfo): Promise<number> => {
    let runs = 0;
    let last = 0;
    for (const line of await linesOf(instance)) {
      if (line === 'line 1') runs++;
      expect(line, `after line ${last} of ${instance.configurationName}`).toBe(
        line === 'line 1' ? line : `line ${last + 1}`,
      );
      last = Number(line.slice('line '.length));
    }
    return runs;
  };

  it('stay, with every line, when the daemon, all session owners and the owner are killed', async () => {
    const first = await online();
    await untilAllLonger(first);

    await world.kill();
    await untilAllLonger(first);
    await world.start();
    const second = await online();
    for (const runtime of RUNTIMES) expect(second[runtime]).toMatchObject(identityOf(first[runtime], 0));

    await world.kill();
    await killOwnersAndOwner(world);
    await world.start();
    await until(async () => expect((await online()).process.processPid).not.toBe(first.process.processPid));
    const third = await online();
    expect(third.screen).toMatchObject(identityOf(first.screen, 0));
    expect(third.tmux).toMatchObject(identityOf(first.tmux, 0));
    expect(third.process).toMatchObject({ id: first.process.id, restarts: 1 });
    await untilAllLonger(third);
    for (const runtime of RUNTIMES)
      expect(await countRuns(third[runtime])).toBe(runtime === 'process' ? 2 : 1);
  });

  it('are started anew after a reboot, and who has their numbers now is left alone', async () => {
    const first = await online();
    await untilAllLonger(first);
    await world.kill();
    await killOwnersAndOwner(world);
    await endEverything(world);
    const foreign = spawn('sleep', ['1000'], { stdio: 'ignore' });
    try {
      await rewriteIdentities(world, foreign);
      await world.start();
      await until(async () => {
        const now = await online();
        for (const runtime of RUNTIMES)
          expect(now[runtime]).toMatchObject({ id: first[runtime].id, restarts: 1 });
      });
      const second = await online();
      await untilAllLonger(second);
      for (const instance of Object.values(second)) {
        expect(Object.values(first).map(({ processPid }) => processPid)).not.toContain(instance.processPid);
        expect(await countRuns(instance)).toBe(2);
      }
      expect(readProcess(foreign.pid ?? 0)?.isZombie).toBe(false);
    } finally {
      foreign.kill('SIGKILL');
    }
  });
});

function identityOf({ id, processPid }: InstanceInfo, restarts: number): object {
  return { id, processPid, restarts };
}

async function killOwnersAndOwner({ processes }: DaemonWorld): Promise<void> {
  const { sessionOwners } = await processes.sessionOwners();
  const owners = await processes.owners();
  expect([sessionOwners.length, owners.length]).toEqual([2, 1]);
  for (const pid of [...sessionOwners, ...owners]) kill(pid);
  await until(async () => {
    expect((await processes.sessionOwners()).sessionOwners).toEqual([]);
    expect(await processes.owners()).toEqual([]);
  });
}

/** Servers, sessions and programs, as a machine that is switched off ends them. */
async function endEverything({ root, paths }: DaemonWorld): Promise<void> {
  const isOurs = (text: string): boolean => text.includes(root) || text.includes(paths.rootId);
  const find = (): number[] =>
    livePids().filter((pid) => isOurs(readText(pid, 'cmdline')) || isOurs(readText(pid, 'environ')));
  await until(() => {
    const left = find();
    for (const pid of left) kill(pid);
    expect(left).toEqual([]);
  });
}

/** All that was written down of processes is of an earlier boot, and names a process that is none of ours. */
async function rewriteIdentities({ paths }: DaemonWorld, { pid = 0 }: ChildProcess): Promise<void> {
  const bootId = 'an earlier one';
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const startTime = readProcess(pid)?.startTime ?? 0;
  const store = await openStore({ directory: join(paths.store, 'node') });
  for (const { key, value } of (await store.list('handles/')).entries) {
    if (typeof value !== 'object' || value === null) throw new Error(`${key} is no object`);
    await store.transact([{ do: 'put', key, value: { ...value, process: { pid, startTime, bootId } } }]);
  }
  await store.close();
  const runs = ['screen', 'tmux'].flatMap((tool) => {
    const sessions = join(paths.data, 'sessions', tool);
    const names = readdirSync(sessions, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return names.map(({ name }) => join(sessions, name));
  });
  expect(runs).toHaveLength(2);
  for (const run of runs) {
    writeFileSync(join(run, 'pid'), `${stat.trim()}\n`.repeat(2));
    const record: object = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'));
    writeFileSync(join(run, 'run.json'), JSON.stringify({ ...record, bootId }));
  }
}
