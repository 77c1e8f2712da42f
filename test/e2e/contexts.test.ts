/** `drover context` of the built program against a real daemon: where commands go, with which key, and what is refused. */
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { CLIENT, type ClientRun, runClient } from '../support/client/client-program.js';
import { TemporaryHome } from '../support/client/temporary-home.js';
import { listenWithTls, serverCertificate, testOwnAuthority } from '../support/client/tls-servers.js';
import { TcpProxy } from '../support/cluster/tcp-proxy.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { TerminalProgram } from '../support/terminal-program.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
let home: TemporaryHome;
shareDaemon((shared) => {
  world = shared;
});
beforeEach(() => {
  home = new TemporaryHome();
});
afterEach(() => home.remove());

const url = (): string => `http://127.0.0.1:${world.apiPort}`;

/** Runs it, and holds that no key is printed anywhere. */
async function drover(
  words: string,
  variables: NodeJS.ProcessEnv = {},
  { directory = home.path, input = '' } = {},
): Promise<ClientRun> {
  const environment = { ...home.environment, ...variables };
  const run = await runClient(words.split(' '), { environment, directory, input });
  expect(run.stdout + run.stderr).not.toContain(readFileSync(world.paths.adminKey, 'utf8').trim());
  return run;
}

const add = (name: string, more = ''): Promise<ClientRun> =>
  drover(`context add ${name} --url ${url()} --key-file ${world.paths.adminKey}${more}`);

it('adds, chooses, tests, lists and removes contexts', async () => {
  expect(await add('one')).toMatchObject({ code: 0, stderr: '' });
  expect(await drover('context test')).toEqual({
    code: 0,
    stdout: `one (${url()}): cluster drover, node node-a, Drover 0.1.0\nkey admin: scope ALL, all configurations, never ends\n`,
    stderr: '',
  });
  const { token } = z
    .object({ token: z.string() })
    .parse(
      JSON.parse(
        (await world.api.send('POST', '/keys', { label: 'ci', scope: 'READ', expires: '30d' })).text,
      ),
    );
  home.write('ci.key', token);
  await drover(`context add ci --url ${url()} --key-command cat`);
  await drover(`context add reader --url ${url()} --key-file ci.key`);
  const read = await drover('context test reader -o json');
  expect(JSON.parse(read.stdout)).toMatchObject({
    name: 'reader',
    key: 'ci',
    scope: 'READ',
    expiresAt: expect.any(Number),
  });
  expect(await drover('context use reader')).toMatchObject({ code: 0 });
  expect((await drover('context list')).stdout).toMatch(
    /^ {3}NAME .*\n.*ci .*command cat .*\n {3}one .*\n\* {2}reader .*no TLS\n$/s,
  );
  expect(await drover('context remove reader')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('the current one is none'),
  });
  expect(await drover('context test')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('choose a context'),
  });
  expect(await drover('context remove reader')).toMatchObject({ code: 3 });
});

it('goes to the node of a root without any set-up, and by variables without a home', async () => {
  const directory = join(world.root, 'configurations');
  const inside = await drover('context test', { HOME: undefined }, { directory });
  expect(inside).toMatchObject({ code: 0, stdout: expect.stringContaining('scope ALL'), stderr: '' });
  const variables = { HOME: undefined, DROVER_URL: url(), DROVER_KEY_FILE: world.paths.adminKey };
  expect(await drover('context test', variables)).toMatchObject({ code: 0, stderr: '' });
  const key = {
    ...variables,
    DROVER_KEY_FILE: undefined,
    DROVER_KEY: readFileSync(world.paths.adminKey, 'utf8'),
  };
  expect(await drover('context test', key)).toMatchObject({ code: 0, stderr: '' });
  expect(await drover('context list', { HOME: undefined })).toMatchObject({ code: 0 });
  expect(await drover('context use one', { HOME: undefined })).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(
      /^drover: there is no place for contexts: set HOME or XDG_CONFIG_HOME.*\n$/,
    ),
  });
});

it('says when a variable chooses in the place of the current context', async () => {
  await add('one');
  await add('two');
  expect(await drover('context test', { DROVER_CONTEXT: 'two' })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^two /),
    stderr: 'DROVER_CONTEXT chooses context two in the place of the current one, one\n',
  });
});

