/** Extensions and storages in a real daemon: files from S3 in a working directory, and extensions that misbehave. Needs `npm run build`. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runClient } from '../support/client/client-program.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { REPOSITORY } from '../support/repository-root.js';
import { S3Server } from '../support/templates/s3-server.js';
import { writeTree } from '../support/templates/template-trees.js';
import { until } from '../support/until.js';

const EXAMPLE = join(REPOSITORY, 'manifests/extensions/shared-folder');
/** Shows a file of its working directory and stays. */
const SHOW = 'cat motd.txt; exec sleep 1000';

/** The longer the server was away, the longer until it is tried again: 60 s at most. Then it has to be loaded. */
const LONGEST_RETRY_MS = 180_000;

let world: DaemonWorld;

beforeEach(async () => {
  world = await DaemonWorld.create();
});

afterEach(({ task }) => world.finish(failedOf(task)));

function write(path: string, content: string | object): void {
  const file = join(world.paths.extensions, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
}

function fromStorage(storage: string, name: string) {
  return { templateInstallationConfig: { allOf: [{ group: 'world', name, storage }] } };
}

async function list(): Promise<string> {
  const { text } = await world.api.send('POST', '/commands/execute', { command: 'extension list -o json' });
  return text;
}

describe('a template of an S3 storage', () => {
  const server = new S3Server();

  beforeEach(async () => {
    await server.start();
    write('s3/config.json', { storages: { main: server.settings } });
  });

  afterEach(() => server.halt());

  afterAll(() => server.stop());

  it('is installed from there, also its next version, and waits for a server that is away', {
    timeout: 3 * LONGEST_RETRY_MS,
  }, async () => {
    await server.put({ 'world/lobby/motd.txt': 'hello from S3\n', 'world/later/motd.txt': 'late\n' });
    await world.start();
    world.configure('lobby', { command: SHOW, ...fromStorage('main', 'lobby') });
    const [lobby] = await world.untilOnline('lobby', 1);
    await world.untilLogged(lobby?.id ?? '', /^hello from S3$/);

    await server.halt();
    world.configure('later', { command: SHOW, ...fromStorage('main', 'later') });
    const waiting = await world.untilMessage(
      'later',
      /^template world\/later of storage main cannot be had: .*ECONNREFUSED/,
    );
    expect(waiting).toMatchObject({ state: 'CREATING', reason: 'template-missing' });
    // What was downloaded is used while the server is away.
    await world.api.create('lobby');
    await world.untilOnline('lobby', 2);

    await server.start();
    const [later] = await until(async () => {
      const instances = await world.api.instances('later');
      expect(instances.map(({ state }) => state)).toEqual(['ONLINE']);
      return instances;
    }, LONGEST_RETRY_MS);
    await world.untilLogged(later?.id ?? '', /^late$/);

    await server.put({ 'world/lobby/motd.txt': 'second version\n' });
    expect(await world.api.send('POST', '/templates/sync', { pattern: 'world/lobby' })).toMatchObject({
      status: 200,
    });
    const third = await world.api.create('lobby');
    await world.untilOnline('lobby', 3);
    await world.untilLogged(third.id, /^second version$/);
    expect(readFileSync(world.paths.droverLog, 'utf8')).not.toContain(server.settings.secretAccessKey);
  });

  it('replaces a local one by sync, whole, and errors name what is wrong', async () => {
    await server.put({ 'world/lobby/motd.txt': 'synced\n', 'world/lobby/plugins/a.yml': 'a: 1' });
    world.template('world', 'lobby', { 'old.txt': 'old', 'motd.txt': 'local' });
    await world.start();
    const sync = (name: string, storage: string) =>
      world.api.send('POST', `/templates/world/${name}/sync`, { storage });
    expect(await sync('lobby', 'none')).toMatchObject({
      status: 400,
      text: expect.stringContaining('storage none is not registered; registered are: main'),
    });
    expect(await sync('absent', 'main')).toMatchObject({
      status: 404,
      text: expect.stringContaining('storage main has no template world/absent'),
    });
    expect(await sync('lobby', 'main')).toMatchObject({ status: 200 });
    const files = await world.api.send('GET', '/templates/world/lobby/files');
    expect(JSON.parse(files.text)).toMatchObject({ files: ['motd.txt', 'plugins/a.yml'] });
    world.configure('lobby', { command: SHOW, ...fromStorage('local', 'lobby') });
    const [lobby] = await world.untilOnline('lobby', 1);
    await world.untilLogged(lobby?.id ?? '', /^synced$/);
    await server.halt();
    const failed = await sync('lobby', 'main');
    expect(failed).toMatchObject({ status: 502, text: expect.stringContaining('ECONNREFUSED') });
    expect(failed.text).not.toContain(world.root);
    expect(await world.api.send('GET', '/templates/world/lobby/files')).toEqual(files);
  });
});

describe('the example extension', () => {
  it('gives files, a variable and a command', async () => {
    const folder = join(world.root, 'share');
    writeTree(join(folder, 'world/lobby'), { 'motd.txt': '%GREETING%, %UNKNOWN%\n' });
    cpSync(EXAMPLE, join(world.paths.extensions, 'shared-folder'), { recursive: true });
    write('shared-folder/config.json', { folder, greeting: 'Welcome' });
    await world.start();
    world.configure('lobby', {
      command: SHOW,
      fileModifications: ['motd.txt'],
      ...fromStorage('folder', 'lobby'),
    });
    const [lobby] = await world.untilOnline('lobby', 1);
    await world.untilLogged(lobby?.id ?? '', /^Welcome to lobby, %UNKNOWN%$/);
    await until(async () => {
      const { text } = await world.api.send('POST', '/commands/execute', { command: 'changes lobby' });
      expect(JSON.parse(text)).toMatchObject({ output: expect.stringMatching(/^lobby \d+/) });
    });
    expect(await list()).toContain('storage folder');
    const environment = { PATH: process.env.PATH };
    const drover = (...words: string[]) => runClient(words, { environment, directory: world.root });
    expect(await drover('changes', 'lobby')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^lobby \d+/),
      stderr: '',
    });
    // The help waits 300 ms for the master, which a busy machine may need for itself.
    await until(async () => expect((await drover('help')).stdout).toMatch(/^changes /m));
    expect(await drover('chnages')).toEqual({
      code: 64,
      stdout: '',
      stderr: `drover: unknown command 'chnages': "help" lists all\n`,
    });
  });
});

