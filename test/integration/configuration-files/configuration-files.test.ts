/** Configuration files as desired state, with real directories, links and inotify. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configurationHistorySchema } from '../../../src/model/configuration-history.js';
import { PREFIX, revisionKey } from '../../../src/store/keys.js';
import { ConfigurationWorld } from '../../support/control-plane/configuration-world.js';
import { FakeClock } from '../../support/fake-clock.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';
import { until } from '../../support/until.js';

let world: ConfigurationWorld;

beforeEach(() => {
  world = new ConfigurationWorld();
});

afterEach(async () => {
  await world.close();
});

/** Waits until the store holds exactly this, as `name command file`. */
async function untilStored(...expected: string[]): Promise<void> {
  await until(async () => expect(await world.stored()).toEqual(expected));
}

async function untilErrors(...expected: (string | RegExp)[]): Promise<void> {
  const matchers = expected.map((text) => (typeof text === 'string' ? text : expect.stringMatching(text)));
  await until(() => expect(world.errors()).toEqual(matchers));
}

describe('at start', () => {
  test('holds the files, each with its revision in the same transaction', async () => {
    await world.start({ 'a.json': { command: 'one' }, 'b.json': { name: 'bee', command: 'two' } });
    expect(await world.stored()).toEqual(['a one a.json', 'bee two b.json']);
    expect(world.store.transactions).toHaveLength(1);
    const record = await world.record('a');
    expect((await world.store.get(revisionKey(record?.hash ?? '')))?.value).toEqual(record?.configuration);
  });

  test('writes nothing when nothing has changed', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    await (await world.open()).start();
    expect(world.store.transactions).toHaveLength(1);
  });

  test('removes what has no file any more, and keeps its revision', async () => {
    await world.start({ 'a.json': { command: 'one' }, 'b.json': { command: 'two' } });
    const again = await world.open();
    await world.remove('b.json');
    await again.start();
    expect(await world.stored()).toEqual(['a one a.json']);
    expect((await world.store.list(PREFIX.revisions)).entries).toHaveLength(2);
  });

  test('keeps what the store has for a file that is broken by now', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    const again = await world.open();
    await world.write('a.json', '{"command": ');
    await again.start();
    expect(await world.stored()).toEqual(['a one a.json']);
    expect(world.errors()).toEqual([expect.stringMatching(/^a\.json:1 null not valid JSON/)]);
  });

  test('keeps everything while the directory is missing, and takes it up when it appears', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    const again = await world.open();
    await rename(world.directory, `${world.directory}-away`);
    await again.start();
    expect(await world.stored()).toEqual(['a one a.json']);
    expect(world.errors()).toEqual([
      expect.stringMatching(/^configurations:null null cannot be read: no such file/),
    ]);
    await mkdir(world.directory);
    await world.write('a.json', { command: 'two' });
    await untilStored('a two a.json');
    await untilErrors();
  });

  test('reads only what is meant as a configuration', async () => {
    await mkdir(world.path('sub.json'), { recursive: true });
    await world.start({
      'sub.json/inner.json': { command: 'x' },
      '.hidden.json': { command: 'x' },
      'a.json~': { command: 'x' },
      'a.txt': { command: 'x' },
      'a.json': { command: 'one' },
    });
    expect(await world.stored()).toEqual(['a one a.json', 'inner x sub.json/inner.json']);
    expect(world.errors()).toEqual([]);
  });

  test('tells of what is no file, not text, too large or leads nowhere, and loads the others', async () => {
    await mkdir(world.directory);
    execFileSync('mkfifo', [world.path('pipe.json')]);
    await symlink('nowhere', world.path('link.json'));
    await writeFile(world.path('bytes.json'), Buffer.from([0x7b, 0xff, 0x7d]));
    await world.start({ 'large.json': ' '.repeat(1024 * 1024 + 1), 'a.json': { command: 'one' } });
    expect(await world.stored()).toEqual(['a one a.json']);
    expect(world.errors()).toEqual([
      'bytes.json:null null is not UTF-8 text',
      'large.json:null null is larger than the limit of 1024 KiB',
      'link.json:null null cannot be read: no such file or directory (ENOENT)',
      'pipe.json:null null is not a regular file',
    ]);
  });

  test('removes what a crash in mid-write left over', async () => {
    await world.start({ '.drover-0123456789abcdef.tmp': '{', 'a.json': { command: 'one' } });
    expect(await readdir(world.directory)).toEqual(['a.json']);
  });

  test('waits for a store that refuses writes', async () => {
    await mkdir(world.directory);
    await world.write('a.json', { command: 'one' });
    world.store.failure = new Error('disk full');
    const starting = (await world.open()).start();
    await untilErrors('*.json:null null not stored yet, trying again: disk full');
    world.store.failure = undefined;
    await starting;
    expect(await world.stored()).toEqual(['a one a.json']);
    expect(world.errors()).toEqual([]);
  });
});

