/** Secrets with real programs: who gets a value, and where it never stands. Needs `npm run build`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { REPOSITORY } from '../support/repository-root.js';
import { IMAGE, startEngine } from '../support/runtime/docker-engine.js';
import { hasTool, livePids, readText } from '../support/runtime/process-world.js';
import { until } from '../support/until.js';

/** Never in one piece in this file, in case something prints the test. */
const CANARY = ['canary', 'Zq81', 'uvX7', 'mm'].join('-');

const engine = await startEngine();
afterAll(async () => {
  if (typeof engine !== 'string') await engine.close();
});

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

/** The command lines of this machine that hold the text: every user can read them. */
const commandLinesWith = (text: string): string[] =>
  livePids()
    .map((pid) => readText(pid, 'cmdline'))
    .filter((line) => line.includes(text));

/** Why the runtime cannot be tested here; undefined: it can. */
function whyNot(runtime: string): string | undefined {
  if (runtime === 'docker') return typeof engine === 'string' ? engine : undefined;
  return runtime === 'process' || hasTool(runtime) ? undefined : `no ${runtime}`;
}

describe.each(['process', 'screen', 'tmux', 'docker'])('under %s', (runtime) => {
  const reason = whyNot(runtime);
  it.skipIf(reason !== undefined)(
    `only the program has the value${reason === undefined ? '' : `: ${reason}`}`,
    async () => {
      const isDocker = runtime === 'docker';
      world.configure('lobby', {
        ...{ runtime, static: !isDocker, stopTimeoutSeconds: 1, properties: { image: IMAGE } },
        prepare: [{ command: 'echo "hook $DB"' }],
        command: 'echo "env $DB"; cat key; cat app.ini; read -r line; exit 3',
        environmentVariables: {
          DB: 'x:%SECRET:db/password%:y',
          // A variable that needs `env` or bash, which the image lacks.
          ...(!isDocker && { 'odd.name': '%SECRET:db/password%' }),
        },
        fileEdits: [{ path: 'app.ini', format: 'ini', set: { password: '%SECRET:db/password%' } }],
        secretFiles: [{ secret: 'db/password', path: 'key' }],
      });
      const host = typeof engine === 'string' ? [] : [`DOCKER_HOST=unix://${engine.socketPath}`];
      const options = { prefix: ['env', ...host] };
      await world.start(options);
      const { id } = await world.untilMessage('lobby', /^there is no secret db\/password/);
      const why = await world.api.send('GET', `/instances/${id}/why`);
      expect(why.text).toContain('waits for its secrets');
      expect((await world.api.instance(id)).restarts).toBe(0);
      await set('db/password', { value: CANARY });
      await world.untilOnline('lobby', 1);
      const linesOf = (value: string): string[] => {
        const cover = '*'.repeat(value.length);
        return [`hook x:${cover}:y`, `env x:${cover}:y`, `${cover}password=${cover}`];
      };
      await until(async () => expect(await world.api.logs(id)).toEqual(linesOf(CANARY)));
      expect(commandLinesWith(CANARY)).toEqual([]);
      const directory = join(world.paths.running, id);
      const mode = (file: string): number => statSync(join(directory, file)).mode & 0o777;
      expect([mode('key'), mode('app.ini')]).toEqual([0o400, 0o600]);
      expect(readFileSync(join(directory, 'app.ini'), 'utf8')).toBe(`password=${CANARY}\n`);
      // The program's own directory has it, and nothing else below the root.
      const elsewhere = (): string[] =>
        filesWith(world.paths.root, CANARY).filter((file) => !file.startsWith(directory));
      expect(
        filesWith(directory, CANARY)
          .map((file) => file.slice(directory.length))
          .toSorted(),
      ).toEqual(['/app.ini', '/key']);
      await until(() => expect(elsewhere()).toEqual([]));
      await expectNoAnswerWith(CANARY, id);

      // The node starts it again after a kill of the daemon, with another value, and covers both runs.
      await world.kill();
      await world.start(options);
      const next = `${CANARY}-next`;
      await set('db/password', { value: next });
      expect((await world.api.instance(id)).restarts).toBe(0);
      await world.api.lifecycle(id, 'restart');
      await until(async () => {
        expect(readFileSync(join(directory, 'key'), 'utf8')).toBe(next);
        expect((await world.api.logs(id)).slice(-3)).toEqual(linesOf(next));
      });
      // An end that nobody asked for is kept with the last lines.
      await world.api.send('POST', `/instances/${id}/execute`, { command: 'end' });
      await until(async () =>
        expect((await world.api.send('GET', '/exits')).text).toContain(`env x:${'*'.repeat(next.length)}:y`),
      );
      await until(() => expect(elsewhere()).toEqual([]));
      await expectNoAnswerWith(CANARY, id);
      const used = await world.api.send('DELETE', `/secrets/${encodeURIComponent('db/password')}`);
      expect([used.status, used.text]).toEqual([409, expect.stringContaining('used by lobby')]);
      if (!isDocker) return;
      // The checks at the end look for processes, and those of a container have no pid here.
      rmSync(join(world.paths.configurations, 'lobby.json'));
      await until(async () => expect(await world.api.configurations()).toEqual([]));
      await world.api.remove(id);
      await until(async () => expect(await world.api.instances()).toEqual([]));
    },
  );
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

it('a state under another cluster key says what is to be done, and a value that is set anew works', async () => {
  world.configure('lobby', {
    runtime: 'process',
    command: 'exec sleep 1000',
    environmentVariables: { DB: '%SECRET:db%' },
  });
  await world.start();
  await set('db', { value: CANARY });
  const [{ id = '' } = {}] = await world.untilOnline('lobby', 1);
  await world.kill('SIGTERM');
  writeFileSync(join(world.paths.cluster, 'cluster.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  rmSync(join(world.paths.cluster, 'node-secrets.key'));
  await world.start();
  expect(await world.api.instance(id)).toMatchObject({ state: 'ONLINE', restarts: 0 });
  await world.api.lifecycle(id, 'restart');
  await until(async () =>
    expect(await world.api.instance(id)).toMatchObject({
      reason: 'secret-missing',
      message: 'the master has not sent the secret db, or cannot open it: its log says why',
    }),
  );
  expect(readFileSync(join(world.paths.root, 'logs/drover.log'), 'utf8')).toMatch(
    /the secret db cannot be opened: data\/cluster\/cluster\.key is not the key of this cluster: copy it .*; or set it anew: drover secret set db/,
  );
  await set('db', { value: 'another value' });
  await until(async () => expect(await world.api.instance(id)).toMatchObject({ state: 'ONLINE' }));
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
