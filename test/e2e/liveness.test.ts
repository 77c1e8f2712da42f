/** Servers that hang: one among others, under the next daemon too, all at once, and under every runtime. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { IMAGE, startEngine } from '../support/runtime/docker-engine.js';
import { hasTool } from '../support/runtime/process-world.js';
import { until } from '../support/until.js';

const engine = await startEngine();
afterAll(async () => {
  if (typeof engine !== 'string') await engine.close();
});

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

/** Prints until a file `hang` is there, then lives on in silence. */
const HANGS_ON_REQUEST = 'while [ ! -e hang ]; do echo tick; sleep 0.1; done; exec sleep 1000';

it.each(['process', 'screen', 'tmux', 'docker'])(
  'ends a server of the runtime %s that hangs, and starts it again',
  async (runtime) => {
    const isThere =
      runtime === 'docker' ? typeof engine !== 'string' : runtime === 'process' || hasTool(runtime);
    if (!isThere) return;
    world.configure('lobby', {
      ...{ runtime, command: HANGS_ON_REQUEST, static: true, stopTimeoutSeconds: 1 },
      properties: { image: IMAGE },
      liveness: { logSilenceSeconds: 2, intervalSeconds: 0.5, failures: 3 },
    });
    const host = typeof engine === 'string' ? [] : [`DOCKER_HOST=unix://${engine.socketPath}`];
    await world.start({ prefix: ['env', ...host] });
    const [{ id = '' } = {}] = await world.untilOnline('lobby', 1);
    const hang = join(world.paths.running, id, 'hang');
    writeFileSync(hang, '');
    await until(async () =>
      expect(await world.api.instance(id)).toMatchObject({ state: 'OFFLINE', reason: 'not-alive' }),
    );
    rmSync(hang);
    await until(async () => expect(await world.api.instance(id)).toMatchObject({ state: 'ONLINE' }));
    const { text } = await world.api.send('GET', '/exits?cause=not-alive');
    expect(JSON.parse(text)[0]).toMatchObject({
      instance: id,
      cause: 'not alive: no line in its log for 2 s',
    });
    expect((await world.api.instance(id)).restarts).toBeGreaterThan(0);
  },
);
