/** Servers that hang: one among others, under the next daemon too, and all at once. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

it('restarts one server that hangs, also under the next daemon, and none where all of them hang at once', async () => {
  world.configure('lobby', {
    runtime: 'process',
    command: 'while :; do echo tick; sleep 0.1; done',
    minimumServiceCount: 3,
    liveness: { logSilenceSeconds: 1, intervalSeconds: 0.3, failures: 4 },
  });
  await world.start();
  const [hung, ...others] = await world.untilOnline('lobby', 3);
  await world.restart();
  process.kill(hung?.processPid ?? 0, 'SIGSTOP');
  const again = await until(async () => {
    const now = await world.api.instance(hung?.id ?? '');
    expect(now).toMatchObject({ state: 'ONLINE', restarts: 1 });
    return now;
  });
  const { text } = await world.api.send('GET', '/exits?cause=not-alive');
  expect(JSON.parse(text)).toMatchObject([
    { instance: hung?.id, kind: 'not-alive', cause: 'not alive: no line in its log for 1 s' },
  ]);

  const all = [again, ...others].map(({ processPid }) => processPid ?? 0);
  const untilAll = (shown: object): Promise<void> =>
    until(async () => {
      const now = await world.api.instances();
      expect(now.map(({ processPid }) => processPid).toSorted()).toEqual(all.toSorted());
      for (const one of now) expect(one).toMatchObject(shown);
    });
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  await untilAll({
    state: 'ONLINE',
    reason: 'not-alive',
    message: expect.stringContaining('nothing is restarted'),
  });
  for (const pid of all) process.kill(pid, 'SIGCONT');
  await untilAll({ state: 'ONLINE', reason: null });
});
