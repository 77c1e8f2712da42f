/** The commands on configurations of the built client, against a real daemon, from a shell and at a real terminal. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawn } from 'node-pty';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLIENT, type ClientRun, runClient } from '../support/client/client-program.js';
import { TemporaryHome } from '../support/client/temporary-home.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { until } from '../support/until.js';

const SMALL = { runtime: 'process', command: 'exec sleep 1000', ramMB: 16, cpu: 1, minimumServiceCount: 0 };

let world: DaemonWorld;
let home: TemporaryHome;
shareDaemon((shared) => {
  world = shared;
});
beforeEach(() => {
  home = new TemporaryHome();
});
afterEach(() => home.remove());

const drover = (words: string, input = ''): Promise<ClientRun> =>
  runClient(words.split(' '), { environment: home.environment, directory: world.root, input });
const inForce = async (name: string): Promise<unknown> =>
  JSON.parse((await world.api.send('GET', `/configurations/${name}`)).text);

it('goes from files to instances and back, with the exit codes of a pipeline', async () => {
  const conf = join(home.path, 'conf');
  home.write('conf/lobby.json', JSON.stringify(SMALL));
  home.write('conf/mail.json', JSON.stringify(SMALL));
  expect(await drover(`validate -f ${conf}`)).toEqual({
    code: 0,
    stdout: '2 of 2 configurations are valid\n',
    stderr: '',
  });
  expect((await drover(`diff -f ${conf} --detailed-exitcode`)).code).toBe(2);
  expect(await drover(`apply -f ${conf}`)).toEqual({
    code: 0,
    stdout: 'lobby created\nmail created\n',
    stderr: '',
  });
  expect(await drover(`diff -f ${conf} --detailed-exitcode`)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect((await drover('scale lobby 1')).stdout).toBe('lobby: minimumServiceCount 0 -> 1\n');
  await world.untilOnline('lobby', 1);
  expect((await drover(`diff -f ${conf} --detailed-exitcode`)).stdout).toContain(
    'minimumServiceCount: 1 -> 0',
  );
  expect((await drover('apply -f -', `{"name": "lobby", "command": 1}`)).code).toBe(1);
  expect(JSON.parse((await drover('get config lobby -o json')).stdout)).toMatchObject({
    minimumServiceCount: 1,
  });
  expect((await drover(`delete -f ${conf}`)).code).toBe(64);
  expect((await drover(`delete -f ${conf} --yes`)).stdout).toBe('lobby deleted\nmail deleted\n');
  expect((await drover('describe config lobby')).code).toBe(3);
  expect(await world.api.instances('lobby')).toHaveLength(1);
});

it('reads a pipe of a shell, and needs neither HOME nor a master to validate', async () => {
  const script = `node "$1" apply -f <(echo '[{"name": "a", "command": "true", "minimumServiceCount": 0}]' ) && cd / && node "$1" validate -f <(echo '{"command": "true"}')`;
  const shell = promisify(execFile)('bash', ['--norc', '-c', script, 'bash', CLIENT], {
    cwd: world.root,
    env: { PATH: process.env.PATH },
  });
  await expect(shell).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^a created\n\/dev\/fd\/\d+:1:1: name: must be a text, is missing\n$/),
    stderr: expect.stringMatching(/^drover: 0 of 1 configuration is valid\n$/),
  });
});

it('leaves Ctrl-C to the editor, and writes what it saved', async () => {
  world.configure('lobby', SMALL);
  await until(async () => expect(await inForce('lobby')).toMatchObject({ ramMB: 16 }));
  const editor = home.write(
    'editor.sh',
    `trap 'echo interrupted' INT
echo editing
until read line; do :; done
sed -i "s/16/$line/" "$1"
`,
  );
  const environment = { ...home.environment, EDITOR: `sh ${editor}`, TMPDIR: home.path };
  const terminal = spawn(process.execPath, [CLIENT, 'edit', 'config', 'lobby'], {
    env: environment,
    cwd: world.root,
  });
  let shown = '';
  terminal.onData((text) => {
    shown += text;
  });
  const end = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  await until(() => expect(shown).toContain('editing'));
  terminal.write('\x03');
  await until(() => expect(shown).toContain('interrupted'));
  terminal.write('32\n');
  expect([await end, shown]).toEqual([0, expect.stringContaining('lobby changed')]);
  expect(JSON.parse(readFileSync(join(world.root, 'configurations/lobby.json'), 'utf8'))).toMatchObject({
    ramMB: 32,
  });
});
