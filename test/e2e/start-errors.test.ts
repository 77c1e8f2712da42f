/** Starts that cannot work: one clear line on standard error, exit code 1, and nothing changed. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseJoinToken } from '../../src/channel/trust/join-token.js';
import { drover, Member } from '../support/cluster/member.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { DaemonProcess, type DaemonProcessOptions } from '../support/daemon/daemon-process.js';
import { REPOSITORY } from '../support/repository-root.js';
import { until } from '../support/until.js';

const PROGRAM = join(REPOSITORY, 'dist/main.js');
const NOBODY = 65_534;

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

/** Waits for the end of a daemon that cannot start. */
async function endOf(daemon: DaemonProcess): Promise<DaemonProcess> {
  try {
    // The other thing that can happen: it starts.
    await Promise.race([daemon.ended, until(() => expect(daemon.stdout).toMatch(/^Drover is running/m))]);
    expect(daemon.stdout).not.toMatch(/^Drover is running/m);
  } finally {
    if (daemon.isRunning) await daemon.end('SIGKILL');
  }
  return daemon;
}

/** Starts a daemon that must refuse; answers its one line. */
async function refusalOf(
  root = world.root,
  options: Pick<DaemonProcessOptions, 'prefix'> = {},
): Promise<string> {
  const daemon = await endOf(new DaemonProcess({ root, ...options }));
  expect({ ...(await daemon.ended), stderr: daemon.stderr }).toEqual({
    code: 1,
    signal: null,
    stderr: expect.stringMatching(/^drover: .+\n$/),
  });
  // Said once, not again as a line of the log.
  expect(daemon.stdout).not.toContain(daemon.stderr.replace(/^drover: |\n$/g, ''));
  return daemon.stderr;
}

it('names the field, the place and what would be right in config.json', async () => {
  const config = join(world.root, 'config.json');
  const cases: [string, RegExp][] = [
    ['{\n  "apiPrt": 7000\n}', /config\.json:2:3: apiPrt: unknown field; did you mean "apiPort"\?/],
    [
      '{\n  "apiPort": "7000"\n}',
      /config\.json:2:14: apiPort: must be a whole number from 1 to 65535, is "7000"/,
    ],
    ['{\n  "debug": true,\n', /config\.json:\d:\d+: not valid JSON/],
    ['{ "isMasterNode": false }', /isMasterNode is false/],
  ];
  for (const [text, message] of cases) {
    writeFileSync(config, text);
    expect(await refusalOf()).toMatch(message);
    expect(readFileSync(config, 'utf8')).toBe(text);
  }
});

const withOpenFiles = (limit: number): string[] => ['sh', '-c', `ulimit -n ${limit} && exec "$@"`, 'sh'];

it('names the limit of open files that is too low, before it opens files of its own', async () => {
  for (const limit of [24, 40, 127]) {
    const line = await refusalOf(world.root, { prefix: withOpenFiles(limit) });
    expect(line).toMatch(`drover: the limit of open files is ${limit}, Drover needs at least 128: raise it`);
  }
});