describe('the source of a record', () => {
  test('is the node and the file that it came from', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    expect(await world.record('a')).toMatchObject({ sourceFile: 'a.json', sourceNode: 'n1' });
  });

  test('alone removes it: neither an empty nor a missing directory of another node does', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    const empty = join(world.root, 'empty');
    await mkdir(empty);
    for (const directory of [empty, join(world.root, 'missing')]) {
      const files = await world.open({ directory, nodeId: 'n2' });
      await files.start();
      await files.reload();
      expect(await world.stored()).toEqual(['a one a.json']);
    }
    expect(world.store.operations()).toEqual(['create a']);
  });

  test('becomes another node whose file says the name, and its directory removes it then', async () => {
    await world.start({ 'a.json': { command: 'one' }, 'b.json': { command: 'two' } });
    const directory = join(world.root, 'other');
    await mkdir(directory);
    await writeFile(join(directory, 'a.json'), JSON.stringify({ command: 'one' }));
    const files = await world.open({ directory, nodeId: 'n2' });
    await files.start();
    expect(await world.record('a')).toMatchObject({ sourceNode: 'n2' });
    await rm(join(directory, 'a.json'));
    await files.reload();
    expect(await world.stored()).toEqual(['b two b.json']);
  });

  test('keeps it from being removed here before it is written here', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    const directory = join(world.root, 'other');
    await mkdir(directory);
    const files = await world.open({ directory, nodeId: 'n2' });
    await files.start();
    await expect(files.remove('a')).rejects.toMatchObject({
      code: 'DRV_CONFIGURATION_NOT_WRITABLE',
      message: expect.stringContaining('it came from a.json of node n1'),
    });
    await files.put('a', { command: 'two' });
    await files.remove('a');
    expect(await world.stored()).toEqual([]);
  });
});

describe('most files gone at once', () => {
  const names = Array.from({ length: 10 }, (_, number) => `c${number}`);
  const all = names.map((name) => `${name} one ${name}.json`);
  const fault = /^\*\.json:null null 10 configurations have no file any more, .*config reload --confirm/;

  beforeEach(async () => {
    await world.start(Object.fromEntries(names.map((name) => [`${name}.json`, { command: 'one' }])));
  });

  test('removes nothing, says so, and removes it once that is confirmed', async () => {
    await world.remove(...names.map((name) => `${name}.json`));
    await untilErrors(fault);
    expect(await world.stored()).toEqual(all);
    expect(world.lines('configuration error in *.json')).toHaveLength(1);
    await world.files.reload();
    expect(await world.stored()).toEqual(all);
    await world.files.reload(true);
    expect(await world.stored()).toEqual([]);
    expect(world.errors()).toEqual([]);
  });

  test('waits over restarts, whatever else changes, and ends when the files are back', async () => {
    const again = await world.open();
    await world.remove(...names.map((name) => `${name}.json`));
    for (let number = 0; number < 12; number++) await world.write(`new${number}.json`, { command: 'one' });
    await again.start();
    expect(await world.stored()).toHaveLength(22);
    await (await world.open()).start();
    expect(await world.stored()).toHaveLength(22);
    expect(world.errors()).toEqual([expect.stringMatching(fault)]);
    for (const name of names) await world.write(`${name}.json`, { command: 'one' });
    await untilErrors();
    expect(await world.stored()).toHaveLength(22);
  });

  test('removes one of them that the API removes, and makes one that it makes', async () => {
    await world.remove(...names.map((name) => `${name}.json`));
    await untilErrors(fault);
    await world.files.remove('c3');
    await world.files.put('c4', { command: 'two' });
    expect(await world.stored()).toEqual(
      all.filter((line) => !line.startsWith('c3 ')).map((line) => line.replace('c4 one', 'c4 two')),
    );
  });
});

