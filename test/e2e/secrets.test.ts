/** Secrets with real programs: who gets a value, and where it never stands. Needs `npm run build`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { REPOSITORY } from '../support/repository-root.js';
import { until } from '../support/until.js';

/** Never in one piece in this file, in case something prints the test. */
const CANARY = ['canary', 'Zq81', 'uvX7', 'mm'].join('-');

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

/** The files under a directory that hold the text. */
function filesWith(directory: string, text: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

async function set(name: string, source: object): Promise<void> {
  const { status, text } = await world.api.send('PUT', `/secrets/${encodeURIComponent(name)}`, source);
  expect([status, text.includes(CANARY)]).toEqual([200, false]);
}

/** What the change stream says of the instance, up to now. */
async function watched(id: string): Promise<string> {
  const authorization = `Bearer ${readFileSync(world.paths.adminKey, 'utf8').trim()}`;
  const options = { port: world.apiPort, path: '/api/watch?subscribe=instances', headers: { authorization } };
  let text = '';
  const request = get(options, (response) => {
    response.on('data', (data) => {
      text += String(data);
    });
  });
  request.on('error', () => undefined);
  try {
    await until(() => expect(text).toContain(id));
    return text;
  } finally {
    request.destroy();
  }
}

/** Every route that reads, with the names of this test. */
async function expectNoAnswerWith(text: string, id: string): Promise<void> {
  const described = readFileSync(join(REPOSITORY, 'manifests/openapi.json'), 'utf8');
  const { paths } = JSON.parse(described) as { paths: Record<string, object> };
  const asked = Object.entries(paths).filter(
    ([path, methods]) => 'get' in methods && !path.includes('{file'),
  );
  expect(asked.length).toBeGreaterThan(50);
  for (const [path] of asked) {
    const filled = path
      .replace(/^\/api/, '')
      .replace('{id}', id)
      .replace(/\{(?:name|configuration)\}/, 'lobby')
      .replace(/\{\w+\}/g, 'x');
    if (/stream|follow|attach|\/watch/.test(filled)) continue;
    const answer = await world.api.send('GET', filled);
    expect(answer.text.includes(text), path).toBe(false);
  }
  expect((await watched(id)).includes(text), '/watch').toBe(false);
}

it.each(['process', 'screen', 'tmux'])('only the program of %s has the value', async (runtime) => {
  world.configure('lobby', {
    runtime,
    static: true,
    command: 'echo "env $DB"; cat key; cat app.ini; exec sleep 1000',
    environmentVariables: { DB: 'x:%SECRET:db/password%:y' },
    fileEdits: [{ path: 'app.ini', format: 'ini', set: { password: '%SECRET:db/password%' } }],
    secretFiles: [{ secret: 'db/password', path: 'key' }],
  });
  await world.start();
  const { id } = await world.untilMessage('lobby', /^there is no secret db\/password/);
  const why = await world.api.send('GET', `/instances/${id}/why`);
  expect(why.text).toContain('waits for its secrets');
  await set('db/password', { value: CANARY });
  await world.untilOnline('lobby', 1);
  const cover = '*'.repeat(CANARY.length);
  await until(async () =>
    expect(await world.api.logs(id)).toEqual([`env x:${cover}:y`, `${cover}password=${cover}`]),
  );
  const directory = join(world.paths.running, id);
  expect(statSync(join(directory, 'key')).mode & 0o777).toBe(0o400);
  expect(readFileSync(join(directory, 'app.ini'), 'utf8')).toBe(`password=${CANARY}\n`);
  // The program's own directory has it, and nothing else below the root.
  await until(async () =>
    expect(filesWith(world.paths.root, CANARY).map((file) => file.slice(directory.length))).toEqual(
      expect.arrayContaining(['/app.ini', '/key']),
    ),
  );
  expect(filesWith(world.paths.root, CANARY).filter((file) => !file.startsWith(directory))).toEqual([]);
  await expectNoAnswerWith(CANARY, id);

  // The node starts it again after a kill of the daemon, with another value, and covers both runs.
  await world.restart();
  const next = `${CANARY}-next`;
  await set('db/password', { value: next });
  await world.api.lifecycle(id, 'restart');
  await until(async () => {
    expect(readFileSync(join(directory, 'key'), 'utf8')).toBe(next);
    expect((await world.api.logs(id)).at(-2)).toBe(`env x:${'*'.repeat(next.length)}:y`);
  });
  expect(filesWith(world.paths.root, CANARY).filter((file) => !file.startsWith(directory))).toEqual([]);
  const used = await world.api.send('DELETE', `/secrets/${encodeURIComponent('db/password')}`);
  expect([used.status, used.text]).toEqual([409, expect.stringContaining('used by lobby')]);
});

it('the value of a node comes from a file or a command, and its fault is said without what it printed', async () => {
  const file = join(world.paths.root, 'of-the-node');
  writeFileSync(file, `${CANARY}\n`, { mode: 0o600 });
  world.configure('lobby', {
    runtime: 'process',
    maskSecrets: false,
    command: 'echo "$A $B"; exec sleep 1000',
    environmentVariables: { A: '%SECRET:file%', B: '%SECRET:program%' },
  });
  await world.start();
  await set('file', { file });
  await set('program', { command: ['sh', '-c', 'echo said; exit 3'] });
  const { id, message } = await world.untilMessage('lobby', /^the secret program cannot be had on this node/);
  expect(message).toContain('sh: it failed (3)');
  await set('program', { command: ['printf', '%s', 'of a program'] });
  await world.untilOnline('lobby', 1);
  await until(async () => expect(await world.api.logs(id)).toEqual([`${CANARY} of a program`]));
});

it('the heap of a master that runs no user holds no value after it was set', async () => {
  const preload = join(world.paths.root, 'snapshot.mjs');
  const directory = join(world.paths.root, 'heap');
  mkdirSync(directory);
  writeFileSync(
    preload,
    `import v8 from 'node:v8';
process.on('SIGUSR2', () => v8.writeHeapSnapshot(${JSON.stringify(join(directory, 'a.heapsnapshot'))}));`,
  );
  await world.start({ preload });
  await set('db/password', { value: CANARY });
  // Further requests take the place of this one in the parser's and the socket's memory.
  for (let count = 0; count < 20; count++) await world.api.send('GET', '/secrets');
  process.kill(world.daemon.pid, 'SIGUSR2');
  await until(async () => expect(existsSync(join(directory, 'a.heapsnapshot'))).toBe(true), 60_000);
  await until(
    async () =>
      expect(() => JSON.parse(readFileSync(join(directory, 'a.heapsnapshot'), 'utf8'))).not.toThrow(),
    60_000,
  );
  expect(filesWith(directory, 'drover')).toHaveLength(1);
  expect(filesWith(world.paths.root, CANARY)).toEqual([]);
}, 180_000);
