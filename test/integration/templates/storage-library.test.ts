/** The master's copies of templates from storages, with a provider that does what the test says. */

import { mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { messageOf } from '../../../src/model/errors.js';
import type { StoredTemplate } from '../../../src/templates/storage/storage-provider.js';
import { packWhole } from '../../../src/templates/transfer/bundle.js';
import { TemplateCache } from '../../../src/templates/transfer/cache.js';
import { packThreads } from '../../support/templates/pack-threads.js';
import { StorageWorld } from '../../support/templates/storage-world.js';
import { forever, quietLogger, readCached, readTree } from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

const LOBBY: StoredTemplate = { storage: 'main', group: 'world', name: 'lobby' };

let world: StorageWorld;

beforeEach(async () => {
  world = new StorageWorld();
  await world.start();
});

afterEach(() => world.stop());

/** `digest` as text: `sha ...`, or what it throws. */
async function ask(template = LOBBY): Promise<string> {
  return await world.library.digest(template).then((digest) => `sha ${digest.slice(0, 6)}`, messageOf);
}

/** Asks until there is an answer for the provider's present version. */
async function settled(template = LOBBY): Promise<string> {
  return await until(async () => {
    const answer = await ask(template);
    expect(answer).not.toMatch(/is being/);
    expect(world.library.news(template)).toBeUndefined();
    return answer;
  });
}

async function treeOf(template: StoredTemplate = LOBBY): Promise<Record<string, string>> {
  const { storage, group, name } = template;
  return await readTree(join(world.directory, storage, group, name));
}

async function* bundleOf(digest: string): AsyncGenerator<Buffer> {
  const place = await world.library.locate(digest);
  if (place !== undefined) yield* packWhole(place, forever);
}

describe('a group of a storage', () => {
  const found = (group = 'world') => {
    const { templates, pending, problems } = world.library.group(group);
    return [pending ?? templates.map(({ storage, name }) => `${storage} ${name}`), ...problems];
  };
  const answered = (group = 'world') =>
    until(() => {
      expect(world.library.group(group).pending).toBeUndefined();
      return found(group);
    });

  it('is asked for when it is needed, and then at most once a minute; its listeners hear of each change', async () => {
    world.main.put('world/lobby', 'v1', {});
    world.main.put('world/no good name', 'v1', {});
    world.main.put('other/x', 'v1', {});
    world.providers.set('cannot', { version: async () => null, download: async () => {} });
    expect(found()[0]).toMatch(/^group world of storage (?:main|cannot) is being asked for$/);
    expect(await answered()).toEqual([['main lobby']]);
    expect(await answered('none')).toEqual([[]]);
    await until(() => expect(world.told).toEqual(expect.arrayContaining(['world/', 'none/'])));
    world.main.put('world/arena', 'v1', {});
    await world.clock.advance(59_000);
    expect(found()).toEqual([['main lobby']]);
    world.told.length = 0;
    await world.clock.advance(1000);
    expect(found()).toEqual([['main lobby']]);
    await until(() => expect(found()).toEqual([['main arena', 'main lobby']]));
    expect(world.told).toEqual(['world/']);
    expect(world.main.calls.filter((call) => call === 'list world')).toHaveLength(2);
  });

  it('keeps its last answer while the storage fails, or the copies that the master has', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    await settled();
    world.main.put('world/arena', 'v1', {});
    expect(await answered()).toEqual([['main arena', 'main lobby']]);
    world.main.failWith = new Error('no route');
    await world.clock.advance(60_000);
    const problem = 'group world of storage main cannot be had: no route';
    found();
    await until(() => expect(found()).toEqual([['main arena', 'main lobby'], problem]));
    await world.restart();
    found();
    expect(await answered()).toEqual([['main lobby'], problem]);
    world.told.length = 0;
    world.main.failWith = undefined;
    await world.clock.advance(1000);
    expect(world.told).toEqual(['world/']);
    found();
    await until(() => expect(found()).toEqual([['main arena', 'main lobby']]));
  });

  it('that gets no answer in 15 s stands in the way of nobody any longer', async () => {
    world.main.hold = () => new Promise(() => {});
    expect(found()).toEqual(['group world of storage main is being asked for']);
    await world.clock.advance(15_000);
    expect(await answered()).toEqual([
      [],
      'group world of storage main cannot be had: no answer within 15 s',
    ]);
  });
});

