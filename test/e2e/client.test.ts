/** The built client against a real daemon: what it prints, how it ends, and what it does without a terminal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { instanceInfoSchema } from '../../src/model/instance.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { freePorts } from '../support/free-ports.js';
import { REPOSITORY } from '../support/repository-root.js';
import { until } from '../support/until.js';

const PROGRAM = join(REPOSITORY, 'dist/main.js');

let world: DaemonWorld;
shareDaemon((shared) => {
  world = shared;
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Without HOME, as a unit of systemd or a job may be. */
function start(words: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...environment },
    cwd: world.root,
  });
}

async function ended(child: ChildProcess): Promise<Ended> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('there are no pipes');
  const [out, err] = await Promise.all([text(stdout), text(stderr), once(child, 'close')]);
  return { code: child.exitCode, out, err };
}

const drover = (...words: string[]): Promise<Ended> => ended(start(words));

async function oneInstance(): Promise<string> {
  world.configure('lobby', { command: 'while read line; do echo "got $line"; done' });
  const [instance] = await world.untilOnline('lobby', 1);
  if (instance === undefined) throw new Error('there is no instance');
  return instance.id;
}

it('prints what the console prints, in the directory of a master and without HOME', async () => {
  await oneInstance();
  const lines = [
    'config list',
    'config show lobby',
    'config diff lobby',
    'cluster token list',
    'template list',
  ];
  for (const line of lines) {
    const onConsole = await world.api.send('POST', '/commands/execute', { command: line });
    const { output } = z.object({ output: z.string() }).parse(JSON.parse(onConsole.text));
    expect(await drover(...line.split(' ')), line).toEqual({ code: 0, out: output, err: '' });
  }
});

it('prints tables, names, JSON and YAML, each alone on stdout', async () => {
  const id = await oneInstance();
  expect(await drover('instance', 'list', '-o', 'name')).toEqual({ code: 0, out: `${id}\n`, err: '' });
  const json = await drover('instance', 'list', 'lobby', '-o', 'json');
  expect(z.array(instanceInfoSchema).parse(JSON.parse(json.out))).toMatchObject([{ id }]);
  expect((await drover('instance', 'info', id, '-o', 'yaml')).out).toMatch(new RegExp(`^id: ${id}$`, 'm'));
  expect((await drover('get', 'instances', '-o', 'wide')).out).toMatch(/^ID .* RUNTIME +RAM +CPU +REVISION/);
  expect((await drover('cluster', 'nodes')).out).toMatch(/^NODE .*\nnode-a /);
  expect((await drover('cluster', 'status')).out).toMatch(/^cluster +\S+\nnodes +1 connected\n/);
  expect((await drover('node', 'info')).out).toMatch(/^node +node-a\n/);
});

it('does what the console does', async () => {
  const id = await oneInstance();
  expect(await drover('exec', id, '--', 'say', '--loud')).toMatchObject({ code: 0 });
  await until(async () => expect((await drover('instance', 'logs', id)).out).toBe('got say --loud\n'));
  expect(
    (await drover('instance', 'create', 'lobby', '2', '-o', 'name')).out.trim().split('\n'),
  ).toHaveLength(2);
  expect((await drover('key', 'create', 'bob', 'READ')).out).toMatch(
    /^drv_\S+\nThis is the token of key bob/,
  );
  expect((await drover('delete', 'key', 'bob', '--yes')).out).toBe('key bob is deleted\n');
});