describe('while it runs', () => {
  test('follows create, edit and delete', async () => {
    await world.start();
    await world.write('a.json', { command: 'one' });
    await untilStored('a one a.json');
    await world.write('a.json', { command: 'two' });
    await untilStored('a two a.json');
    await world.remove('a.json');
    await untilStored();
    expect(world.store.operations()).toEqual(['create a', 'update a', 'remove a']);
  });

  test('takes the last of many quick edits', async () => {
    await world.start();
    for (let edit = 0; edit <= 300; edit++) await world.write('a.json', { command: `run ${100 + edit}` });
    await untilStored('a run 400 a.json');
  });

  test('keeps a configuration whose file is renamed, with one write', async () => {
    await world.start({ 'a.json': { name: 'web', command: 'one' } });
    await world.rename('a.json', 'z.json');
    await untilStored('web one z.json');
    expect(world.store.operations()).toEqual(['create web', 'update web']);
    expect(world.store.transactions[1]).toHaveLength(1);
    expect(world.errors()).toEqual([]);
    expect(world.lines('already taken')).toEqual([]);
  });

  test('lets a file without a name give its configuration a new one when it is renamed', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    await world.rename('a.json', 'b.json');
    await untilStored('b one b.json');
  });

  test('keeps a configuration whose file an editor replaces', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    await world.write('a.json.new', { command: 'two' });
    await world.rename('a.json.new', 'a.json');
    await untilStored('a two a.json');
    await world.rename('a.json', 'a.json~');
    await world.write('a.json', { command: 'three' });
    await untilStored('a three a.json');
    expect(world.store.operations()).toEqual(['create a', 'update a', 'update a']);
  });

  test('takes 200 files as one batch', async () => {
    await world.start();
    for (let index = 0; index < 200; index++)
      writeFileSync(world.path(`c${index}.json`), JSON.stringify({ command: 'x', cpu: index }));
    await until(async () => expect(await world.stored()).toHaveLength(200));
    // Room for record, revision, history and overrides, 100 operations a transaction, and two looks at the batch.
    expect(world.store.transactions.length).toBeLessThanOrEqual(9);
    for (const operations of world.store.transactions) expect(operations.length).toBeLessThanOrEqual(100);
  });

  test('goes on with many files where a store that fills up has ended them', async () => {
    await mkdir(world.directory);
    for (let index = 0; index < 120; index++) await world.write(`c${index}.json`, { command: 'x' });
    world.store.failure = new Error('disk full');
    world.store.takes = 1;
    const starting = (await world.open()).start();
    await untilErrors('*.json:null null not stored yet, trying again: disk full');
    expect(await world.stored()).toHaveLength(25);
    world.store.failure = undefined;
    await starting;
    expect(await world.stored()).toHaveLength(120);
    expect(world.errors()).toEqual([]);
  });

  test('keeps the last good configuration when a file breaks, and says so once', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    await world.write('a.json', '{\n"command": "two",\n"cpu": "many"\n}');
    await untilErrors('a.json:3 cpu cpu: must be a whole number from 0 to 1000000, is "many"');
    await world.write('b.json', { command: 'other' });
    await untilStored('a one a.json', 'b other b.json');
    expect(world.lines('configuration error in a.json:3:8')).toHaveLength(1);
    await world.write('a.json', { command: 'two' });
    await untilStored('a two a.json', 'b other b.json');
    await untilErrors();
    expect(world.lines('configuration error in a.json is gone')).toHaveLength(1);
  });

  test("removes a broken file's configuration only with the file", async () => {
    await world.start({ 'a.json': { command: 'one' } });
    await world.write('a.json', '');
    await untilErrors(/^a\.json:1 /);
    await world.remove('a.json');
    await untilStored();
    await untilErrors();
  });

  test('leaves a name to the first file, and to the second when the first is deleted', async () => {
    await world.start({ 'b.json': { name: 'web', command: 'first' } });
    await world.write('a.json', { name: 'web', command: 'second' });
    await untilErrors(/^a\.json:null name name: "web" is already taken by b\.json/);
    await (await world.open()).start();
    expect(await world.stored()).toEqual(['web first b.json']);
    await world.remove('b.json');
    await untilStored('web second a.json');
    await untilErrors();
    expect(world.store.operations()).not.toContain('remove web');
  });

  test('warns once of unknown fields and accepts them', async () => {
    await world.start({ 'a.json': { command: 'one', colour: 'red' } });
    await world.write('b.json', { command: 'two' });
    await untilStored('a one a.json', 'b two b.json');
    expect(world.lines('a.json:1:18: colour: unknown field, has no effect')).toHaveLength(1);
  });

  test('writes over what somebody else changed in the store', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    const record = await world.record('a');
    await world.store.transact([
      { do: 'put', key: `${PREFIX.configurations}a`, value: { ...record, hash: 'x' } },
    ]);
    await world.write('a.json', { command: 'two' });
    await untilStored('a two a.json');
    expect(world.errors()).toEqual([]);
  });

  test('takes back what somebody else changed or removed in the store, without a change of the file', async () => {
    await world.start({ 'a.json': { command: 'one' }, 'b.json': { command: 'two' } });
    const record = await world.record('a');
    await world.store.transact([
      { do: 'put', key: `${PREFIX.configurations}a`, value: { ...record, sourceFile: 'x.json' } },
      { do: 'remove', key: `${PREFIX.configurations}b` },
    ]);
    await untilStored('a one a.json', 'b two b.json');
  });

  test('decides again when somebody else was faster', async () => {
    const files = await world.start();
    await files.put('a', { command: 'one' });
    const record = await world.record('a');
    world.store.rival = [{ do: 'put', key: `${PREFIX.configurations}a`, value: { ...record, hash: 'x' } }];
    await files.put('a', { command: 'two' });
    expect(await world.stored()).toEqual(['a two a.json']);
    expect(world.errors()).toEqual([]);
  });

  test('tries again when the store refuses a write, and says so meanwhile', async () => {
    await world.start();
    world.store.failure = new Error('disk full');
    await world.write('a.json', { command: 'one' });
    await untilErrors('*.json:null null not stored yet, trying again: disk full');
    world.store.failure = undefined;
    await untilStored('a one a.json');
    await untilErrors();
  });

  test('says nothing of what the store refused before, once there was nothing to write', async () => {
    const files = await world.start({ 'a.json': { command: 'one' } });
    world.store.failure = new Error('disk full');
    await expect(files.put('a', { command: 'two' })).rejects.toThrow('disk full');
    await world.write('a.json', { command: 'one' });
    await files.reload();
    const told = world.lines('not stored yet');
    world.store.failure = undefined;
    await world.write('a.json', { command: 'three' });
    await files.reload();
    expect(await world.stored()).toEqual(['a three a.json']);
    expect(world.lines('not stored yet')).toEqual(told);
  });

  test('does nothing any more once it is stopped', async () => {
    const files = await world.start({ 'a.json': { command: 'one' } });
    await files.stop();
    await files.stop();
    await world.write('a.json', { command: 'two' });
    await expect(files.reload()).rejects.toMatchObject({ code: 'DRV_NOT_READY' });
    await expect(files.put('b', { command: 'x' })).rejects.toMatchObject({ code: 'DRV_NOT_READY' });
    expect(await world.stored()).toEqual(['a one a.json']);
  });
});

