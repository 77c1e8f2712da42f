/** Imports into roots on disk: what is written, what is passed over, what is never touched. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ImportResult, importDrafts } from '../../../tools/import/import.js';
import { readPm2 } from '../../../tools/import/pm2/source.js';
import { readUniverse } from '../../../tools/import/universe/source.js';

let scratch = '';
let source = '';
let root = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'drover-import-'));
  source = join(scratch, 'universe');
  root = join(scratch, 'root');
  write('config.json', { nodeId: 'node-1', clusterName: 'games', maxRamMB: 4096, maxCpu: 400 });
  write('configuration/lobby.json', {
    name: 'lobby',
    command: './start.sh',
    environmentVariables: { TOKEN: 'hush' },
    templateInstallationConfig: {
      allOf: [{ group: 'default', name: 'server', storage: 'local', priority: 1 }],
    },
  });
  write('templates/default/server/config/a.txt', 'a');
  write('templates/default/server/start.sh', '#!/bin/sh\n');
  chmodSync(join(source, 'templates/default/server/start.sh'), 0o700);
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function write(path: string, content: object | string, below = source): void {
  const file = join(below, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

async function importIt({ dryRun = false, output = 'text' as const } = {}): Promise<ImportResult> {
  return importDrafts('universe', source, await readUniverse(source), { root, dryRun, output });
}

/** `configurations/lobby.json: new`, of all things. */
async function states(): Promise<Record<string, string>> {
  const drafts = await readUniverse(source);
  const { text } = await importDrafts('universe', source, drafts, { root, dryRun: true, output: 'json' });
  const report: { items: { from: string; state: string }[] } = JSON.parse(text);
  return Object.fromEntries(report.items.map(({ from, state }) => [from, state]));
}

const inRoot = (path: string): string => readFileSync(join(root, path), 'utf8');

it('writes the node, configurations and templates of a Universe directory', async () => {
  const { failure, text } = await importIt();
  expect(failure).toBeUndefined();
  expect(JSON.parse(inRoot('config.json'))).toEqual({
    ...{ nodeId: 'node-1', clusterName: 'games', maxRamMB: 4096, maxCpu: 400 },
  });
  expect(JSON.parse(inRoot('configurations/lobby.json'))).toMatchObject({
    ...{ name: 'lobby', command: './start.sh', environmentVariables: { TOKEN: 'hush' } },
  });
  expect(statSync(join(root, 'configurations/lobby.json')).mode & 0o777).toBe(0o600);
  expect(inRoot('templates/default/server/config/a.txt')).toBe('a');
  expect(statSync(join(root, 'templates/default/server/start.sh')).mode & 0o777).toBe(0o700);
  expect(text).toContain(`drover start --root ${root}`);
  expect(text).not.toContain('hush');
});

it('writes nothing in a dry run, and reports the same', async () => {
  const dry = await importIt({ dryRun: true });
  expect(existsSync(root)).toBe(false);
  const items = (text: string): string => text.slice(0, text.lastIndexOf('\n\n'));
  expect(items(dry.text)).toBe(items((await importIt()).text));
});

it('passes over what is there already', async () => {
  await importIt();
  const before = statSync(join(root, 'configurations/lobby.json')).ino;
  const { failure } = await importIt();
  expect(failure).toBeUndefined();
  expect(statSync(join(root, 'configurations/lobby.json')).ino).toBe(before);
  expect(new Set(Object.values(await states()))).toEqual(new Set(['same']));
});

it('overwrites nothing that is other in the root, and says where it differs', async () => {
  await importIt();
  write('config.json', { nodeId: 'here' }, root);
  write('configurations/other-file.json', { name: 'lobby', command: 'mine' }, root);
  rmSync(join(root, 'configurations/lobby.json'));
  write('templates/default/server/config/a.txt', 'mine', root);
  const { failure, text } = await importIt();
  expect(failure).toMatchObject({ exitCode: 5, message: expect.stringContaining('3 things') });
  expect(text).toMatch(/other values of nodeId, clusterName, maxRamMB, maxCpu.*name the node node-1 wait/);
  expect(text).toMatch(/configurations\/other-file\.json of the root differs in command/);
  expect(inRoot('config.json')).toContain('here');
  expect(readdirSync(join(root, 'configurations'))).toEqual(['other-file.json']);
  expect(inRoot('templates/default/server/config/a.txt')).toBe('mine');
});

it('keeps a file of the root that holds another configuration, or a broken one', async () => {
  write('configuration/second.json', { name: 'second', command: 'x' });
  write('configurations/lobby.json', { name: 'survival', command: 'x' }, root);
  write('configurations/second.json', '{', root);
  expect(await states()).toMatchObject({
    'configuration/lobby.json': 'kept',
    'configuration/second.json': 'kept',
    'templates/default/server': 'new',
  });
});

