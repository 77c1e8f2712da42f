/** A server as people run them: ready by a line of its log, stopped by a command, under a daemon that is killed. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { freePorts } from '../support/free-ports.js';
import { until } from '../support/until.js';

/** Loads until there is a file `loaded`, then reads commands. SIGTERM alone would not end it in time. */
const SERVER = `trap '' TERM
echo loading
until [ -e loaded ]; do sleep 0.05; done
echo "Done (0.1 s)! For help, type help"
while read -r line; do
  case "$line" in "save and quit") echo saved; exit 0 ;; esac
done`;
const WAITING = 'waiting for a log line with "Done (*)!", up to 60 s';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

it('waits for the line, also over the death of the daemon, and stops the server by its own command', async () => {
  world.configure('server', {
    command: SERVER,
    minimumServiceCount: 0,
    stopCommand: 'save and quit',
    stopTimeoutSeconds: 600,
    restartPolicy: 'on-failure',
    readiness: { logLine: 'Done (*)!' },
  });
  await world.start();
  const { id } = await world.api.create('server');
  const logs = join(world.paths.instanceLogs, id);
  const written = (): string =>
    readdirSync(logs)
      .map((file) => readFileSync(join(logs, file), 'utf8'))
      .join('');
  expect(await world.untilMessage('server', /./)).toMatchObject({ state: 'CREATING', reason: 'starting' });
  const { message, processPid } = await world.untilMessage('server', /waiting for/);
  expect(message).toBe(WAITING);
  await until(() => expect(written()).toContain('loading'));

  await world.kill();
  writeFileSync(join(world.paths.running, id, 'loaded'), '');
  await until(() => expect(written()).toContain('Done'));
  await world.start();
  const [online] = await world.untilOnline('server', 1);
  expect(online).toMatchObject({ id, processPid, restarts: 0 });

  await world.api.lifecycle(id, 'stop');
  await until(async () => {
    expect(await world.api.instance(id)).toMatchObject({
      state: 'STOPPED',
      message: 'exited with code 0',
      processPid: null,
    });
  });
  expect(await world.api.logs(id)).toContain('saved');

  await world.api.lifecycle(id, 'start');
  await world.untilMessage('server', /^waiting for a log line/);
  writeFileSync(join(world.paths.running, id, 'loaded'), '');
  await world.untilOnline('server', 1);
  await world.api.remove(id);
});

it('leaves the lists of proxies first, runs on for leaveSeconds, and ends then, restarted or stopped', async () => {
  const port = await freePorts(1);
  world.configure('web', {
    command: 'trap "date +%s%3N; exit 0" TERM; echo up; while :; do sleep 0.05; done',
    availablePorts: { min: port, max: port },
    expose: { path: '/', leaveSeconds: 1 },
    minimumServiceCount: 0,
  });
  await world.start();
  const { id } = await world.api.create('web');
  const addresses = async () => (await world.api.send('GET', '/discovery/addresses/web')).text;
  await until(async () => expect(await addresses()).toBe(`127.0.0.1:${port}\n`));
  for (const [target, runs] of [
    ['restart', 1],
    ['stop', 2],
  ] as const) {
    const askedAt = Date.now();
    await world.api.lifecycle(id, target);
    expect(await addresses()).toBe('');
    expect(await world.untilMessage('web', /proxies learn first/)).toMatchObject({ reason: 'stopping' });
    const ends = await until(async () => {
      const said = (await world.api.logs(id)).filter((line) => /^\d+$/.test(line));
      expect(said).toHaveLength(runs);
      return said;
    });
    expect(Number(ends.at(-1)) - askedAt).toBeGreaterThanOrEqual(1000);
    if (target === 'restart') await until(async () => expect(await addresses()).toBe(`127.0.0.1:${port}\n`));
  }
});
