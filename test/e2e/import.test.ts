/** `drover import` as its users type it: import, start, and the instances are ONLINE. Needs `npm run build`. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runClient } from '../support/client/client-program.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { freePorts } from '../support/free-ports.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
let source = '';
beforeEach(async () => {
  source = mkdtempSync(join(tmpdir(), 'drover-import-'));
  world = await DaemonWorld.create({ settings: { nodeId: 'node-1' } });
});
afterEach(async ({ task }) => {
  await world.finish(failedOf(task));
  rmSync(source, { recursive: true, force: true });
});

function write(path: string, content: object | string): void {
  const file = join(source, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

function drover(...words: readonly string[]): ReturnType<typeof runClient> {
  const environment = { PATH: process.env.PATH, HOME: source };
  return runClient(words, { environment, directory: source });
}

/** Ends by the line that Universe writes to every instance. */
const SERVER = `require('node:http').createServer((_, answer) => answer.end(process.env.GREETING)).listen(process.env.PORT);
process.stdin.on('data', (text) => String(text).trim() === 'stop' && process.exit());`;

it('runs the configurations of Universe, with templates and variables, also in a daemon that runs', async () => {
  const port = await freePorts(1);
  const config: object = JSON.parse(readFileSync(world.paths.configFile, 'utf8'));
  write('config.json', { ...config, nodeSpecificVariables: { region: 'eu' }, clusterName: 'drover' });
  write('templates/games/server/server.cjs', SERVER);
  write('templates/games/server/region.txt', '%region%');
  write('configuration/lobby.json', {
    ...{
      name: 'lobby',
      runtime: 'process',
      command: 'node server.cjs',
      ramMB: 64,
      cpu: 0,
      nodes: ['node-1'],
    },
    availablePorts: { min: port, max: port },
    environmentVariables: { GREETING: 'hello from %NODE_ID%' },
    templateInstallationConfig: {
      allOf: [{ name: 'server', group: 'games', storage: 'local', priority: 0 }],
    },
    fileModifications: ['./region.txt'],
  });
  await world.start();
  const { code, stdout, stderr } = await drover(
    'import',
    'universe',
    '.',
    '--root',
    world.root,
    '-o',
    'json',
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    source: 'universe',
    dryRun: false,
    items: [
      { kind: 'node', state: 'same' },
      { kind: 'template', state: 'new' },
      { kind: 'configuration', state: 'new' },
    ],
  });
  const id = await until(async () => {
    const [lobby] = await world.api.instances();
    expect(lobby).toMatchObject({ configurationName: 'lobby', state: 'ONLINE', allocatedPort: port });
    return lobby?.id ?? '';
  });
  await until(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}`);
    expect(await answer.text()).toBe('hello from node-1');
  });
  expect(readFileSync(join(world.paths.running, id, 'region.txt'), 'utf8')).toBe('eu');
});

it('runs the apps of a list of pm2 where they lie', async () => {
  const port = await freePorts(2);
  write('app/server.js', SERVER);
  write('app/package.json', '{}');
  write('pm2.json', {
    apps: [
      {
        ...{ name: 'web', script: 'server.js', cwd: './app', instances: 2, exec_mode: 'cluster' },
        ...{ max_memory_restart: '256M', env: { PORT: port, GREETING: 'hush' } },
      },
    ],
  });
  const dry = await drover('import', 'pm2', 'pm2.json', '--root', world.root, '--dry-run');
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing is written') });
  expect(existsSync(join(world.paths.configurations, 'web.json'))).toBe(false);
  const { code, stdout } = await drover('import', 'pm2', 'pm2.json', '--root', world.root);
  expect(code).toBe(0);
  expect(stdout).not.toContain('hush');
  await world.start();
  await until(async () => {
    const instances = await world.api.instances();
    expect(instances.map(({ state }) => state)).toEqual(['ONLINE', 'ONLINE']);
  });
  await until(async () => {
    for (const each of [port, port + 1])
      expect(await (await fetch(`http://127.0.0.1:${each}`)).text()).toBe('hush');
  });
});

it('ends with the exit codes of the client, after the report', async () => {
  write('pm2.json', { apps: [{ name: 'web', script: 'sleep', args: '1' }] });
  world.configure('web', { command: 'sleep 1' });
  const kept = await drover('import', 'pm2', 'pm2.json', '--root', world.root);
  expect(kept).toMatchObject({ code: 5, stdout: expect.stringContaining('the root keeps its own') });
  expect(kept.stderr).toMatch(/^drover: the root keeps 1 thing of its own.*\n$/);
  expect(await drover('import', 'pm2', 'gone.json')).toMatchObject({ code: 3, stdout: '' });
  expect(await drover('import', 'pm2', 'ecosystem.config.js')).toMatchObject({ code: 64, stdout: '' });
  expect(await drover('import', 'universe', '.', '--root', '.')).toMatchObject({ code: 64 });
});