it('ends with the exit code of what went wrong, one line on stderr, and nothing on stdout', async () => {
  const id = await oneInstance();
  const reading = (await drover('key', 'create', 'reader', 'READ', '-o', 'json')).out;
  const { token } = z.object({ token: z.string() }).parse(JSON.parse(reading));
  const url = `http://127.0.0.1:${world.apiPort}`;
  const [free] = [await freePorts(1)];
  const cases: [number, readonly string[], Record<string, string>?][] = [
    [3, ['instance', 'info', 'zzzzzz', '-o', 'json']],
    [3, ['instance', 'stop', 'zzzzzz']],
    [3, ['instance', 'list', 'nothing']],
    [3, ['instance', 'create', 'nothing']],
    [3, ['cluster', 'cordon', 'nothing']],
    [4, ['instance', 'restart', id], { DROVER_URL: url, DROVER_KEY: token }],
    [4, ['instance', 'list'], { DROVER_URL: url, DROVER_KEY: `${token}x` }],
    [5, ['key', 'create', 'reader', 'READ']],
    [7, ['instance', 'list'], { DROVER_URL: `http://127.0.0.1:${free}`, DROVER_KEY: token }],
    [64, ['instnace', 'list']],
    [64, ['instance', 'list', '-o', 'xml']],
    [64, ['instance', 'create', 'lobby', '101']],
    [64, ['instance', 'info']],
    [64, ['instance', 'why', id, '-o', 'name']],
    [64, ['key', 'create', 'nobody']],
    [64, ['help', 'nothing']],
    [64, ['instance', 'delete', id]],
    [64, ['cluster', 'drain', 'node-a', '--now']],
    [64, ['stop']],
  ];
  for (const [code, words, environment] of cases) {
    const end = await ended(start(words, environment));
    expect({ words, code: end.code, out: end.out }).toEqual({ words, code, out: '' });
    expect(end.err, words.join(' ')).toMatch(/^drover: [^\n]+\n$/);
  }
  expect((await world.api.instances('lobby')).map((instance) => instance.id)).toEqual([id]);
  await drover('key', 'delete', 'reader', '--yes');
});

it('is quiet when its reader goes before the end, and says when stdout cannot be written', async () => {
  await oneInstance();
  const child = start(['help', '-o', 'json']);
  child.stdout?.destroy();
  const closed = ended(child).catch(() => undefined);
  await once(child, 'close');
  expect(child.exitCode).toBe(0);
  await closed;

  const full = openSync('/dev/full', 'w');
  const unwritable = spawn(process.execPath, [PROGRAM, 'config', 'list'], {
    stdio: ['ignore', full, 'pipe'],
    env: { PATH: process.env.PATH },
    cwd: world.root,
  });
  closeSync(full);
  const { stderr } = unwritable;
  const said = stderr === null ? '' : await text(stderr);
  if (unwritable.exitCode === null) await once(unwritable, 'close');
  expect([unwritable.exitCode, said]).toEqual([
    1,
    expect.stringMatching(/^drover: stdout cannot be written: .*\n$/),
  ]);
});

it('writes all of a long output into a pipe that is read late', async () => {
  const properties = Object.fromEntries('abcdef'.split('').map((name) => [name, name.repeat(30_000)]));
  world.configure('long', { command: 'true', minimumServiceCount: 0, properties });
  await world.api.send('POST', '/configuration-files/reload');
  const child = start(['config', 'show', 'long', '-o', 'json']);
  await once(child, 'spawn');
  const { out, code } = await ended(child);
  expect([code, JSON.parse(out).properties]).toEqual([0, properties]);
});

it('runs a job: prints its log, ends with its exit code, once for each key, and says a time-out', async () => {
  const job = { minimumServiceCount: 0, restartPolicy: 'never', stopTimeoutSeconds: 1 } as const;
  for (const name of ['report', 'endless']) world.failing.add(name);
  world.configure('report', {
    ...job,
    command: 'echo "day $DAY $FORMAT"; exit $CODE',
    job: { parameters: { DAY: {}, CODE: { default: '0' }, FORMAT: { default: 'text' } } },
  });
  world.configure('endless', { ...job, command: 'exec sleep 1000', job: { timeoutSeconds: 1 } });
  await until(async () => expect((await drover('config', 'list')).out).toMatch(/endless/));
  const good = await drover('run', 'report', '--param', 'DAY=monday', '--key', 'a', '--wait');
  expect([good.code, good.out]).toEqual([0, 'day monday text\n']);
  expect((await drover('run', 'report', '-p', 'DAY=monday', '-p', 'CODE=7', '--wait')).code).toBe(7);
  expect((await drover('run', 'report', '-p', 'DAY=monday', '--key', 'a', '--wait')).out).toBe(good.out);
  expect((await drover('run', 'report', '-p', 'DAY=other', '--key', 'a')).err).toContain('other parameters');
  expect(await drover('run', 'report', '--wait')).toMatchObject({
    err: expect.stringContaining('parameters.DAY: must be given'),
  });
  const late = await drover('run', 'endless', '--wait');
  expect([late.code, late.err]).toEqual([6, expect.stringContaining('ended at its time-out of 1 s')]);
});