describe('extensions that misbehave', () => {
  it('are listed with what is wrong, while instances and the daemon go on', async () => {
    write('syntax/index.mjs', 'export default {{{');
    write('throws/index.js', "export default { activate() { throw new Error('no licence'); } };");
    write(
      'timer/index.js',
      `export default { activate() {
        setTimeout(() => { throw new Error('thrown by a timer'); }, 50);
      } };`,
    );
    write(
      'promise/index.js',
      `export default { activate() {
        setTimeout(() => { void Promise.reject(new Error('a rejection')); }, 50);
      } };`,
    );
    write(
      'socket/index.js',
      `import { connect } from 'node:net';
      export default { activate() { connect(1, '127.0.0.1'); } };`,
    );
    write(
      'listener/index.js',
      `export default { activate(context) {
        context.on(async (event) => { throw new Error('cannot bear ' + event.type); });
      } };`,
    );
    await world.start();
    world.configure('lobby', { command: 'exec sleep 1000' });
    await world.untilOnline('lobby', 1);
    await until(async () => {
      const text = await list();
      for (const message of ['no licence', 'thrown by a timer', 'a rejection', 'ECONNREFUSED', 'cannot bear'])
        expect(text).toContain(message);
    });
    expect(world.daemon.isRunning).toBe(true);
    expect(readFileSync(world.paths.droverLog, 'utf8')).not.toContain('a bug in Drover');
  });

  it('are named with the place of a loop that holds up the daemon', async () => {
    write('quiet/index.js', 'export default { activate() {} };');
    // It rests between its rounds, so that it takes no core from other tests.
    write(
      'stuck/lib/spin.js',
      `const cell = new Int32Array(new SharedArrayBuffer(4));
      export function spin() {
        for (;;) Atomics.wait(cell, 0, 0, 10);
      }`,
    );
    write(
      'stuck/index.js',
      `import { spin } from './lib/spin.js';
      export default {
        activate({ on }) {
          on(({ type }) => void (type === 'configuration' && setImmediate(spin)));
        },
      };`,
    );
    await world.start();
    world.configure('lobby', { command: 'exec sleep 1000' });
    const line = await until(() => {
      const lines = readFileSync(world.paths.droverLog, 'utf8').split('\n');
      const found = lines.find((text) => text.includes('a loop in'));
      expect(found).toBeDefined();
      return JSON.parse(found ?? '');
    });
    expect(line).toMatchObject({
      level: 50,
      extension: 'stuck',
      msg: expect.stringMatching(/^extension stuck: a loop in its lib\/spin\.js, line 3, holds up Drover, /),
    });
    rmSync(join(world.paths.extensions, 'stuck'), { recursive: true });
    await world.restart();
    await world.untilOnline('lobby', 1);
  });
});