describe('a template of a storage', () => {
  it('is downloaded when it is needed first, and then served by digest', async () => {
    world.main.put('world/lobby', 'v1', { 'a.txt': 'one', '*run.sh': '#!/bin/sh\n', 'empty/': '' });
    expect(await settled()).toMatch(/^sha /);
    const digest = await world.library.digest(LOBBY);
    expect(await treeOf()).toEqual({ 'a.txt': 'one', '*run.sh': '#!/bin/sh\n', 'empty/': '' });
    expect(world.main.calls).toEqual(['version world/lobby', 'download world/lobby']);
    expect(world.told).toContain('world/lobby');
    const cache = new TemplateCache({
      packThreads,
      directory: join(world.root, 'cache'),
      logger: quietLogger,
      clock: world.clock,
    });
    await cache.start();
    expect(world.library.hasSeen(digest)).toBe(true);
    await cache.fetch(digest, { whole: () => bundleOf(digest) }, forever);
    expect(await readCached(cache, digest)).toEqual(await treeOf());
    expect(readdirSync(world.downloadsDirectory)).toEqual([]);
  });

  it('is compared with the provider once a minute at most, however many need it', async () => {
    world.main.put('world/lobby', 'v1', { 'a.txt': 'one' });
    const first = await settled();
    world.main.put('world/lobby', 'v2', { 'b.txt': 'two' });
    await world.clock.advance(59_000);
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([first, first, first]);
    expect(world.main.calls).toHaveLength(2);
    await world.clock.advance(1000);
    await Promise.all([ask(), ask(), ask()]);
    const second = await settled();
    expect(second).not.toBe(first);
    expect(await treeOf()).toEqual({ 'b.txt': 'two' });
    expect(world.main.calls.slice(2)).toEqual(['version world/lobby', 'download world/lobby']);
    await world.clock.advance(60_000);
    expect(await settled()).toBe(second);
    expect(world.main.calls.slice(4)).toEqual(['version world/lobby']);
  });

  it('makes nobody wait while it is downloaded, says so, and tells when it is there', async () => {
    let go = (): void => {};
    world.main.put('world/lobby', 'v1', { a: '1' });
    world.main.hold = () => new Promise((resolve) => (go = resolve));
    const first = ask();
    await world.clock.advance(200);
    expect(await first).toBe(
      'template world/lobby of storage main is being compared with the latest version',
    );
    await until(() => expect(world.main.calls).toEqual(['version world/lobby']));
    go();
    await until(() => expect(world.main.calls).toContain('download world/lobby'));
    expect(await ask()).toBe('template world/lobby of storage main is being downloaded');
    const { length } = world.told;
    go();
    await until(() => expect(world.told.length).toBeGreaterThan(length));
    expect(await ask()).toMatch(/^sha /);
  });

  it('is tried again with a growing delay while the provider fails, and is there when it comes back', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    world.main.failWith = new Error('connect ECONNREFUSED 10.0.0.1:9000');
    const expected = 'template world/lobby of storage main cannot be had: connect ECONNREFUSED 10.0.0.1:9000';
    expect(await settled()).toBe(expected);
    world.library.onChange(() => void ask());
    const triesWithin = async (ms: number): Promise<number> => {
      const { length } = world.main.calls;
      await world.clock.advance(ms);
      await until(async () => expect(await ask()).toBe(expected));
      return world.main.calls.length - length;
    };
    expect(await triesWithin(999)).toBe(0);
    expect(await triesWithin(1)).toBe(1);
    expect(await triesWithin(1999)).toBe(0);
    expect(await triesWithin(1)).toBe(1);
    await world.clock.advance(600_000);
    world.main.failWith = undefined;
    await world.clock.advance(60_000);
    expect(await settled()).toMatch(/^sha /);
    expect(world.log).toContain('template world/lobby of storage main is there again');
  });

  it('is used as it was while the provider fails, with a line in the log for each try', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    const first = await settled();
    world.main.failWith = new Error('out of order');
    await world.clock.advance(60_000);
    expect(await settled()).toBe(first);
    expect(world.log.at(-1)).toBe(
      'template world/lobby of storage main cannot be had: out of order; tried again in 1.0 s if it is needed then',
    );
  });

  it('is the answer while the provider is asked, with a word that a newer one may come', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    const first = await settled();
    expect(world.library.news(LOBBY)).toBeUndefined();
    world.main.put('world/lobby', 'v2', { a: '2' });
    let go = (): void => {};
    world.main.hold = () => new Promise((resolve) => (go = resolve));
    await world.clock.advance(60_000);
    const asking = ask();
    await world.clock.advance(200);
    expect(await asking).toBe(first);
    expect(world.library.news(LOBBY)).toBe(
      'template world/lobby of storage main is being compared with the latest version',
    );
    go();
    await until(() => expect(world.main.calls.at(-1)).toBe('download world/lobby'));
    expect(await ask()).toBe(first);
    expect(world.library.news(LOBBY)).toBe('template world/lobby of storage main is being downloaded');
    const { length } = world.told;
    go();
    await until(() => expect(world.told.length).toBeGreaterThan(length));
    expect(await ask()).not.toBe(first);
    expect(world.library.news(LOBBY)).toBeUndefined();
  });

  it('keeps nobody waiting for a storage that hangs, but for the first look, and one that was asked for', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    const first = await settled();
    world.main.hold = () => new Promise(() => {});
    const look = async (): Promise<string | undefined> => {
      const asking = ask();
      await world.clock.advance(200);
      expect(await asking).toBe(first);
      return world.library.news(LOBBY);
    };
    await world.clock.advance(60_000);
    expect(await look()).toContain('is being compared');
    // No answer within 15 s; the next looks follow after 1, 2, 4 s.
    await world.clock.advance(16_000);
    const { length } = world.main.calls;
    for (let second = 0; second < 120; second++) {
      expect(await look()).toBeUndefined();
      await world.clock.advance(800);
    }
    expect(world.main.calls.length).toBeGreaterThan(length + 2);
    world.library.refresh(() => true);
    await world.clock.advance(16_000);
    world.library.refresh(() => true);
    expect(await look()).toContain('is being compared');
  });

  it('is not used any more when the provider has it no longer', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    await settled();
    world.main.templates.clear();
    await world.clock.advance(60_000);
    expect(await settled()).toBe('storage main has no template world/lobby');
  });

  it('is asked for at once after a sync', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    await settled();
    world.main.put('world/lobby', 'v2', { a: '2' });
    world.library.refresh(({ name }) => name === 'other');
    await settled();
    expect(await treeOf()).toEqual({ a: '1' });
    world.library.refresh(({ name }) => name === 'lobby');
    await settled();
    expect(await treeOf()).toEqual({ a: '2' });
  });

  it('outlives a restart of the master, and the provider is asked only for the version', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    const first = await settled();
    const digest = await world.library.digest(LOBBY);
    await world.restart();
    expect(world.library.copied()).toEqual([LOBBY]);
    const { length } = world.main.calls;
    // A wrapper asks for the tree before any instance needed it.
    const chunks: Buffer[] = [];
    for await (const chunk of bundleOf(digest)) chunks.push(chunk);
    expect(Buffer.concat(chunks).length).toBeGreaterThan(512);
    expect(world.main.calls).toHaveLength(length);
    expect(await settled()).toBe(first);
    expect(world.main.calls.slice(length)).toEqual(['version world/lobby']);
  });

  it('is downloaded again when somebody removed or damaged the copy', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    const first = await settled();
    rmSync(join(world.directory, 'main/world/lobby'), { recursive: true });
    await world.restart();
    expect(await settled()).toBe(first);
    writeFileSync(join(world.directory, 'main/world/.lobby.version'), '{"versi');
    await world.restart();
    expect(await settled()).toBe(first);
    expect(world.main.calls.filter((call) => call.startsWith('download'))).toHaveLength(3);
  });

  it('goes at a start when nothing needed it for 30 days', async () => {
    world.main.put('world/lobby', 'v1', { a: '1' });
    world.main.put('world/other', 'v1', { a: '1' });
    await settled();
    await settled({ ...LOBBY, name: 'other' });
    const old = world.clock.now() / 1000 - 31 * 86_400;
    utimesSync(join(world.directory, 'main/world/.other.version'), old, old);
    await world.restart();
    expect(world.library.copied()).toEqual([LOBBY]);
    expect(readdirSync(join(world.directory, 'main/world')).toSorted()).toEqual(['.lobby.version', 'lobby']);
  });

  it('leaves nothing behind when the process is killed during a download', async () => {
    mkdirSync(join(world.downloadsDirectory, 'download-0123456789abcdef/x'), { recursive: true });
    await world.restart();
    expect(readdirSync(world.downloadsDirectory)).toEqual([]);
  });
});

