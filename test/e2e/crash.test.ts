/** Instances that end by themselves or cannot be started: restarted in place, with a reason, and never in a storm. */
import { expect, it } from 'vitest';
import type { InstanceInfo } from '../../src/model/instance.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
shareDaemon((shared) => {
  world = shared;
});

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
  const configuredAt = performance.now();
  world.configure('hasty', { command: 'echo start; exit 3' });
  world.configure('absent', { command: 'no-such-program --flag' });
  await untilRestarted('hasty', 3, /^exited with code 3, restart \d+ in \d+ s$/);
  // Delays of 0, 1 and 2 s, shortened by a fifth at most.
  expect(performance.now() - configuredAt).toBeGreaterThan(2400);
  const saidAbsent = await untilRestarted('absent', 2, /^exited with code 127, restart \d+ in \d+ s$/);
  expect(saidAbsent[0]).toMatch(/no-such-program: .*not found/);
});

/**
 * Waits until the one instance of a configuration stands between two runs, after so many restarts at least, with a line
 * for each run. Which runs those are depends on the speed of the machine. Answers the lines.
 */
function untilRestarted(name: string, atLeast: number, message: RegExp): Promise<string[]> {
  return until(async () => {
    const [one, ...others] = await world.api.instances(name);
    if (one === undefined) throw new Error(`there is no instance of ${name}`);
    expect(one.message).toMatch(message);
    expect(others).toEqual([]);
    expect(one.restarts).toBeGreaterThanOrEqual(atLeast);
    const lines = await world.api.logs(one.id);
    expect(lines).toHaveLength(one.restarts + 1);
    expect(new Set(lines).size).toBe(1);
    return lines;
  });
}

it('ends a group that ignores SIGTERM, grandchildren of a session of their own included', async () => {
  const stubborn = 'trap "" TERM HUP; echo $0 ignores; while :; do sleep 0.2; done';
  // Each says so itself once its trap is set.
  const command = `setsid sh -c '${stubborn}' far & sh -c '${stubborn}' near & exec sh -c '${stubborn}' leader`;
  for (const name of ['removed', 'stopped'])
    world.configure(name, { command, minimumServiceCount: 0, stopTimeoutSeconds: 6 });
  for (const name of ['removed', 'stopped']) await world.untilConfigured(name);
  const { id } = await world.api.create('removed');
  const { id: other } = await world.api.create('stopped');
  for (const one of [id, other]) {
    for (const name of ['far', 'near', 'leader'])
      await world.untilLogged(one, new RegExp(`^${name} ignores$`));
    expect((await processesOf(one)).length).toBeGreaterThanOrEqual(3);
  }
  await world.api.remove(id);
  expect(await world.api.send('GET', `/instances/${id}`)).toMatchObject({ status: 404 });
  // The other one is removed within its grace period.
  await world.api.lifecycle(other, 'stop');
  await world.untilMessage('stopped', /^stopping: SIGTERM sent$/);
  await world.api.remove(other);
  expect((await processesOf(id)).length).toBeGreaterThan(0);
  await until(async () => expect([await processesOf(id), await processesOf(other)]).toEqual([[], []]));
});

async function processesOf(id: string): Promise<number[]> {
  return (await world.processes.marked()).filter(({ instanceId }) => instanceId === id).map(({ pid }) => pid);
}
