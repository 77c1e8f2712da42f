/** A directory that git tracks is never written: what callers change lives beside it, and each pull works. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationFiles } from '../../../src/configuration-files/configuration-files.js';
import type { ConfigurationWrites } from '../../../src/model/plain/configuration-writes.js';
import { PREFIX } from '../../../src/store/keys.js';
import { ConfigurationWorld } from '../../support/control-plane/configuration-world.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';
import { until } from '../../support/until.js';

/** A configuration in several lines, so that git merges changes of two fields. */
const text = (fields: object): string =>
  `${JSON.stringify({ command: 'run', ramMB: 10, cpu: 20, ...fields }, null, 2)}\n`;

describe.skipIf(!HAS_GIT)('a directory that git tracks', () => {
  let repository: GitRepository;
  let world: ConfigurationWorld;
  let files: ConfigurationFiles;
  let clone: string;
  let directory: string;

  /** The clone of the master; the repository is where developers push from. */
  const git = (...words: readonly string[]): string => repository.gitIn(clone, ...words);
  const push = (changes: Record<string, object | undefined>): string => {
    for (const [name, fields] of Object.entries(changes)) {
      if (fields === undefined) rmSync(join(repository.top, `configurations/${name}.json`));
      else repository.write(`configurations/${name}.json`, text(fields));
    }
    return repository.commit();
  };
  const start = async (writes?: ConfigurationWrites): Promise<void> => {
    files = await world.open({ directory, writes });
    await files.start();
  };
  /** `ramMB cpu minimum`; undefined: not in force. */
  const inForce = async (name = 'a'): Promise<string | undefined> => {
    const found = (await world.record(name))?.configuration;
    return found && `${found.ramMB} ${found.cpu} ${found.minimumServiceCount}`;
  };
  const becomes = (content: string | undefined, name = 'a') =>
    until(async () => expect(await inForce(name)).toBe(content));
  const put = (fields: object, name = 'a') =>
    files.put(name, { command: 'run', ramMB: 10, cpu: 20, ...fields }, { by: { key: 'ops' } });
  /** The overrides in the store, as `a ramMB`. */
  const overrides = async (): Promise<string[]> => {
    const { entries } = await world.store.list(PREFIX.overrides);
    return entries.map(({ key, value }) => {
      const { is, fields = {} } = value as { is: string; fields?: object };
      return `${key.slice(PREFIX.overrides.length)} ${Object.keys(fields).join(' ') || is}`;
    });
  };
  const clean = () => expect(git('status', '--porcelain')).toBe('');

  beforeEach(async () => {
    repository = new GitRepository();
    push({ a: {}, b: {} });
    clone = join(repository.scratch, 'clone');
    repository.git('clone', '-q', repository.top, clone);
    git('config', 'pull.rebase', 'false');
    directory = join(clone, 'configurations');
    world = new ConfigurationWorld();
  });
  afterEach(async () => {
    await world.close();
    repository.remove();
  });

  it('stays clean over writes, a removal and a restart, which lose nothing', async () => {
    await start();
    expect(world.lines('the files are never written')).toHaveLength(1);
    await put({ minimumServiceCount: 3 });
    await put({}, 'made');
    await files.remove('b', { by: { key: 'ops' } });
    expect([await inForce(), await inForce('made'), await inForce('b')]).toEqual([
      '10 20 3',
      '10 20 1',
      undefined,
    ]);
    clean();
    expect(readdirSync(directory)).toEqual(['a.json', 'b.json']);
    const record = await world.record('made');
    expect(record && (await files.isInForce(record))).toBe(true);
    await start();
    await files.reload(true);
    expect([await inForce(), await inForce('made'), await inForce('b')]).toEqual([
      '10 20 3',
      '10 20 1',
      undefined,
    ]);
    expect(await overrides()).toEqual(['a minimumServiceCount', 'b absent', 'made made']);
    await files.remove('made');
    expect(await inForce('made')).toBeUndefined();
    expect(files.errors()).toEqual([]);
  });

  it('takes commits after an override, and says whose change a commit ends', async () => {
    await start();
    await put({ minimumServiceCount: 3, cpu: 30 });
    push({ a: { ramMB: 11 }, b: { cpu: 21 } });
    git('pull', '-q');
    await becomes('11 30 3');
    await becomes('10 21 1', 'b');
    // The commit changes a field that a caller has changed: the file wins, and says whose change ended.
    push({ a: { ramMB: 11, cpu: 25 } });
    git('pull', '-q');
    await becomes('11 25 3');
    clean();
    expect(await overrides()).toEqual(['a minimumServiceCount']);
    expect(world.lines('ends what callers had set: cpu (by key ops')).toHaveLength(1);
    const history = await world.store.get(`${PREFIX.histories}a`);
    expect(JSON.stringify(history?.value)).toContain('ends what callers had set: cpu (by key ops');
  });

  it('takes a revert, a removal and a return', async () => {
    await start();
    push({ a: { cpu: 30 } });
    git('pull', '-q');
    await becomes('10 30 1');
    await put({ cpu: 30, ramMB: 99 });
    repository.git('revert', '--no-edit', 'HEAD');
    git('pull', '-q');
    await becomes('99 20 1');
    push({ a: undefined });
    git('pull', '-q');
    await becomes(undefined);
    expect(await overrides()).toEqual([]);
    repository.git('revert', '--no-edit', 'HEAD');
    git('pull', '-q');
    await becomes('10 20 1');
    clean();
  });

  it('brings a removed configuration back when its file changes, and forgets it when the file goes', async () => {
    await start();
    await files.remove('a');
    await files.remove('b');
    push({ a: { ramMB: 12 }, b: undefined });
    git('pull', '-q');
    await becomes('12 20 1');
    await until(async () => expect(await overrides()).toEqual([]));
    expect(await inForce('b')).toBeUndefined();
  });

  it('follows the file again after a reset of one field or of all', async () => {
    await start();
    await put({ minimumServiceCount: 3, cpu: 30 });
    await files.reset('a', 'cpu', { key: 'ops' });
    expect(await inForce()).toBe('10 20 3');
    await files.remove('a');
    await files.reset('a', undefined);
    expect(await inForce()).toBe('10 20 1');
    await expect(files.reset('a', 'cpu')).rejects.toMatchObject({ code: 'DRV_OVERRIDE_UNKNOWN' });
    expect(await overrides()).toEqual([]);
  });

  it('refuses every write where config.json says so, and names the file and the commit', async () => {
    await start('refuse');
    const refused = {
      code: 'DRV_CONFIGURATION_OWNED',
      message: expect.stringContaining(git('rev-parse', 'HEAD')),
    };
    await expect(put({ cpu: 1 })).rejects.toMatchObject(refused);
    await expect(files.remove('a')).rejects.toMatchObject(refused);
    await expect(put({}, 'new')).rejects.toMatchObject({ code: 'DRV_CONFIGURATION_OWNED' });
    clean();
  });

  it('is written after all where config.json says so, and the files then win over overrides', async () => {
    await start();
    await put({ minimumServiceCount: 3 });
    await put({}, 'made');
    await start('file');
    expect([await inForce(), await overrides()]).toEqual(['10 20 1', ['made made']]);
    expect(await inForce('made')).toBe('10 20 1');
    await put({ cpu: 7 });
    expect(git('status', '--porcelain')).toBe('M configurations/a.json');
    await files.remove('made');
    expect(await inForce('made')).toBeUndefined();
  });

  it('begins with the records of a version that wrote it', async () => {
    await start('file');
    await put({ minimumServiceCount: 3 });
    await put({}, 'made');
    const { length } = world.store.transactions;
    await start();
    expect([await inForce(), await inForce('made'), await overrides()]).toEqual(['10 20 3', '10 20 1', []]);
    expect(world.store.transactions).toHaveLength(length);
    git('checkout', '-q', '.');
    await becomes('10 20 1');
    rmSync(join(directory, 'made.json'));
    await becomes(undefined, 'made');
    clean();
  });

  it('is one behind a link, in a linked work tree and in a subdirectory, and none where git ignores it', async () => {
    const link = join(repository.scratch, 'link');
    symlinkSync(directory, link);
    const tree = join(repository.scratch, 'tree');
    git('worktree', 'add', '-q', '--detach', tree);
    const ignored = join(clone, 'ignored');
    mkdirSync(ignored);
    const modes: string[] = [];
    for (const place of [link, join(tree, 'configurations'), ignored]) {
      files = await world.open({ directory: place });
      await files.start();
      modes.push(files.place().writes);
    }
    expect(modes).toEqual(['state', 'state', 'file']);
  });

  it('may be swapped for another work tree', async () => {
    const link = join(repository.scratch, 'link');
    symlinkSync(directory, link);
    directory = link;
    await start();
    await put({ minimumServiceCount: 3 });
    push({ a: { ramMB: 11 } });
    const tree = join(repository.scratch, 'tree');
    git('fetch', '-q');
    git('worktree', 'add', '-q', '--detach', tree, 'origin/main');
    symlinkSync(join(tree, 'configurations'), `${link}.new`);
    renameSync(`${link}.new`, link);
    await files.reload();
    expect(await inForce()).toBe('11 20 3');
    expect(readFileSync(join(tree, 'configurations/a.json'), 'utf8')).toBe(text({ ramMB: 11 }));
  });
});