it('loses no context to programs that add them at the same time', async () => {
  const names = ['a', 'b', 'c', 'd'];
  await Promise.all(names.map((name) => add(name)));
  const listed = z
    .array(z.object({ name: z.string() }))
    .parse(JSON.parse((await drover('context list -o json')).stdout));
  expect(listed.map(({ name }) => name)).toEqual(names);
});

it('refuses a file of contexts and a key file that others can read', async () => {
  await add('one');
  chmodSync(home.contextsPath, 0o644);
  for (const words of ['context test', 'context list', 'context use one'])
    expect(await drover(words)).toEqual({
      code: 1,
      stdout: '',
      stderr: `drover: the file of contexts ${home.contextsPath} has mode 644 and is open to other users; run: chmod 600 ${home.contextsPath}\n`,
    });
  rmSync(home.contextsPath);
  home.write('open.key', 'drv_something', 0o644);
  expect(await drover(`context add two --url ${url()} --key-file open.key`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('chmod 600'),
  });
});

it('says that the key is refused, that the master is down, and that something cuts the connection', async () => {
  await drover(`context add wrong --url ${url()} --key-file -`, {}, { input: `drv_${'x'.repeat(36)}\n` });
  expect(await drover('context test')).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/^drover: wrong \(http:\/\/127\.0\.0\.1:\d+\) refuses the key: .+\n$/),
  });
  const proxy = await TcpProxy.start({ port: 1 });
  const through = { DROVER_URL: `http://127.0.0.1:${proxy.port}`, DROVER_KEY_FILE: world.paths.adminKey };
  expect(await drover('context test', through)).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('was cut'),
  });
  await proxy.stop();
  expect(await drover('context test', through)).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('nothing listens there'),
  });
});

it('goes to a master with TLS: of its root without set-up, of a context by the fingerprint of its authority', async ({
  task,
}) => {
  const secure = await DaemonWorld.create({ settings: { apiTls: 'cluster' } });
  const address = `https://127.0.0.1:${secure.apiPort}`;
  const withKey = `--key-file ${secure.paths.adminKey}`;
  try {
    const daemon = secure.spawn();
    await until(async () => {
      if (daemon.isRunning)
        expect(await drover(`context test --root ${secure.root}`)).toMatchObject({ code: 0 });
    });
    const [fingerprint] = /(?:[0-9A-F]{2}:){31}[0-9A-F]{2}/.exec(daemon.stdout) ?? [];
    expect(await drover(`context add prod --url ${address} ${withKey}`)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(`SHA-256 ${fingerprint}`),
    });
    expect(
      await drover(`context add prod --url ${address} ${withKey} --fingerprint ${fingerprint}`),
    ).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(await drover('context test')).toMatchObject({ code: 0, stderr: '' });
    const plain = { DROVER_URL: address.replace('https', 'http'), DROVER_KEY_FILE: secure.paths.adminKey };
    expect(await drover('context test', plain)).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('this port speaks HTTPS: use https://'),
    });
  } finally {
    await secure.finish({ isFailed: failedOf(task).isFailed });
  }
});

it('asks at a terminal before it trusts an authority, and does not show the key that is typed', async () => {
  const authority = await testOwnAuthority();
  const { key, certificate } = await serverCertificate(authority);
  const shown = { key, certificate: certificate + authority.certificate };
  const { server, url: secure } = await listenWithTls(shown, (_request, response) => response.end());
  const token = `drv_${'s'.repeat(36)}`;
  try {
    const screen = await typeInto(
      ['context', 'add', 'prod', '--url', secure],
      [
        ['Type yes to trust it from now on: ', 'yes\r'],
        ['Key (it is not shown): ', `${token}\r`],
      ],
    );
    expect(screen).toContain('was added, and is the current one');
    expect(screen).not.toContain('sss');
    expect(home.readContexts()).toMatchObject({ contexts: { prod: { key: token } } });
  } finally {
    server.close();
  }
});

/** Answers each question of the client as soon as it is seen; resolves with all that was shown. */
async function typeInto(words: string[], answers: [question: string, keys: string][]): Promise<string> {
  const program = new TerminalProgram([process.execPath, CLIENT, ...words], {
    environment: home.environment,
    onOutput: () => {
      const [next] = answers;
      if (next === undefined || !program.raw.includes(next[0])) return;
      answers.shift();
      program.type(next[1]);
    },
  });
  await program.ended;
  return program.raw;
}
