/** SIGTERM, SIGINT and restarts in quick turn: what runs on, what ends, and what is said meanwhile. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readProcess } from '../../src/files/processes.js';
import type { InstanceInfo } from '../../src/model/instance.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { expectNothingLeft } from '../support/daemon/daemon-invariants.js';
import { kill } from '../support/daemon/root-processes.js';
import { drawn } from '../support/drawn.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

const pidsOf = (instances: readonly InstanceInfo[]) =>
  instances.map(({ id, processPid }) => `${id} ${processPid}`);

it('leaves instances running on SIGHUP and SIGTERM, whatever the number and time of the restarts', async () => {
  world.configure('service', { command: 'exec sleep 1000', minimumServiceCount: 3 });
  await world.start();
  const before = pidsOf(await world.untilOnline('service', 3));
  expect(await world.kill('SIGHUP')).toEqual({ code: 0, signal: null });
  const moments = drawn('shutdown');
  for (let round = 0; round < 6; round++) {
    const daemon = world.spawn();
    // A service manager in a loop: in some rounds the daemon serves already, in others it is still starting.
    await new Promise((resolve) => setTimeout(resolve, moments.between(0, 600)));
    await daemon.end('SIGTERM');
  }
  await world.start();
  expect(pidsOf(await world.untilOnline('service', 3))).toEqual(before);
});

it('stops instances on SIGINT, saying so, leaves nothing behind, and brings them back at the next start', async () => {
  // Each has a child that left its session and its environment: only a control group tells whose it is.
  const command = "env -i setsid sh -c 'echo far $$; exec sleep 1000' & exec sleep 1000";
  world.configure('service', { command, minimumServiceCount: 2 });
  await world.start();
  const before = await world.untilOnline('service', 2);
  const far: number[] = [];
  for (const { id } of before) {
    await world.untilLogged(id, /^far \d+$/);
    far.push(...(await world.api.logs(id)).map((line) => Number(line.split(' ')[1])));
  }
  const isGrouped = far.every((pid) => readFileSync(`/proc/${pid}/cgroup`, 'latin1').includes('/drover-'));
  expect(await world.kill('SIGINT')).toEqual({ code: 0, signal: null });
  expect(world.daemon.stdout).toMatch(
    /Stopping 2 instances: \w{6}, \w{6} .*\n[\s\S]*All instances have stopped\.\n/,
  );
  expect(world.daemon.stderr).toBe('');
  await expectNothingLeft(world, []);
  if (isGrouped) expect(far.filter((pid) => readProcess(pid)?.isZombie === false)).toEqual([]);
  else for (const pid of far) kill(pid);
  await world.start();
  const after = await world.untilOnline('service', 2);
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(pidsOf(after)).not.toEqual(pidsOf(before));
});

it('exits at once on a second SIGINT, and leaves running what has not stopped yet', async () => {
  world.configure('stubborn', { command: 'trap "" TERM; echo ready; while :; do sleep 0.2; done' });
  await world.start();
  const before = await world.untilOnline('stubborn', 1);
  await world.untilLogged(before[0]?.id ?? '', /^ready$/);
  const { daemon } = world;
  const firstAt = performance.now();
  daemon.signal('SIGINT');
  await until(() => expect(daemon.stdout).toContain('Stopping 1 instance: '));
  const again = setInterval(() => daemon.signal('SIGINT'), 50);
  const { code } = await daemon.ended.finally(() => clearInterval(again));
  // npm passes on the same press of Ctrl-C: what comes within half a second is not a second one.
  expect(performance.now() - firstAt).toBeGreaterThan(490);
  expect(code).toBe(130);
  expect(daemon.stderr).toMatch(/^drover: stopping at once; .*left running\n$/);
  await world.start();
  const after = await world.untilOnline('stubborn', 1);
  expect(pidsOf(after)).toEqual(pidsOf(before));
  // Spares the end of the test its grace period.
  await world.api.removeConfiguration('stubborn');
  for (const { id, processPid } of after) {
    await world.api.remove(id);
    kill(Number(processPid));
  }
});

it('ends on SIGINT during its start, too', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  const daemon = world.spawn();
  await until(() => expect(daemon.stdout).toContain('starts'));
  daemon.signal('SIGINT');
  await daemon.ended;
  await expectNothingLeft(world, []);
});