it('works with the least limit of open files, also while strangers hold what they may of it', async () => {
  await world.start({ prefix: withOpenFiles(128) });
  const sockets = [2, 3, 4, 5, 6, 7].flatMap((last) =>
    [world.apiPort, world.apiPort + 1].flatMap((port) =>
      Array.from({ length: 30 }, () =>
        connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${last}` }).on('error', () => undefined),
      ),
    ),
  );
  try {
    await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => undefined)));
    world.configure('service', { command: 'exec sleep 1000', minimumServiceCount: 3 });
    await world.untilOnline('service', 3);
    expect(readFileSync(world.paths.droverLog, 'utf8')).not.toMatch(/EMFILE/);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

it('refuses an API port that is bound, and leaves no store behind', async () => {
  const other = createServer().listen(world.apiPort, '127.0.0.1');
  await once(other, 'listening');
  expect(await refusalOf()).toMatch(new RegExp(`port ${world.apiPort}.*in use`));
  other.close();
  expect(readFileSync(world.paths.droverLog, 'utf8')).toMatch(
    /"level":50,.*Drover cannot start: the API cannot listen/,
  );
  expect(await world.processes.owners()).toEqual([]);
});

it('refuses a second node on the same root, naming the first, which goes on', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  await world.start();
  const before = await world.untilOnline('service', 1);
  expect(await refusalOf()).toMatch(
    new RegExp(`another Drover \\(pid ${world.daemon.pid}\\) already runs in`),
  );
  const after = await world.untilOnline('service', 1);
  expect(after).toMatchObject(before.map(({ id, processPid }) => ({ id, processPid })));
});

/** As in a second container that shares the volume: nothing of the first one's processes or network is seen there. */
const CONTAINER = ['unshare', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = spawnSync(CONTAINER[0] ?? '', [...CONTAINER.slice(1), 'true']).status === 0;

it.skipIf(!canUnshare)('refuses a second node in other namespaces, and the first goes on', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  await world.start();
  const before = await world.untilOnline('service', 1);
  const prefix = [...CONTAINER, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  expect(await refusalOf(world.root, { prefix })).toMatch(
    new RegExp(
      `another Drover \\(pid ${world.daemon.pid} on ${hostname()}, in another container or on another machine\\) already runs in`,
    ),
  );
  const after = await world.untilOnline('service', 1);
  expect(after).toMatchObject(before.map(({ id, processPid }) => ({ id, processPid })));
});

it('refuses a root that is a file, has no parent, or has a file where a directory belongs', async () => {
  const file = join(world.root, 'file');
  writeFileSync(file, '');
  expect(await refusalOf(file)).toMatch(/file: is not a directory/);
  expect(await refusalOf(join(world.root, 'absent', 'root'))).toMatch(
    /absent is not a directory that exists/,
  );
  const root = join(world.root, 'root');
  mkdirSync(root);
  writeFileSync(join(root, 'running'), '');
  expect(await refusalOf(root)).toMatch(/running: .*not a directory; move it away/);
});

/** As root, but bound by the modes of files. Another user may not reach Node or the checkout. */
const BOUND = ['setpriv', '--bounding-set=-dac_override'];
const canBind = spawnSync(BOUND[0] ?? '', [...BOUND.slice(1), 'true']).status === 0;

it.skipIf(process.getuid?.() !== 0 || !canBind)('refuses a root that its user cannot write', async () => {
  chownSync(world.root, NOBODY, NOBODY);
  expect(await refusalOf(world.root, { prefix: BOUND })).toMatch(/must be writable for this user/);
});

it('refuses a truncated store and changes nothing of it', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  await world.start();
  const before = await world.untilOnline('service', 1);
  await world.kill('SIGTERM');
  const store = join(world.paths.store, 'master', 'store.mdb');
  const whole = readFileSync(store);
  // The end of the file is room for later writes: a cut there loses nothing.
  const cut = 3 * 4096;
  truncateSync(store, cut);
  expect(await refusalOf()).toMatch(
    /store\.mdb is damaged: .*Set what is broken aside with "drover store repair", restore a backup/,
  );
  expect(statSync(store).size).toBe(cut);
  expect((await world.processes.marked()).map(({ pid }) => pid)).toEqual(
    before.map(({ processPid }) => processPid),
  );
  writeFileSync(store, whole);
  await world.start();
  expect(await world.untilOnline('service', 1)).toMatchObject(
    before.map(({ processPid }) => ({ processPid })),
  );
});

it('makes what is missing in a new directory, and removes what a kill in mid-write left there', async () => {
  const root = join(world.root, 'new');
  mkdirSync(root);
  const unfinished = '.drover-0123456789abcdef.tmp';
  writeFileSync(join(root, unfinished), 'half');
  const daemon = new DaemonProcess({ root });
  // It serves, or ends because another program has port 7000, which a new config.json says.
  await Promise.race([daemon.ended, until(() => expect(daemon.stdout).toContain('curl '))]);
  await daemon.end('SIGINT');
  const config = JSON.parse(readFileSync(join(root, 'config.json'), 'utf8'));
  expect(config).toMatchObject({ apiPort: 7000, isMasterNode: true });
  expect(readdirSync(root)).toEqual(
    expect.arrayContaining(['configurations', 'data', 'extensions', 'logs', 'running', 'templates']),
  );
  expect(readdirSync(root)).not.toContain(unfinished);
  expect(statSync(join(root, 'data')).mode & 0o777).toBe(0o700);
});

it('refuses a cluster port that is bound, and tells HTTP clients there where the API is', async () => {
  const port = world.apiPort + 1;
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  expect(await refusalOf()).toMatch(
    new RegExp(`the cluster port cannot listen: port ${port} on 127.0.0.1 is in use.*another port`),
  );
  other.close();
  await world.start();
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringContaining(`http://127.0.0.1:${world.apiPort}/api`),
  ]);
});

async function newToken(): Promise<string> {
  const [token = ''] = (await drover('token', '--root', world.root)).split('\n');
  return token;
}

it('refuses to start as a node whose first join the master refuses', async () => {
  await world.start();
  const member = await Member.create();
  try {
    const token = await newToken();
    await member.join(token, `127.0.0.1:${world.apiPort + 1}`, 'second');
    const command = `cluster token revoke ${parseJoinToken(token).id}`;
    expect(await world.api.send('POST', '/commands/execute', { command })).toMatchObject({
      status: 200,
      text: expect.stringContaining('is revoked'),
    });
    expect(await refusalOf(member.paths.root)).toMatch(/does not know the join token: it was revoked/);
    const before = readFileSync(member.paths.configFile, 'utf8');
    const again = await member.join(token, `127.0.0.1:${world.apiPort + 1}`, 'third').catch((error) => error);
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^drover: this master does not know the join token: .+\n$/),
    });
    expect(readFileSync(member.paths.configFile, 'utf8')).toBe(before);
  } finally {
    await member.finish();
  }
});