describe('the directory', () => {
  test('that is moved away deletes nothing, and is taken up again when it is back', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    await rename(world.directory, `${world.directory}-away`);
    await untilErrors(/^configurations:null null cannot be read/);
    await rename(`${world.directory}-away`, world.directory);
    await untilErrors();
    await world.write('a.json', { command: 'two' });
    await untilStored('a two a.json');
    expect(world.store.operations()).toEqual(['create a', 'update a']);
  });

  test('that is replaced by an empty one deletes nothing until a reload accepts it', async () => {
    const files = await world.start({ 'a.json': { command: 'one' } });
    await rename(world.directory, `${world.directory}-away`);
    await mkdir(world.directory);
    await untilErrors(/^configurations:null null was replaced by an empty one/);
    await expect(files.put('b', { command: 'x' })).rejects.toMatchObject({
      code: 'DRV_CONFIGURATION_NOT_WRITABLE',
    });
    expect(await world.stored()).toEqual(['a one a.json']);
    await files.reload();
    expect(await world.stored()).toEqual([]);
    expect(world.errors()).toEqual([]);
  });

  test('that is emptied deletes what was in it', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    await world.remove('a.json');
    await untilStored();
    expect(world.errors()).toEqual([]);
  });

  test('may be a symbolic link, and may be exchanged', async () => {
    for (const release of ['v1', 'v2']) {
      await mkdir(join(world.root, release));
      await writeFile(join(world.root, release, 'a.json'), JSON.stringify({ command: release }));
    }
    await symlink('v1', world.directory);
    await world.start();
    await untilStored('a v1 a.json');
    await world.write('a.json', { command: 'edited' });
    await untilStored('a edited a.json');
    await symlink('v2', join(world.root, 'next'));
    await rename(join(world.root, 'next'), world.directory);
    await untilStored('a v2 a.json');
    await world.write('a.json', { command: 'again' });
    await untilStored('a again a.json');
  });

  test('may hold links to files outside of it, edited or replaced there', async () => {
    await mkdir(join(world.root, 'outside'));
    const target = join(world.root, 'outside', 'target');
    await writeFile(target, JSON.stringify({ command: 'one' }));
    await mkdir(world.directory);
    await symlink(target, world.path('a.json'));
    await world.start();
    expect(await world.stored()).toEqual(['a one a.json']);
    await writeFile(target, JSON.stringify({ command: 'two' }));
    await untilStored('a two a.json');
    await writeFile(`${target}.new`, JSON.stringify({ command: 'three' }));
    await rename(`${target}.new`, target);
    await untilStored('a three a.json');
    await rm(target);
    await untilErrors(/^a\.json:null null cannot be read: no such file/);
    expect(await world.stored()).toEqual(['a three a.json']);
  });

  test('may be a mounted ConfigMap, whose link to the data is swapped', async () => {
    for (const version of ['one', 'two']) {
      await mkdir(world.path(`..${version}`), { recursive: true });
      await world.write(`..${version}/a.json`, { command: version });
    }
    await symlink('..one', world.path('..data'));
    await symlink('..data/a.json', world.path('a.json'));
    await world.start();
    expect(await world.stored()).toEqual(['a one a.json']);
    await symlink('..two', world.path('..data_tmp'));
    await world.rename('..data_tmp', '..data');
    await untilStored('a two a.json');
    expect(world.lines('looking again')).toEqual([]);
  });
});

