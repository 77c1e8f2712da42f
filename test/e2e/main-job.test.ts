/** The main job on real input: a file is dropped, edited and deleted, and the declared processes run. Needs `npm run build`. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { freePorts } from '../support/free-ports.js';
import { hasTool } from '../support/runtime/process-world.js';
import { until } from '../support/until.js';

const PRODUCT = fileURLToPath(new URL('../../', import.meta.url));

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

async function askEach(): Promise<string[]> {
  const instances = await world.api.instances();
  const answers = instances.map(async ({ allocatedPort }) =>
    (await fetch(`http://127.0.0.1:${allocatedPort}/`)).text(),
  );
  return await Promise.all(answers);
}

it('runs the shipped example: its template installed, its port and greeting written into its settings', async () => {
  cpSync(join(PRODUCT, 'templates'), world.paths.templates, { recursive: true });
  const port = await freePorts(4);
  const shipped = readFileSync(join(PRODUCT, 'configurations/hello.json'), 'utf8');
  const hello = { ...JSON.parse(shipped), availablePorts: { min: port, max: port + 3 } };
  await world.start();
  world.writeConfigurationFile('hello.json', JSON.stringify(hello));
  const instances = await world.untilOnline('hello', 2);
  const greetings = instances.map(
    ({ id, allocatedPort }) => `Hello from Drover, instance ${id} on port ${allocatedPort}\n`,
  );
  await until(async () => expect((await askEach()).toSorted()).toEqual(greetings.toSorted()));
  for (const { id, allocatedPort } of instances)
    await world.untilLogged(id, new RegExp(`^listening on port ${allocatedPort}$`));
});

it('follows edits of the file, and leaves instances alone when it is deleted', async () => {
  world.configure('service', { command: 'exec sleep 1000', minimumServiceCount: 1 });
  await world.start();
  const [first] = await world.untilOnline('service', 1);
  world.configure('service', { command: 'exec sleep 1000', minimumServiceCount: 3 });
  const three = await world.untilOnline('service', 3);
  expect(three).toContainEqual(expect.objectContaining({ id: first?.id, processPid: first?.processPid }));
  rmSync(join(world.paths.configurations, 'service.json'));
  await until(async () =>
    expect(await world.api.send('GET', '/configurations/service')).toMatchObject({ status: 404 }),
  );
  await world.restart('SIGTERM');
  const after = await world.untilOnline('service', 3);
  expect(after.map(({ processPid }) => processPid)).toEqual(three.map(({ processPid }) => processPid));
});

it.skipIf(!hasTool('curl'))('prints the API, the key and a curl line that works as pasted', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  const { daemon } = await startAndWelcome();
  const [{ id = '' } = {}] = await world.untilOnline('service', 1);
  expect(daemon.stdout).toContain(`http://127.0.0.1:${world.apiPort}/api`);
  expect(daemon.stdout).toContain(world.paths.adminKey);
  const line = /^ *curl .*$/m.exec(daemon.stdout)?.[0] ?? '';
  const answer = execFileSync('/bin/sh', ['-c', line], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(JSON.parse(answer)).toMatchObject([{ id, state: 'ONLINE' }]);
});

async function startAndWelcome(): Promise<DaemonWorld> {
  await world.start();
  await until(() => expect(world.daemon.stdout).toContain('curl '));
  return world;
}

it('accepts a JSON content type with an empty body on GET, DELETE, PATCH and POST', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  await world.start();
  const [{ id = '' } = {}] = await world.untilOnline('service', 1);
  const answers = [
    await world.api.send('GET', `/instances/${id}`),
    await world.api.send('PATCH', `/instances/${id}/lifecycle?target=restart`),
    await world.api.send('DELETE', `/instances/${id}`),
    await world.api.send('POST', '/node/reload'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 501]);
});

it('answers 503 while it loads, never an empty list', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  // Enough templates to look at for the loading to take a while.
  for (let index = 0; index < 200; index++) world.template('many', `t${index}`, { file: 'content' });
  await world.start();
  await world.untilOnline('service', 1);
  await world.kill();
  const daemon = world.spawn();
  const seen = new Set<string>();
  await until(async () => {
    const { status, text } = await world.api.send('GET', '/instances');
    seen.add(status === 200 ? `200 with ${JSON.parse(text).length}` : `${status} ${text}`);
    expect(status).toBe(200);
  });
  expect(daemon.isRunning).toBe(true);
  expect([...seen]).toEqual([expect.stringMatching(/^503 \{"error":".+"\}$/), '200 with 1']);
});