it('waits for a master that is away, as a node that has nothing else to do', async () => {
  await world.start();
  const member = await Member.create();
  try {
    await member.join(await newToken(), `127.0.0.1:${world.apiPort + 1}`, 'second');
    await world.kill('SIGTERM');
    member.start();
    await until(() => expect(member.output).toContain('NOT connected'));
    await world.start();
    await until(() => expect(member.output).toContain('joined the master'));
    expect(await member.daemon.end('SIGTERM')).toEqual({ code: 0, signal: null });
  } finally {
    await member.finish();
  }
});

it('shows the stack of a bug with the places in the source files, at the terminal and in the log', async () => {
  const broken = join(world.root, 'broken.mjs');
  writeFileSync(
    broken,
    `import os from 'node:os';
     import { syncBuiltinESMExports } from 'node:module';
     os.totalmem = () => { throw new TypeError('broken on purpose'); };
     syncBuiltinESMExports();`,
  );
  // With a default, the size of the machine is asked for.
  const config = join(world.root, 'config.json');
  writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), maxRamMB: undefined }));
  const daemon = await endOf(new DaemonProcess({ root: world.root, preload: broken }));
  expect(await daemon.ended).toEqual({ code: 1, signal: null });
  const place = /at startWrapper \(.*\/src\/daemon\/start-wrapper\.ts:\d+:\d+\)/;
  expect(daemon.stderr).toMatch(/^drover: TypeError: broken on purpose\n/);
  expect(daemon.stderr).toMatch(place);
  expect(readFileSync(world.paths.droverLog, 'utf8')).toMatch(place);
});

it('has a help and a version', () => {
  const say = (...words: string[]) => spawnSync(process.execPath, [PROGRAM, ...words], { encoding: 'utf8' });
  expect(say('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/Drover.*start/s) });
  expect(say('--version')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(say('strat')).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("unknown command 'strat'"),
  });
});
