/** Local templates replaced from a storage: whole or not at all, whatever the provider does. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { messageOf } from '../../../src/model/errors.js';
import { TemplateLibrary } from '../../../src/templates/library/library.js';
import { TemplateDirectory } from '../../../src/templates/library/template-directory.js';
import { StorageSync } from '../../../src/templates/storage/storage-sync.js';
import { StorageWorld } from '../../support/templates/storage-world.js';
import { readTree, type Tree, writeTree } from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

const OLD: Tree = { 'old.txt': 'old', 'both.txt': 'old' };

let world: StorageWorld;
let templates: string;
let library: TemplateLibrary;
let sync: StorageSync;

beforeEach(async () => {
  world = new StorageWorld();
  templates = join(world.root, 'templates');
  writeTree(join(templates, 'world/lobby'), OLD);
  const { clock, logger } = world;
  library = new TemplateLibrary(templates, clock, logger);
  await world.start();
  await library.start();
  const local = new TemplateDirectory({
    directory: templates,
    logger,
    onWritten: (group, name) => library.noteWrite(group, name),
  });
  sync = new StorageSync({
    downloads: world.downloads,
    stored: world.library,
    local,
    library,
    logger,
  });
});

afterEach(async () => {
  await sync.stop();
  await library.stop();
  await world.stop();
});

function lobby(): Promise<Record<string, string>> {
  return readTree(join(templates, 'world/lobby'));
}

describe('a sync from a storage', () => {
  it('replaces the local template by the latest version, and instances get it', async () => {
    const before = await library.digest('world', 'lobby');
    world.main.put('world/lobby', 'v1', { 'both.txt': 'new', '*run.sh': '#!/bin/sh' });
    const synced = await sync.fromStorage('world', 'lobby', 'main');
    expect(synced).toMatchObject({ files: 2, bytes: 12 });
    expect(synced.digest).not.toBe(before);
    expect(await library.digest('world', 'lobby')).toBe(synced.digest);
    expect(await lobby()).toEqual({ 'both.txt': 'new', '*run.sh': '#!/bin/sh' });
  });

  it('makes a template that was not there', async () => {
    world.main.put('fresh/one', 'v1', { a: '1' });
    await sync.fromStorage('fresh', 'one', 'main');
    expect(await readTree(join(templates, 'fresh/one'))).toEqual({ a: '1' });
  });

  it('makes instances that take it from the storage itself get the latest version too', async () => {
    const template = { storage: 'main', group: 'world', name: 'lobby' };
    const answer = (): Promise<string> => world.library.digest(template).then(String, messageOf);
    world.main.put('world/lobby', 'v1', { a: '1' });
    await until(async () => expect(await answer()).toMatch(/^[0-9a-f]{64}$/));
    const first = await answer();
    world.main.put('world/lobby', 'v2', { a: '2' });
    const { digest } = await sync.fromStorage('world', 'lobby', 'main');
    await until(async () => expect(await answer()).toBe(digest));
    expect(digest).not.toBe(first);
  });

  it.each<[string, () => void, object]>([
    ['is unknown', () => {}, { code: 'DRV_TEMPLATE_UNKNOWN', status: 404 }],
    [
      'cannot be had',
      () => {
        world.main.failWith = new Error('out of order');
      },
      { code: 'DRV_STORAGE_FAILED', status: 502 },
    ],
    [
      'breaks off in the middle',
      () => {
        world.main.put('world/lobby', 'v1', {});
        world.main.download = async (_group, _name, directory) => {
          writeTree(directory, { half: 'half' });
          throw new Error('broke off');
        };
      },
      { code: 'DRV_STORAGE_FAILED', status: 502 },
    ],
  ])('keeps the local template when that of the storage %s', async (_what, prepare, error) => {
    prepare();
    await expect(sync.fromStorage('world', 'lobby', 'main')).rejects.toMatchObject(error);
    expect(await lobby()).toEqual(OLD);
    expect(await readTree(world.downloadsDirectory)).toEqual({});
  });

  it('refuses storages and names that cannot be', async () => {
    await expect(sync.fromStorage('world', 'lobby', 'local')).rejects.toMatchObject({
      code: 'DRV_STORAGE_UNKNOWN',
      status: 400,
    });
    await expect(sync.fromStorage('..', 'lobby', 'main')).rejects.toMatchObject({ status: 400 });
    expect(await lobby()).toEqual(OLD);
  });

  it('leaves one whole version when several run at once', async () => {
    let version = 0;
    world.main.put('world/lobby', 'v', {});
    world.main.download = async (_group, _name, directory) => {
      const content = String(++version);
      writeTree(directory, { a: content, b: content });
    };
    await Promise.all(Array.from({ length: 5 }, () => sync.fromStorage('world', 'lobby', 'main')));
    const tree = await lobby();
    expect(tree.a).toBe(tree.b);
    expect(version).toBe(5);
  });

  it('ends when the master stops', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    world.main.hold = () => new Promise(() => {});
    const syncing = sync.fromStorage('world', 'lobby', 'main').catch(messageOf);
    await until(() => expect(world.main.calls).toEqual(['version world/lobby']));
    await sync.stop();
    expect(await syncing).toMatch(/abort/i);
    expect(await lobby()).toEqual(OLD);
  });
});
