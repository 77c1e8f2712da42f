/** Signals reach the processes of a run and no others, whatever pid those have. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { readProcess } from '../../../src/files/processes.js';
import { InstanceProcesses, type Leader, type RunGroups } from '../../../src/runtime/instance-processes.js';
import { ProcessTable } from '../../../src/runtime/process-table.js';
import type { RunId } from '../../../src/runtime/runtime.js';
import { until } from '../../support/until.js';

const RUN = { instanceId: 'aaaaaa', run: 1 };
const table = new ProcessTable();
const rootId = `root-${process.pid}`;
const processes = new InstanceProcesses(table, rootId, 'process');
const started: ChildProcess[] = [];

afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
    const exited = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await exited;
  }
});

/** A session leader, as an instance's process is one. */
async function start(
  mark?: string,
  command = 'echo ready; exec sleep 60',
): Promise<{ pid: number; child: ChildProcess }> {
  const env = { PATH: '/usr/bin:/bin', ...(mark !== undefined && { DROVER_RUN: mark }) };
  const child = spawn('/bin/sh', ['-c', command], {
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  started.push(child);
  await once(child.stdout, 'data');
  if (child.pid === undefined) throw new Error('not started');
  return { pid: child.pid, child };
}

function leaderWith(pid: number, change: { startTime?: number; bootId?: string } = {}): Leader {
  const startTime = readProcess(pid)?.startTime ?? 0;
  return { identity: { pid, startTime, bootId: table.bootId, ...change }, exitedAtTicks: null };
}

const untilDead = (pid: number): Promise<void> =>
  until(() => expect(readProcess(pid)?.isZombie ?? true).toBe(true));

it('spares a process that has the number of an earlier one', async () => {
  const { pid } = await start();
  const startTime = (readProcess(pid)?.startTime ?? 0) - 1;
  for (const leader of [leaderWith(pid, { startTime }), leaderWith(pid, { bootId: 'another boot' })]) {
    expect(await processes.isAlive(RUN, leader)).toBe(false);
    await processes.signal(RUN, leader, 'SIGKILL');
    expect(readProcess(pid)?.isZombie).toBe(false);
  }
});

it('spares the children of a stranger whose leader had the number and is gone', async () => {
  const { pid, child } = await start(undefined, 'sleep 60 & echo ready; exec sleep 60');
  const session = pid;
  const exited = once(child, 'exit');
  process.kill(pid, 'SIGKILL');
  await exited;
  const orphan = (await table.scan()).find((entry) => entry.session === session);
  if (orphan === undefined) throw new Error('the orphan is gone');
  const endedBefore = { ...leaderWith(pid), exitedAtTicks: orphan.startTime - 1 };
  expect(await processes.isAlive(RUN, endedBefore)).toBe(false);
  await processes.signal(RUN, endedBefore, 'SIGKILL');
  expect(readProcess(orphan.pid)?.isZombie).toBe(false);
  const endedAfter = { ...leaderWith(pid), exitedAtTicks: orphan.startTime };
  expect(await processes.isAlive(RUN, endedAfter)).toBe(true);
  await processes.signal(RUN, endedAfter, 'SIGKILL');
  await untilDead(orphan.pid);
});

it('reaches a member of the session that has no mark in its environment', async () => {
  // The member says so itself: beside it the shell would, perhaps before its environment is empty.
  const member = "env -i /bin/sh -c 'echo ready; exec /bin/sleep 60'";
  const { pid, child } = await start(`${rootId}/aaaaaa/1`, `${member} & exec sleep 60`);
  const leader = leaderWith(pid);
  const exited = once(child, 'exit');
  process.kill(pid, 'SIGKILL');
  await exited;
  expect(await processes.isAlive(RUN, { ...leader, exitedAtTicks: Number.MAX_SAFE_INTEGER })).toBe(true);
  await processes.signal(RUN, { ...leader, exitedAtTicks: Number.MAX_SAFE_INTEGER }, 'SIGKILL');
  await until(async () => {
    const left = (await table.scan()).filter((entry) => entry.session === pid && !entry.isZombie);
    expect(left).toEqual([]);
  });
});

it('tells runs, instances and roots apart by the whole mark', async () => {
  const { pid } = await start(`${rootId}/aaaaaa/12`);
  await start(`${rootId}x/aaaaaa/1`);
  expect(await processes.isAlive(RUN, undefined)).toBe(false);
  expect(await processes.marked()).toEqual([{ instanceId: 'aaaaaa', run: 12 }]);
  await processes.signal({ instanceId: 'aaaaaa', run: 12 }, undefined, 'SIGKILL');
  await untilDead(pid);
});

it('calls a zombie dead', async () => {
  // The subshell ends when its parent has become sleep, which never waits for it.
  const untilSleep = 'until read -r name < /proc/$$/comm && [ "$name" = sleep ]; do :; done';
  const { pid } = await start(undefined, `(${untilSleep}) & echo $!; exec sleep 60`);
  const zombie = await until(async () => {
    const found = (await table.scan()).find((entry) => entry.session === pid && entry.pid !== pid);
    if (found?.isZombie !== true) throw new Error('no zombie yet');
    return found;
  });
  expect(table.isAlive(leaderWith(zombie.pid).identity)).toBe(false);
});

it('spares what carries the mark of another runtime', async () => {
  const { pid } = await start(`${rootId}/aaaaaa/1/tmux`);
  expect(await processes.marked()).toEqual([]);
  expect(await processes.isAlive(RUN, undefined)).toBe(false);
  await processes.signal(RUN, undefined, 'SIGKILL');
  expect(readProcess(pid)?.isZombie).toBe(false);
  const ofTmux = new InstanceProcesses(table, rootId, 'tmux');
  expect(await ofTmux.marked()).toEqual([RUN]);
  await ofTmux.signal(RUN, undefined, 'SIGKILL');
  await untilDead(pid);
});

it('reaches the group that a shell leads beside the program, and nothing that has the number of such a shell', async () => {
  const { pid: shell } = await start(undefined, 'sleep 60 & echo ready; wait');
  const startTime = readProcess(shell)?.startTime ?? 0;
  const program = { pid: 4194304, startTime: 1, bootId: table.bootId };
  const leader = { identity: program, exitedAtTicks: null };
  const stranger = { ...leader, session: { pid: shell, startTime: startTime - 1 } };
  await processes.signal(RUN, stranger, 'SIGKILL');
  expect(await processes.isAlive(RUN, stranger)).toBe(false);
  expect(readProcess(shell)?.isZombie).toBe(false);
  const own = { ...leader, session: { pid: shell, startTime } };
  expect(await processes.isAlive(RUN, own)).toBe(true);
  expect(processes.isGroupGone(own)).toBe(false);
  await processes.signal(RUN, own, 'SIGKILL');
  await until(() => expect(processes.isGroupGone(own)).toBe(true));
});

it('reads no environment of what is in the group of another run, and ends a group as a whole', async () => {
  const { pid } = await start(`${rootId}/aaaaaa/1`);
  const killed: RunId[] = [];
  const groups: RunGroups = {
    pids: () => [],
    allPids: () => [pid],
    kill: async (run) => void killed.push(run),
  };
  const grouped = new InstanceProcesses(table, rootId, 'process', groups);
  expect([await processes.isAlive(RUN, undefined), await grouped.isAlive(RUN, undefined)]).toEqual([
    true,
    false,
  ]);
  await grouped.signal(RUN, undefined, 'SIGTERM');
  expect(killed).toEqual([]);
  await grouped.signal(RUN, undefined, 'SIGKILL');
  expect(killed).toEqual([RUN]);
  expect(readProcess(pid)?.isZombie).toBe(false);
});