it('takes the rest when something is refused, and says why', async () => {
  write('configuration/broken.json', '{ // a comment\n}');
  write('configuration/wrong.json', {
    name: 'wrong',
    command: 'x',
    environmentVariables: { A: 'hush' },
    ramMB: -1,
  });
  write('configuration/again.json', { name: 'lobby', command: 'x' });
  const { failure, text } = await importIt();
  expect(failure).toMatchObject({ exitCode: 1 });
  expect(text).toContain('a comment, which JSON does not allow');
  expect(text).toContain('ramMB: must be a whole number from 1 to 16777216, is -1');
  expect(text).toContain('configuration/again.json has the same name');
  expect(text).not.toContain('hush');
  expect(readdirSync(join(root, 'configurations'))).toEqual(['lobby.json']);
  expect(JSON.parse(inRoot('configurations/lobby.json')).command).toBe('x');
});

it('refuses a template with links or special files, names them, and follows none', async () => {
  write('templates/bad/one/x', 'x');
  symlinkSync('/etc/hostname', join(source, 'templates/bad/one/secret'));
  execFileSync('mkfifo', [join(source, 'templates/bad/one/pipe')]);
  symlinkSync(join(source, 'templates/default/server'), join(source, 'templates/bad/linked'));
  symlinkSync(join(source, 'templates/default'), join(source, 'templates/group'));
  const { failure, text } = await importIt();
  expect(failure).toMatchObject({ exitCode: 1 });
  expect(text).toContain('pipe (a device, socket or pipe), secret (a symbolic link)');
  expect(await states()).toMatchObject({
    'templates/bad/one': 'refused',
    'templates/bad/linked': 'refused',
    'templates/group': 'refused',
    'templates/default/server': 'same',
  });
  expect(readdirSync(join(root, 'templates')).filter((name) => name !== '.drover')).toEqual(['default']);
});

it('gives templates names that Drover accepts', async () => {
  write('templates/my group/My World/x', 'x');
  const { text } = await importIt();
  expect(text).toContain('templates/my group/My World -> templates/my-group/My-World: new');
  expect(inRoot('templates/my-group/My-World/x')).toBe('x');
});

it('refuses a main configuration that Drover cannot have, and nothing else for it', async () => {
  write('config.json', { port: 7000, apiPort: 7000 });
  expect(await states()).toMatchObject({ 'config.json': 'refused', 'configuration/lobby.json': 'new' });
  write('config.json', '[]');
  expect(await states()).toMatchObject({ 'config.json': 'refused' });
});

it('refuses a directory that is none of Universe', async () => {
  mkdirSync(join(scratch, 'empty'));
  await expect(readUniverse(join(scratch, 'empty'))).rejects.toThrow('no directory of Universe');
  await expect(readUniverse(join(scratch, 'gone'))).rejects.toMatchObject({ exitCode: 3 });
});

it.each([
  ['ecosystem.config.js', 64, 'is a program, and an import runs none'],
  ['ecosystem.config.cjs', 64, 'pm2 save'],
  ['ecosystem.mjs', 64, 'pm2 save'],
  ['ecosystem.yml', 64, 'is YAML'],
])('refuses %s of pm2 without reading it', async (name, exitCode, message) => {
  await expect(readPm2(join(scratch, name), undefined)).rejects.toMatchObject({
    exitCode,
    message: expect.stringContaining(message),
  });
});

it('refuses a list of pm2 that is not there, or no JSON', async () => {
  const file = join(scratch, 'pm2.json');
  await expect(readPm2(file, undefined)).rejects.toMatchObject({ exitCode: 3 });
  writeFileSync(file, '{apps: []}');
  await expect(readPm2(file, undefined)).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('pm2.json:1:2: not valid JSON'),
  });
});

it('reads a list of pm2 with the whole environment of many processes', async () => {
  const env = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`VARIABLE_${index}`, 'x']));
  const apps = Array.from({ length: 300 }, (_, index) => ({ name: `app-${index}`, script: './run', env }));
  write('pm2.json', { apps }, scratch);
  expect((await readPm2(join(scratch, 'pm2.json'), undefined)).drafts).toHaveLength(300);
});

it('looks at scripts of pm2 as they are on this machine', async () => {
  write('run', 'text', scratch);
  writeFileSync(join(scratch, 'tool'), Buffer.from([0x7f, 0, 1]));
  write('pm2.json', { apps: [{ script: './run' }, { script: './tool' }, { script: './gone' }] }, scratch);
  const { drafts } = await readPm2(join(scratch, 'pm2.json'), undefined);
  const commands = drafts.flatMap((draft) => (draft.kind === 'configuration' ? [draft.content.command] : []));
  expect(commands).toEqual([
    `cd ${scratch} && exec node ${scratch}/run`,
    `cd ${scratch} && exec ${scratch}/tool`,
    `cd ${scratch} && exec ${scratch}/gone`,
  ]);
});