describe('put and remove', () => {
  test('does not make what a file of another name says, which was not looked at yet', async () => {
    const clock = new FakeClock();
    const still = new ConfigurationWorld(clock);
    try {
      const files = await still.start();
      await still.write('other.json', { name: 'lobby', command: 'theirs' });
      await expect(
        files.put('lobby', { command: 'mine' }, { precondition: { is: 'absent' } }),
      ).rejects.toMatchObject({
        code: 'DRV_CONFIGURATION_CHANGED',
      });
      expect(await still.stored()).toEqual([]);
      expect(await readdir(still.directory)).toEqual(['other.json']);
    } finally {
      await still.close();
    }
  });

  test('write the file first, pretty and whole, then the store', async () => {
    const files = await world.start();
    expect(await files.put('web', { command: 'one', colour: 'red' })).toMatchObject({
      warnings: [{ field: 'colour', line: null }],
    });
    expect(await world.stored()).toEqual(['web one web.json']);
    expect(await world.read('web.json')).toBe(
      '{\n  "name": "web",\n  "command": "one",\n  "colour": "red"\n}\n',
    );
    await files.remove('web');
    expect(await world.stored()).toEqual([]);
    expect(await readdir(world.directory)).toEqual([]);
  });

  test('are not applied again when the watcher sees them', async () => {
    const files = await world.start();
    await files.put('web', { command: 'one' });
    await files.put('web', { command: 'two' });
    await world.write('marker.json', { command: 'x' });
    await untilStored('marker x marker.json', 'web two web.json');
    await files.remove('marker');
    await world.write('last.json', { command: 'x' });
    await untilStored('last x last.json', 'web two web.json');
    expect(world.store.operations()).toEqual([
      'create web',
      'update web',
      'create marker',
      'remove marker',
      'create last',
    ]);
  });

  test('make a file that only its owner can read, and keep the mode of one that exists', async () => {
    const files = await world.start({ 'a.json': { command: 'one' } });
    await chmod(world.path('a.json'), 0o664);
    await files.put('a', { command: 'two' });
    await files.put('b', { command: 'one' });
    expect((await stat(world.path('a.json'))).mode & 0o777).toBe(0o664);
    expect((await stat(world.path('b.json'))).mode & 0o777).toBe(0o600);
  });

  test('write nothing to the store when the content is the same', async () => {
    const files = await world.start({ 'a.json': { command: 'one' } });
    await files.put('a', { command: 'one', cpu: 100 });
    expect(world.store.transactions).toHaveLength(1);
  });

  test('are noted in the history by their writer, an edit of the file by nobody', async () => {
    const files = await world.start({ 'web.json': { name: 'web', command: 'one' } });
    await files.put('web', { command: 'two' }, { by: { key: 'deploy' } });
    await world.write('web.json', { name: 'web', command: 'three' });
    await files.reload();
    expect(await world.history('web')).toEqual([
      '1 one web.json: replaced',
      '2 two web.json by deploy: replaced',
      '3 three web.json',
    ]);
    await files.remove('web');
    expect(await world.history('web')).toEqual([]);
  });

  test.skipIf(!HAS_GIT)('are noted with the commit that the directory is at', async () => {
    const repository = new GitRepository();
    try {
      repository.write('configurations/web.json', JSON.stringify({ name: 'web', command: 'one' }));
      const commit = repository.commit();
      const files = await world.open({ directory: join(repository.top, 'configurations') });
      await files.start();
      repository.write('configurations/web.json', JSON.stringify({ name: 'web', command: 'two' }));
      await files.reload();
      const { contents } = configurationHistorySchema.parse((await world.store.get('history/web'))?.value);
      expect(contents.map((content) => [content.commit, content.isDirty])).toEqual([
        [commit, false],
        [commit, true],
      ]);
      await files.stop();
    } finally {
      repository.remove();
    }
  });

  test('that the store refuses are noted when it takes them', async () => {
    const files = await world.start({ 'web.json': { name: 'web', command: 'one' } });
    world.store.failure = new Error('disk full');
    await expect(files.put('web', { command: 'two' }, { by: { key: 'deploy' } })).rejects.toThrow(
      'disk full',
    );
    world.store.failure = undefined;
    await files.reload();
    expect(await world.history('web')).toEqual(['1 one web.json: replaced', '2 two web.json by deploy']);
  });

  test('of another source leave the history alone', async () => {
    const files = await world.start({ 'web.json': { name: 'web', command: 'one' } });
    await world.rename('web.json', 'site.json');
    await files.reload();
    expect(await world.stored()).toEqual(['web one site.json']);
    expect(await world.history('web')).toEqual(['1 one web.json']);
  });

  test('overwrite the file that the configuration came from', async () => {
    const files = await world.start({ 'x.json': { name: 'web', command: 'one' } });
    await files.put('web', { command: 'two' });
    expect(await world.stored()).toEqual(['web two x.json']);
    expect(await readdir(world.directory)).toEqual(['x.json']);
    await files.remove('web');
    expect(await readdir(world.directory)).toEqual([]);
  });

  test('never overwrite the file of another configuration', async () => {
    const files = await world.start({ 'web.json': { name: 'other', command: 'one' } });
    await files.put('web', { command: 'two' });
    expect(await world.stored()).toEqual(['other one web.json', 'web two web-2.json']);
    await world.write('web.json', '{');
    await files.remove('web');
    await files.put('web', { command: 'three' });
    expect(await world.stored()).toEqual(['other one web.json', 'web three web-2.json']);
  });

  test('see an edit that the watcher has not seen yet', async () => {
    const files = await world.start({ 'web.json': { name: 'web', command: 'one' } });
    await world.write('web.json', { name: 'other', command: 'one' });
    await files.put('web', { command: 'two' });
    expect(await world.stored()).toEqual(['other one web.json', 'web two web-2.json']);
  });

  test('mend a file that is broken', async () => {
    const files = await world.start({ 'web.json': '{' });
    await files.put('web', { command: 'two' });
    expect(await world.stored()).toEqual(['web two web.json']);
    expect(world.errors()).toEqual([]);
  });

  test('write through a link, which stays', async () => {
    await mkdir(world.directory);
    const target = join(world.root, 'target');
    await writeFile(target, '{"command":"one", "cpu":1}');
    await symlink(target, world.path('web.json'));
    const files = await world.start();
    await files.put('web', { command: 'two', cpu: 1 });
    expect(await world.stored()).toEqual(['web two web.json']);
    expect(await readlink(world.path('web.json'))).toBe(target);
    expect(await readFile(target, 'utf8')).toBe('{"command":"two", "cpu":1}');
  });

  test('remove every file that says the name', async () => {
    const files = await world.start({
      'a.json': { name: 'web', command: 'one' },
      'b.json': { name: 'web', command: 'two' },
    });
    await files.remove('web');
    expect(await readdir(world.directory)).toEqual([]);
    expect(await world.stored()).toEqual([]);
    expect(world.errors()).toEqual([]);
  });

  test('go under the name that they are for, whatever name the body has', async () => {
    const files = await world.start();
    await files.put('web', { name: 'api', command: 'x' });
    expect(JSON.parse(await world.read('web.json'))).toEqual({ name: 'web', command: 'x' });
    expect(await world.stored()).toEqual(['web x web.json']);
  });

  test('refuse what is unknown or invalid and change nothing', async () => {
    const files = await world.start();
    await expect(files.remove('web')).rejects.toMatchObject({ code: 'DRV_CONFIGURATION_UNKNOWN' });
    await expect(files.put('web', { command: 'x', cpu: -1 })).rejects.toMatchObject({
      code: 'DRV_CONFIGURATION_INVALID',
    });
    await expect(files.put('../web', { command: 'x' })).rejects.toMatchObject({
      code: 'DRV_CONFIGURATION_INVALID',
    });
    await expect(files.put('web', { command: 'x', notes: 'n'.repeat(1024 * 1024) })).rejects.toMatchObject({
      code: 'DRV_CONFIGURATION_INVALID',
    });
    expect(await readdir(world.directory)).toEqual([]);
    expect(world.store.transactions).toEqual([]);
  });

  test('say that they failed when the store refuses, and the file is applied later', async () => {
    const files = await world.start();
    world.store.failure = new Error('disk full');
    await expect(files.put('web', { command: 'one' })).rejects.toThrow('disk full');
    expect(world.errors()).toEqual(['*.json:null null not stored yet, trying again: disk full']);
    world.store.failure = undefined;
    await untilStored('web one web.json');
  });

  test('are put in order among themselves', async () => {
    const files = await world.start();
    const writes = Array.from({ length: 20 }, (_, index) => files.put('web', { command: `run ${index}` }));
    const others = Array.from({ length: 20 }, (_, index) => files.put(`c${index}`, { command: 'x' }));
    await Promise.all([...writes, ...others, files.remove('web')]);
    expect(await world.stored()).toHaveLength(20);
    expect(await readdir(world.directory)).toHaveLength(20);
  });
});

