/** `fileEdits` in real working directories: at each start, in kept ones too, and never outside of them. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileEdit } from '../../../src/model/fields/file-edit.js';
import type { SecretFile } from '../../../src/model/fields/secret.js';
import type { ResolvedTemplate } from '../../../src/model/template.js';
import { EditThread } from '../../../src/runtime/installation/file-edits/edit-thread.js';
import { Workspaces } from '../../../src/runtime/installation/workspace.js';
import { TemplateCache } from '../../../src/templates/transfer/cache.js';
import { FakeClock } from '../../support/fake-clock.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { packThreads } from '../../support/templates/pack-threads.js';
import {
  addTree,
  forever,
  quietLogger,
  readTree,
  type Tree,
  temporaryDirectory,
} from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

const ID = 'abc123';
const PORT: FileEdit = { path: 'server.properties', format: 'properties', set: { 'server-port': '%PORT%' } };

let root: string;
let directory: string;
let cache: TemplateCache;
let clock: FakeClock;
let editThread: EditThread;
let workspaces: Workspaces;

beforeEach(async () => {
  root = temporaryDirectory();
  directory = join(root, 'running', ID);
  clock = new FakeClock();
  editThread = new EditThread(join(REPOSITORY, 'dist/edit-thread-main.js'), clock);
  cache = new TemplateCache({ directory: join(root, 'cache'), packThreads, logger: quietLogger, clock });
  await cache.start();
  workspaces = new Workspaces({
    runningDirectory: join(root, 'running'),
    installedDirectory: join(root, 'installed'),
    cache,
    packThreads,
    editThread,
    logger: quietLogger,
  });
  await workspaces.removeUnfinished();
});

afterEach(async () => {
  await workspaces.stop();
  await editThread.stop();
  rmSync(root, { recursive: true, force: true });
});

async function template(tree: Tree): Promise<ResolvedTemplate[]> {
  return [{ group: 'g', name: 't', priority: 0, digest: await addTree(cache, tree) }];
}

interface Start {
  readonly templates?: readonly ResolvedTemplate[];
  readonly keep?: boolean;
  readonly port?: number;
  readonly edits?: readonly FileEdit[];
  readonly owner?: { readonly uid: number; readonly gid: number };
  readonly secretFiles?: readonly SecretFile[];
  readonly secrets?: ReadonlyMap<string, string>;
}

function start({ templates = [], keep = true, port = 25565, edits = [PORT], owner, ...more }: Start = {}) {
  return workspaces.prepare({
    instanceId: ID,
    templates,
    keep,
    override: false,
    fileModifications: [],
    fileEdits: edits,
    variables: new Map([['PORT', String(port)]]),
    owner,
    ...more,
    signal: forever,
  });
}

const properties = (): string => readFileSync(join(directory, 'server.properties'), 'utf8');

describe('a kept directory', () => {
  it('has the port of each start in its files, whoever wrote them', async () => {
    const templates = await template({ 'server.properties': '# mine\nserver-port=1\n' });
    await start({ templates });
    expect(properties()).toBe('# mine\nserver-port=25565\n');
    writeFileSync(
      join(directory, 'server.properties'),
      '#written by the server\nserver-port=25565\nmotd=x\n',
    );
    await start({ templates, port: 25566 });
    expect(properties()).toBe('#written by the server\nserver-port=25566\nmotd=x\n');
  });

  it('takes a new template of a file that only Drover has changed, without a warning', async () => {
    await start({ templates: await template({ 'server.properties': 'server-port=1\nmotd=old\n' }) });
    const newer = await template({ 'server.properties': 'server-port=1\nmotd=new\n' });
    expect(await start({ templates: newer })).toEqual([]);
    expect(properties()).toBe('server-port=25565\nmotd=new\n');
  });

  it('leaves a file alone that has all values', async () => {
    await start();
    const before = lstatSync(join(directory, 'server.properties'));
    await start();
    expect(lstatSync(join(directory, 'server.properties'))).toMatchObject({
      ino: before.ino,
      mtimeMs: before.mtimeMs,
    });
  });

  it('keeps the mode of a file, and leaves no other file behind', async () => {
    await start();
    chmodSync(join(directory, 'server.properties'), 0o640);
    writeFileSync(join(directory, '.drover-0123456789abcdef.tmp'), 'of a daemon that was killed');
    await start({ port: 7 });
    expect(lstatSync(join(directory, 'server.properties')).mode & 0o777).toBe(0o640);
    expect(readdirSync(directory)).toEqual(['server.properties']);
  });
});

describe('a value of a secret', () => {
  const edit = (format: FileEdit['format']): FileEdit => ({
    path: 'app.conf',
    format,
    set: { password: '%SECRET:db%' },
  });
  const withSecret = (edits: readonly FileEdit[], secretFiles: readonly SecretFile[] = []) =>
    start({ edits, secretFiles, secrets: new Map([['db', 'canary-now']]) });
  const mode = (file: string): number => lstatSync(join(directory, file)).mode & 0o777;

  it('makes a new file that only its user reads, and keeps the mode of one that was there', async () => {
    await withSecret([edit('ini')], [{ secret: 'db', path: 'a/key', mode: '0440' }]);
    expect([mode('app.conf'), mode('a/key')]).toEqual([0o600, 0o440]);
    chmodSync(join(directory, 'app.conf'), 0o640);
    writeFileSync(join(directory, 'app.conf'), 'password=old\n');
    chmodSync(join(directory, 'a/key'), 0o666);
    await withSecret([edit('ini')], [{ secret: 'db', path: 'a/key', mode: '0440' }]);
    expect([mode('app.conf'), mode('a/key')]).toEqual([0o640, 0o440]);
    expect(readFileSync(join(directory, 'a/key'), 'utf8')).toBe('canary-now');
  });

  it.each([
    ['yaml', 'password: *canary-before\n', 'all of it'],
    ['yaml', 'a: 1\npassword: |canary-before\n', 'line 2, column 12'],
    ['json', '{"canary-before": 1, "canary-before": 2}', 'line 1, column 22'],
  ] as const)(
    'is not in the error for a broken %s file, and neither is one of before',
    async (format, text, place) => {
      await start({ edits: [] });
      writeFileSync(join(directory, 'app.conf'), text);
      const error: unknown = await withSecret([edit(format)]).catch((thrown: unknown) => thrown);
      expect(inspect(error, { depth: 9 })).not.toContain('canary');
      expect(error).toMatchObject({
        message: `fileEdits: app.conf: it cannot be set as ${format} (${place}); why is not said, because it may hold a secret`,
      });
    },
  );

  it('of several lines is refused by name where the format has one line', async () => {
    const secrets = new Map([['db', 'canary\nnow']]);
    const error: unknown = await start({ edits: [edit('ini')], secrets }).catch((thrown: unknown) => thrown);
    expect(inspect(error, { depth: 9 })).toContain('password: the value has a line break');
    expect(inspect(error, { depth: 9 })).not.toContain('canary');
  });

  it('follows no link, in the name of its file or on the way to it', async () => {
    const outside = join(root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'key'), 'mine');
    await start({ edits: [] });
    symlinkSync(outside, join(directory, 'a'));
    symlinkSync(join(outside, 'key'), join(directory, 'key'));
    await withSecret([], [{ secret: 'db', path: 'key', mode: '0400' }]).catch(() => undefined);
    await expect(withSecret([], [{ secret: 'db', path: 'a/key', mode: '0400' }])).rejects.toThrow(
      'secretFiles: a/key',
    );
    expect([readdirSync(outside), readFileSync(join(outside, 'key'), 'utf8')]).toEqual([['key'], 'mine']);
  });
});

it('makes a missing file with its directories, which belong to the user of the instance', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('needs root');
  const owner = { uid: 12_345, gid: 12_346 };
  const edits: FileEdit[] = [{ path: 'a/b/c.json', format: 'json', set: { port: '%PORT%' } }];
  await start({ keep: false, owner, edits });
  expect(await readTree(directory)).toMatchObject({ 'a/b/c.json': '{\n  "port": 25565\n}\n' });
  for (const path of ['a', 'a/b', 'a/b/c.json'])
    expect(lstatSync(join(directory, path))).toMatchObject(owner);
});

it.each<[string, FileEdit, () => void]>([
  ['there is no such file', { path: 'a.cfg', format: 'text', set: { a: 'b' } }, () => {}],
  ['there is no such file', { path: 'x/a.cfg', format: 'text', set: { a: 'b' } }, () => {}],
  ['it is not JSON', { path: 'a.json', format: 'json', set: { a: 1 } }, () => write('a.json', '{')],
  ['it is larger than 1 MiB', PORT, () => write('server.properties', ' '.repeat(1024 * 1024 + 1))],
  ['it is a symbolic link', PORT, () => link('../../outside', 'server.properties')],
  ['is a symbolic link', { ...PORT, path: 'x/server.properties' }, () => link('../..', 'x')],
  ['a file stands in the place', { ...PORT, path: 'x/server.properties' }, () => write('x', '')],
  ['it is not a regular file', PORT, () => mkdirSync(join(directory, 'server.properties'))],
])('says "%s" with the name of the file, and writes nothing', async (message, edit, plant) => {
  writeFileSync(join(root, 'outside'), 'server-port=1\n');
  await start({ edits: [] });
  plant();
  const before = readdirSync(directory);
  await expect(start({ edits: [edit] })).rejects.toMatchObject({ code: 'DRV_FILE_EDIT_FAILED' });
  await expect(start({ edits: [edit] })).rejects.toThrow(`fileEdits: ${edit.path}: `);
  await expect(start({ edits: [edit] })).rejects.toThrow(message);
  expect(readdirSync(directory)).toEqual(before);
  expect(readFileSync(join(root, 'outside'), 'utf8')).toBe('server-port=1\n');
});

it('ends the reading of a file that takes too long, and goes on with the next', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `k${index}: &a${index} [v]\n`);
  const edits = ['a', 'b', 'c', 'd'].map((key) => ({ key, value: 1, isFilled: false }));
  const slow = editThread.edit({ content: Buffer.from(lines.join('')), format: 'yaml', edits });
  const refused = expect(slow).rejects.toThrow('reading it takes longer than 5 s');
  await until(() => clock.pending > 0);
  await clock.advance(5000);
  await refused;
  await start();
  expect(properties()).toBe('server-port=25565\n');
});

function write(name: string, text: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), text);
}

function link(target: string, name: string): void {
  symlinkSync(target, join(directory, name));
}
