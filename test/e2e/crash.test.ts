/** Instances that end by themselves or cannot be started: restarted in place, with a reason, and never in a storm. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { InstanceInfo } from '../../src/model/instance.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

/** Says its pid, then ends with the code that it is told. */
const OBEDIENT = 'echo "up as $$"; read -r code; exit "$code"';

it('restarts in place after SIGKILL, SIGSEGV, exit 0 and exit 1, says how it ended, and keeps the log', async () => {
  const endings: Record<string, { end: (one: InstanceInfo) => unknown; expected: Partial<InstanceInfo> }> = {
    killed: {
      end: ({ processPid }) => process.kill(Number(processPid), 'SIGKILL'),
      expected: { exitCode: null, exitSignal: 'SIGKILL' },
    },
    faulty: {
      end: ({ processPid }) => process.kill(Number(processPid), 'SIGSEGV'),
      expected: { exitCode: null, exitSignal: 'SIGSEGV' },
    },
    done: { end: ({ id }) => world.api.execute(id, '0'), expected: { exitCode: 0, exitSignal: null } },
    failed: { end: ({ id }) => world.api.execute(id, '1'), expected: { exitCode: 1, exitSignal: null } },
  };
  for (const name of Object.keys(endings)) world.configure(name, { command: OBEDIENT });
  await world.start();
  for (const [name, { end, expected }] of Object.entries(endings)) {
    const [before] = await world.untilOnline(name, 1);
    if (before === undefined) throw new Error('untilOnline gave nothing');
    await world.untilLogged(before.id, new RegExp(`^up as ${before.processPid}$`));
    await end(before);
    await until(async () => {
      const after = await world.api.instances(name);
      expect(after).toEqual([
        expect.objectContaining({ ...expected, id: before.id, state: 'ONLINE', restarts: 1 }),
      ]);
      const pids = [before.processPid, after[0]?.processPid];
      const ups = (await world.api.logs(before.id)).filter((line) => line.startsWith('up as '));
      expect(ups).toEqual(pids.map((pid) => `up as ${pid}`));
    });
  }
});

it('starts a command that exits at once with growing delays, says so, and creates no other', async () => {
  world.failing.add('hasty').add('absent');
  world.configure('hasty', { command: 'echo start; exit 3' });
  world.configure('absent', { command: 'no-such-program --flag' });
  const startedAt = performance.now();
  await world.start();
  const hasty = await world.untilMessage('hasty', /^exited with code 3, restart 4 in [34] s$/);
  // Delays of 0, 1 and 2 s, shortened by a fifth at most.
  expect(performance.now() - startedAt).toBeGreaterThan(2400);
  expect(await world.api.logs(hasty.id)).toEqual(Array(4).fill('start'));
  expect(await world.api.instances('hasty')).toEqual([expect.objectContaining({ restarts: 3, exitCode: 3 })]);
  const absent = await world.untilMessage('absent', /^exited with code 127, restart [3-5] in/);
  const lines = await world.api.logs(absent.id);
  expect(lines.length).toBeLessThanOrEqual(5);
  expect(lines[0]).toMatch(/no-such-program: .*not found/);
});

it('ends a group that ignores SIGTERM, grandchildren of a session of their own included', async () => {
  const stubborn =
    'trap "" TERM HUP; (trap "" TERM; while :; do sleep 0.2; done) & ' +
    'setsid sh -c \'trap "" TERM HUP; while :; do sleep 0.2; done\' & echo ready; while :; do sleep 0.2; done';
  for (const name of ['removed', 'stopped'])
    world.configure(name, { command: stubborn, minimumServiceCount: 0 });
  await world.start();
  const { id } = await world.api.create('removed');
  const { id: other } = await world.api.create('stopped');
  for (const one of [id, other]) {
    await world.untilLogged(one, /^ready$/);
    await until(async () => expect((await processesOf(one)).length).toBeGreaterThanOrEqual(3));
  }
  await world.api.remove(id);
  expect(await world.api.send('GET', `/instances/${id}`)).toMatchObject({ status: 404 });
  // The other one is removed within its grace period.
  await world.api.lifecycle(other, 'stop');
  await world.untilMessage('stopped', /^stopping: SIGTERM sent$/);
  await world.api.remove(other);
  expect((await processesOf(id)).length).toBeGreaterThan(0);
  await until(
    async () => expect([await processesOf(id), await processesOf(other)]).toEqual([[], []]),
    18_000,
  );
});

async function processesOf(id: string): Promise<number[]> {
  return (await world.processes.marked()).filter(({ instanceId }) => instanceId === id).map(({ pid }) => pid);
}