describe('subdirectories', () => {
  const makeIn = async (file: string, content: unknown): Promise<void> => {
    await mkdir(dirname(world.path(file)), { recursive: true });
    await world.write(file, content);
  };

  test('are read, watched, and written where the file is', async () => {
    const files = await world.start({ 'a.json': { command: 'one' } });
    await makeIn('team/eu/b.json', { command: 'one' });
    await untilStored('a one a.json', 'b one team/eu/b.json');
    await makeIn('team/eu/b.json', '{ "command": "two" }');
    await untilStored('a one a.json', 'b two team/eu/b.json');
    await files.put('b', { command: 'three' });
    expect(await world.read('team/eu/b.json')).toBe('{ "command": "three" }');
    await makeIn('team/eu/b.json', '{\n"command": 3 }');
    await untilErrors(/^team\/eu\/b\.json:2 command command: must be a text/);
    await files.remove('b');
    expect(await readdir(world.path('team/eu'))).toEqual([]);
    await untilErrors();
  });

  test('keep a configuration whose file moves from one to another', async () => {
    await world.start({ 'a.json': { command: 'one' } });
    const before = await world.record('a');
    await mkdir(world.path('x/y'), { recursive: true });
    await world.rename('a.json', 'x/y/a.json');
    await untilStored('a one x/y/a.json');
    await world.rename('x', 'z');
    await untilStored('a one z/y/a.json');
    expect((await world.record('a'))?.hash).toBe(before?.hash);
    expect(world.lines('removed')).toEqual([]);
    expect(world.errors()).toEqual([]);
  });

  test('with the same name twice are told apart by their paths', async () => {
    await mkdir(world.directory);
    await makeIn('eu/web.json', { command: 'one' });
    await makeIn('us/web.json', { command: 'two' });
    await world.start();
    expect(await world.stored()).toEqual(['web one eu/web.json']);
    expect(world.errors()).toEqual([
      expect.stringMatching(/^us\/web\.json:null name .*taken by eu\/web\.json/),
    ]);
  });

  test('that are hidden, of packages, or links are left out; a link never leads in a circle', async () => {
    await mkdir(world.directory);
    await makeIn('.git/a.json', { command: 'x' });
    await makeIn('node_modules/b.json', { command: 'x' });
    await makeIn('team/c.json', { command: 'x' });
    await symlink('..', world.path('team/circle'));
    await world.start();
    expect(await world.stored()).toEqual(['c x team/c.json']);
    expect(world.lines('team/circle is not read: links to directories are not followed')).toHaveLength(1);
  });

  test('that cannot be read or lie too deep are named, and what they said stays in force', async () => {
    const deep = Array.from({ length: 9 }, () => 'd').join('/');
    await world.start({ 'a.json': { command: 'one' } });
    await makeIn('team/b.json', { command: 'one' });
    await makeIn(`${deep}/c.json`, { command: 'one' });
    await writeFile(join(world.root, '.gitmodules'), '[submodule "t"]\n\tpath = configurations/team\n');
    await untilStored('a one a.json', 'b one team/b.json');
    await untilErrors(new RegExp(`^${deep}/\\*\\.json:null null ${deep} lies deeper than 8 directories$`));
    await rm(world.path('d'), { recursive: true });
    await world.remove('team/b.json');
    await untilErrors(
      /^team\/\*\.json:null null team is a submodule of git that is not there: run git submodule/,
    );
    const again = await world.open();
    await again.start();
    expect(await world.stored()).toEqual(['a one a.json', 'b one team/b.json']);
    await makeIn('team/b.json', { command: 'two' });
    await untilStored('a one a.json', 'b two team/b.json');
    await untilErrors();
  });

  test.skipIf(!HAS_GIT)('are noted with their commits', async () => {
    const repository = new GitRepository();
    try {
      repository.write('configurations/team/web.json', JSON.stringify({ command: 'one' }));
      const commit = repository.commit();
      const files = await world.open({ directory: join(repository.top, 'configurations') });
      await files.start();
      const { contents } = configurationHistorySchema.parse((await world.store.get('history/web'))?.value);
      expect(contents).toMatchObject([{ file: 'team/web.json', commit, isDirty: false }]);
      await files.stop();
    } finally {
      repository.remove();
    }
  });
});

