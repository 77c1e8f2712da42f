/** The main job on real input: a file is dropped, edited and deleted, and the declared processes run. Needs `npm run build`. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { freePorts } from '../support/free-ports.js';
import { REPOSITORY } from '../support/repository-root.js';
import { hasTool } from '../support/runtime/process-world.js';
import { until } from '../support/until.js';

const PRODUCT = REPOSITORY;

let world: DaemonWorld;
shareDaemon((shared) => {
  world = shared;
});

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
  const { daemon } = world;
  await until(() => expect(daemon.stdout).toContain('curl '));
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

it('accepts a JSON content type with an empty body on GET, DELETE, PATCH and POST', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
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
  await world.untilOnline('service', 1);
  // Again when a daemon was so quick, or the test so slow, that no request fell into the loading.
  await until(async () => {
    await world.kill();
    world.spawn();
    const seen = await answersUntilServed();
    expect(seen.at(-1)).toBe('200 with 1');
    expect(seen.slice(0, -1)).toEqual([expect.stringMatching(/^503 \{"error":".+"\}$/)]);
  });
});

/** The different answers of a starting daemon, one request right after the other, up to the first 200. */
async function answersUntilServed(): Promise<string[]> {
  const seen = new Set<string>();
  while (world.daemon.isRunning) {
    const answer = await world.api.send('GET', '/instances').catch(() => undefined);
    if (answer?.status === 200) return [...seen, `200 with ${JSON.parse(answer.text).length}`];
    if (answer !== undefined) seen.add(`${answer.status} ${answer.text}`);
    else await new Promise(setImmediate);
  }
  throw new Error(`the daemon ended:\n${world.daemon.stderr}`);
}
