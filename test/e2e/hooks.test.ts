/** Hooks with real programs: their directory, environment and log, a stop, and the death of the daemon. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { renderInstanceExplanation } from '../../src/command-tree/explanation-text.js';
import { instanceExplanationSchema } from '../../src/explain/explanation.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
  // Both tests end with an instance that does not run.
  world.failing.add('lobby');
});
afterEach(({ task }) => world.finish(failedOf(task)));

const file = (id: string, name: string): string => join(world.paths.running, id, name);

it('run in the directory of the instance with its log, also over the death of the daemon, and end with a stop', async () => {
  world.configure('lobby', {
    runtime: 'process',
    static: true,
    command: 'echo program; exec sleep 1000',
    fileEdits: [{ path: 'a.ini', format: 'ini', set: { id: '%INSTANCE_ID%' } }],
    prepare: [
      { command: 'cat a.ini; echo $DROVER_INSTANCE_ID >> ids; echo first %INSTANCE_ID%', when: 'install' },
      { command: 'echo x >> second; until [ -e go ]; do sleep 0.05; done; echo done' },
    ],
    after: [
      {
        command:
          'echo "after $DROVER_EXIT_CODE $DROVER_EXIT_SIGNAL" >> ended; [ ! -e stay ] || exec sleep 1000',
      },
    ],
  });
  await world.start();
  const { id } = await world.untilMessage('lobby', /^prepare 2 .* runs$/);
  await until(async () => expect(existsSync(file(id, 'second'))).toBe(true));
  expect(readFileSync(file(id, 'ids'), 'utf8')).toBe(`${id}\n`);
  await world.restart();
  await world.untilMessage('lobby', /^prepare 2 .* runs$/);
  await world.api.lifecycle(id, 'stop');
  await until(async () => expect((await world.api.instance(id)).state).toBe('STOPPED'));
  await world.api.lifecycle(id, 'start');
  await until(async () => expect(readFileSync(file(id, 'second'), 'utf8')).toBe('x\nx\n'));
  expect(existsSync(file(id, 'ended'))).toBe(false);
  await until(async () => {
    writeFileSync(file(id, 'go'), '');
    expect((await world.api.instance(id)).state).toBe('ONLINE');
  });
  await world.untilLogged(id, /^program$/);
  const log = (await world.api.logs(id)).join('\n');
  expect(log).toMatch(new RegExp(`^id=${id}\nfirst ${id}\n[^]*done\nprogram$`));
  expect(log.match(/first/g)).toHaveLength(1);
  await world.api.lifecycle(id, 'stop');
  await until(async () => expect((await world.api.instance(id)).state).toBe('STOPPED'));
  expect(readFileSync(file(id, 'ended'), 'utf8')).toBe('after  SIGTERM\n');
});

it('say in why which one failed, with its last lines', async () => {
  world.configure('lobby', {
    runtime: 'process',
    command: 'sleep 1000',
    prepare: [{ command: 'echo no network; exit 4' }],
  });
  await world.start();
  const { id } = await world.untilMessage(
    'lobby',
    /^prepare 1 \(echo no network; exit 4\) exited with code 4; next try in/,
  );
  const answer = await world.api.send('GET', `/instances/${id}/why`);
  const text = renderInstanceExplanation(instanceExplanationSchema.parse(JSON.parse(answer.text)));
  expect(text).toContain('could not be installed: prepare 1 (echo no network; exit 4) exited with code 4');
  expect(text).toContain('| no network');
});