describe('with a clock that stands still', () => {
  test('does not report a file that is only half written', async () => {
    const clock = new FakeClock();
    await world.close();
    world = new ConfigurationWorld(clock);
    await world.start({ 'a.json': { command: 'one' } });
    await world.write('a.json', '{"command": "tw');
    const advanceUntil = (check: () => void | Promise<void>) =>
      until(async () => {
        await clock.advance(20);
        await check();
      });
    await advanceUntil(() => expect(world.lines('looking again')).not.toEqual([]));
    await world.write('a.json', '{"command": "two"}');
    await advanceUntil(async () => expect(await world.stored()).toEqual(['a two a.json']));
    expect(world.lines('configuration error')).toEqual([]);
  });
});

test('files that wait in a circle are faults that name it, and the last good contents stay', async () => {
  const waitsFor = (configuration: string) => [{ configuration }];
  await world.start({ 'a.json': { command: 'one', waitsFor: waitsFor('b') }, 'b.json': { command: 'two' } });
  await world.write('b.json', { command: 'three', waitsFor: waitsFor('c') });
  await world.write('c.json', { command: 'four', waitsFor: waitsFor('a') });
  await untilErrors(/^a\.json.* waitsFor: goes in a circle: a -> b -> c -> a\./, /^b\.json/, /^c\.json/);
  expect(await world.stored()).toContain('a one a.json');
  expect((await world.stored()).join()).not.toContain('four');
  await world.write('c.json', { command: 'four' });
  await untilErrors();
  await untilStored('a one a.json', 'b three b.json', 'c four c.json');
});
