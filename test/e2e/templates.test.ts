/** Templates through the API of a real node, into the working directories of its instances. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { cachedTrees } from '../support/templates/cached-trees.js';
import { zipOf } from '../support/templates/zip-bytes.js';
import { until } from '../support/until.js';

const APP = {
  command: 'sleep 1000',
  minimumServiceCount: 1,
  templateInstallationConfig: { allOf: [{ group: 'games', name: 'lobby' }] },
};

let world: DaemonWorld;

shareDaemon((shared) => {
  world = shared;
});

async function send(method: string, path: string, body?: Buffer | string): Promise<Response> {
  return fetch(`http://127.0.0.1:${world.apiPort}/api/templates${path}`, {
    method,
    headers: { authorization: `Bearer ${readFileSync(world.paths.adminKey, 'utf8').trim()}` },
    ...(body !== undefined && { body: Buffer.from(body) }),
  });
}

function installed(id: string): Record<string, string> {
  const directory = join(world.paths.running, id);
  return Object.fromEntries(
    readdirSync(directory).map((file) => [file, readFileSync(join(directory, file), 'utf8')]),
  );
}

it('an instance started after a write through the API has it, and one that waited for the template starts', async () => {
  world.configure('app', APP);
  await world.untilMessage('app', /games\/lobby/);
  expect(
    (
      await send(
        'POST',
        '/games/lobby/import',
        zipOf([
          { name: 'a', content: '1' },
          { name: 'b', content: '2' },
        ]),
      )
    ).status,
  ).toBe(200);
  const [first] = await world.untilOnline('app', 1);
  expect(installed(first?.id ?? '')).toEqual({ a: '1', b: '2' });

  expect((await send('PATCH', '/games/lobby/files/a', 'changed')).status).toBe(200);
  expect((await send('POST', '/games/lobby/files/c', 'new')).status).toBe(201);
  expect((await send('DELETE', '/games/lobby/files/b')).status).toBe(200);
  const { id } = await world.api.create('app');
  await world.untilOnline('app', 2);
  expect(installed(id)).toEqual({ a: 'changed', c: 'new' });
  expect(installed(first?.id ?? '')).toEqual({ a: '1', b: '2' });
});

it('an instance that is created right after a file was saved by hand has what was saved', async () => {
  world.template('games', 'lobby', { a: 'first' });
  world.configure('app', { ...APP, minimumServiceCount: 0 });
  await world.untilConfigured('app');
  const file = join(world.paths.templates, 'games/lobby/a');
  const contents = ['saved 1', 'saved 2', 'saved 3', 'saved 4'];
  for (const content of contents) {
    writeFileSync(file, content);
    const { id } = await world.api.create('app');
    // A working directory is there whole or not at all.
    expect(await until(() => installed(id))).toEqual({ a: content });
  }
  await world.untilOnline('app', contents.length);
});

it('a node hears of a file that was saved by hand before it needs it, and a crash brings it', async () => {
  world.template('games', 'lobby', { a: 'first' });
  world.configure('app', APP);
  const [first] = await world.untilOnline('app', 1);
  const id = first?.id ?? '';
  writeFileSync(join(world.paths.templates, 'games/lobby/a'), 'heard of');
  await until(async () => {
    const trees = await cachedTrees(world.paths.templateCache);
    expect([...trees.values()]).toContainEqual({ a: 'heard of' });
  });
  // The tree is in its place a moment before the node counts it as whole: a crash in between brings the old one once more.
  let killed: number | undefined;
  await until(async () => {
    const [instance] = await world.untilOnline('app', 1);
    const pid = instance?.processPid ?? undefined;
    if (pid !== undefined && pid !== killed && installed(id).a !== 'heard of') process.kill(pid, 'SIGKILL');
    killed = pid;
    expect(installed(id)).toEqual({ a: 'heard of' });
  });
});

it('a template sync brings trees into the cache of the node before anything needs them', async () => {
  world.template('games', 'lobby', { a: 'x' });
  world.template('games', 'arena', { b: 'y' });
  expect(await (await send('POST', '/sync')).json()).toMatchObject({
    pattern: '*',
    templates: ['games/arena', 'games/lobby'],
    nodes: ['node-a'],
  });
  await until(async () => {
    const trees = [...(await cachedTrees(world.paths.templateCache)).values()];
    expect(trees).toEqual(expect.arrayContaining([{ a: 'x' }, { b: 'y' }]));
  });
});

it('a node that was killed while it exchanged a template starts with the old one', async () => {
  await world.kill();
  world.template('games', 'lobby', { a: 'old' });
  const staging = join(world.paths.templates, '.drover', 'swap~games~lobby~0123');
  mkdirSync(join(staging, 'new'), { recursive: true });
  writeFileSync(join(staging, 'new', 'a'), 'new');
  renameSync(join(world.paths.templates, 'games/lobby'), join(staging, 'old'));
  await world.start();
  const answer = await send('GET', '/games/lobby/files/a');
  expect([answer.status, await answer.text()]).toEqual([200, 'old']);
  expect(existsSync(staging)).toBe(false);
});

it('a kill in the middle of imports leaves one whole template, and the next node takes more', async () => {
  const zip = (value: string): Buffer =>
    zipOf(Array.from({ length: 40 }, (_, index) => ({ name: `f${index}`, content: value })));
  expect((await send('POST', '/games/lobby/import', zip('0'))).status).toBe(200);
  const acknowledged = ['0'];
  for (let round = 1; round <= 3; round++) {
    const importing = (async () => {
      for (let value = 1; ; value++) {
        const content = `${round}.${value}`;
        const isWritten = await send('POST', '/games/lobby/import', zip(content)).then(
          ({ ok }) => ok,
          () => false,
        );
        if (!isWritten) return content;
        acknowledged.push(content);
      }
    })();
    const before = acknowledged.length;
    await until(async () => expect(acknowledged.length).toBeGreaterThan(before));
    await world.kill('SIGKILL');
    const unanswered = await importing;
    await world.start();
    const template = join(world.paths.templates, 'games/lobby');
    const contents = new Set(readdirSync(template).map((file) => readFileSync(join(template, file), 'utf8')));
    expect(readdirSync(template)).toHaveLength(40);
    expect(contents.size).toBe(1);
    expect([acknowledged.at(-1), unanswered]).toContain([...contents][0]);
  }
  expect(readdirSync(join(world.paths.templates, '.drover'))).toEqual([]);
});