describe('what a provider gives', () => {
  it.each<[string, (directory: string) => void, RegExp]>([
    [
      'a symbolic link',
      (directory) => symlinkSync('/etc/passwd', join(directory, 'x')),
      /x is a symbolic link/,
    ],
    ['too much', (directory) => writeFileSync(join(directory, 'x'), Buffer.alloc(10_001)), /10001 bytes/],
    [
      'too many files',
      (directory) => {
        for (let index = 0; index < 101; index++) writeFileSync(join(directory, String(index)), '');
      },
      /101 entries/,
    ],
  ])('is refused when it holds %s, and nothing of it is kept', async (_what, write, message) => {
    world.main.put('world/lobby', 'v1', {});
    world.main.download = async (_group, _name, directory) => write(directory);
    expect(await settled()).toMatch(message);
    expect(readdirSync(world.downloadsDirectory)).toEqual([]);
    expect(readdirSync(world.directory)).toEqual([]);
  });

  it.each([5, '', 'x'.repeat(1025), undefined])('is refused when the version is %j', async (version) => {
    world.providers.set('main', {
      ...world.main,
      version: async () => version as string,
      download: async () => {},
    });
    expect(await settled()).toContain('its version is not a text of 1 to 1024 characters');
  });

  it('is waited for in bounds: 15 s for a version, and the given time for a download', async () => {
    world.main.put('world/lobby', 'v1', {});
    const version = world.main.version.bind(world.main);
    const hang = (what: string) => (): Promise<never> => {
      world.main.calls.push(what);
      return new Promise(() => {});
    };
    world.main.version = hang('hanging version');
    const first = ask();
    await until(() => expect(world.main.calls).toContain('hanging version'));
    await world.clock.advance(15_000);
    await first;
    expect(await settled()).toContain('no answer within 15 s');
    world.main.version = version;
    world.main.download = hang('hanging download');
    await world.clock.advance(60_000);
    const second = ask();
    await until(() => expect(world.main.calls).toContain('hanging download'));
    await world.clock.advance(600_000);
    await second;
    expect(await settled()).toContain('no answer within 600 s');
  });

  it('is asked of the storage that is named, and an unknown one is an error with the known names', async () => {
    await expect(world.library.digest({ ...LOBBY, storage: 'nope' })).rejects.toMatchObject({
      code: 'DRV_STORAGE_UNKNOWN',
      message:
        'storage nope is not registered; registered are: main (extensions bring storages, local is templates/ itself)',
    });
    await expect(world.library.digest({ ...LOBBY, group: '..' })).rejects.toMatchObject({
      code: 'DRV_REQUEST_INVALID',
    });
  });
});
