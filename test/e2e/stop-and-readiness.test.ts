/** A server as people run them: ready by a line of its log, stopped by a command, under a daemon that is killed. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
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
