/** Fetching only what the cache lacks: real trees on disk, the real services over the in-process channel. */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallPeer, type Service, type Services } from '../../../src/channel/protocol/calls.js';
import { createInProcessPair } from '../../../src/channel/protocol/transport.js';
import {
  requestBundle,
  requestParts,
  templateServices,
} from '../../../src/channel/services/template-relay.js';
import type { FetchCost, FileRange } from '../../../src/model/template.js';
import { copyItems } from '../../../src/runtime/installation/workspace-copy.js';
import { mergeLayers } from '../../../src/runtime/installation/workspace-layers.js';
import { TemplateLibrary } from '../../../src/templates/library/library.js';
import { TemplateCache } from '../../../src/templates/transfer/cache.js';
import { decodeManifest } from '../../../src/templates/transfer/manifest.js';
import { TreeManifests } from '../../../src/templates/transfer/tree-manifests.js';
import { FakeClock } from '../../support/fake-clock.js';
import { cachedTrees } from '../../support/templates/cached-trees.js';
import { packThreads } from '../../support/templates/pack-threads.js';
import {
  forever,
  quietLogger,
  readCached,
  readTree,
  temporaryDirectory,
  writeTree,
} from '../../support/templates/template-trees.js';

let root: string;
let template: string;
let clock: FakeClock;
let library: TemplateLibrary;
let parts: TreeManifests;
let cache: TemplateCache;
/** What the wrapper asked for, in order. */
let asked: string[];
/** Changes the bytes of a service on their way. */
let tamper: (service: string, bytes: Buffer) => Buffer;
let services: Services;
let calls: CallPeer;

beforeEach(async () => {
  root = temporaryDirectory();
  template = join(root, 'templates/g/a');
  clock = new FakeClock({ startAt: Date.now() });
  writeTree(template, { 'keep/a': 'aaaa', 'keep/b': 'bbbb', '*run.sh': '#!/bin/sh\n', change: 'old' });
  library = new TemplateLibrary(join(root, 'templates'), clock, quietLogger);
  await library.start();
  parts = new TreeManifests((digest) => library.locate(digest), forever);
  asked = [];
  tamper = (_service, bytes) => bytes;
  services = templateServices({ openBundle: (digest) => library.openBundle(digest), parts });
  calls = connect();
  cache = await newCache('cache');
});

afterEach(async () => {
  await library.stop();
  rmSync(root, { recursive: true });
});

function connect(): CallPeer {
  const [mine, its] = createInProcessPair();
  const watched = Object.entries(services).map(([name, service]): [string, Service] => [
    name,
    (parameters, context) => {
      asked.push(name);
      return tampered(name, service(parameters, context));
    },
  ]);
  const master = new CallPeer(its, Object.fromEntries(watched));
  its.onFrame((frame) => master.handle(frame));
  const wrapper = new CallPeer(mine, {});
  mine.onFrame((frame) => wrapper.handle(frame));
  return wrapper;
}

async function* tampered(
  name: string,
  answer: Promise<unknown> | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  if (answer instanceof Promise) throw new Error('a stream was expected');
  for await (const bytes of answer) yield tamper(name, bytes);
}

async function newCache(name: string): Promise<TemplateCache> {
  const made = new TemplateCache({ directory: join(root, name), packThreads, logger: quietLogger, clock });
  await made.start();
  return made;
}

async function digestNow(): Promise<string> {
  await clock.advance(5000);
  await library.noteWrite('g', 'a');
  return (await library.digest('g', 'a')) ?? '';
}

async function fetch(digest: string): Promise<FetchCost> {
  const whole = () => requestBundle(calls, digest, forever);
  return cache.fetch(digest, { whole, parts: requestParts(calls, digest, forever) }, forever);
}

async function expectHeld(digest: string): Promise<void> {
  expect(await readCached(cache, digest)).toEqual(await readTree(template));
}

/** Where the cache has the content of a file. */
async function placeIn(digest: string, path: string): Promise<{ pack: string; at: number }> {
  const { directory, items } = await cache.tree(digest, forever);
  const place = items.find((item) => item.path === path)?.place;
  if (place === undefined) throw new Error(`no ${path}`);
  return { pack: join(directory, place.pack), at: place.at };
}

async function spoil(digest: string, path: string): Promise<void> {
  const { pack, at } = await placeIn(digest, path);
  const file = openSync(pack, 'r+');
  writeSync(file, 'rot!', at);
  closeSync(file);
}

describe('a tree of which the cache has a part', () => {
  it('takes a pack once that several cached trees share', async () => {
    const hold = async (files: Record<string, string>): Promise<string> => {
      rmSync(template, { recursive: true });
      writeTree(template, files);
      const digest = await digestNow();
      await fetch(digest);
      return digest;
    };
    const first = await hold({ a: 'aaaa', b: 'bbbb' });
    const withA = await hold({ a: 'aaaa', c: 'cccc' });
    const withB = await hold({ b: 'bbbb', d: 'dddd' });
    expect(basename((await placeIn(withA, 'a')).pack)).toBe(basename((await placeIn(withB, 'b')).pack));
    await cache.discard(first);

    const both = await hold({ a: 'aaaa', b: 'bbbb', e: 'eeee' });

    await expectHeld(both);
    expect(asked.at(-1)).toBe('template-files');
  });

  it('comes with only the files that no other tree has, and shares the others', async () => {
    const first = await digestNow();
    expect(await fetch(first)).toMatchObject({ transferredFiles: 4 });
    expect(asked).toEqual(['template-bundle']);
    writeFileSync(join(template, 'change'), 'new');
    writeTree(template, { 'more/c': 'cccc', 'empty/': '' });
    const second = await digestNow();
    expect(await fetch(second)).toMatchObject({ transferredFiles: 2 });
    expect(asked).toEqual(['template-bundle', 'template-manifest', 'template-files']);
    await expectHeld(second);
    const inode = async (digest: string, path: string): Promise<number> =>
      statSync((await placeIn(digest, path)).pack).ino;
    expect(await inode(second, 'keep/a')).toBe(await inode(first, 'keep/a'));
    expect(await inode(second, 'change')).not.toBe(await inode(first, 'change'));
    expect((await cache.tree(second, forever)).items).toHaveLength(8);
  });

  it('of 400 files with one changed costs a small part of its size', async () => {
    const tree: Record<string, string> = {};
    for (let index = 0; index < 400; index++) tree[`d${index % 20}/f${index}`] = `${index} `.repeat(500);
    writeTree(template, tree);
    const first = await digestNow();
    const { transferredBytes: whole } = await fetch(first);
    writeFileSync(join(template, 'd7/f7'), 'changed');
    const second = await digestNow();
    const { transferredBytes, transferredFiles } = await fetch(second);
    expect(transferredFiles).toBe(1);
    expect(transferredBytes).toBeLessThan(whole / 20);
    // The rest is proved by its digest.
    expect((await readCached(cache, second))['d7/f7']).toBe('changed');
  });

  it('leaves the rest of a pack behind of which it wants little', async () => {
    writeTree(template, { bulk: 'b'.repeat(10_000) });
    const first = await digestNow();
    await fetch(first);
    rmSync(join(template, 'bulk'));
    const second = await digestNow();
    expect(await fetch(second)).toMatchObject({ transferredFiles: 0 });
    await expectHeld(second);
    const bytesOf = (digest: string): number =>
      statSync(join(cache.directoryOf(digest), packOf(digest))).size;
    const packOf = (digest: string): string =>
      readdirSync(cache.directoryOf(digest)).find((name) => /^[0-9a-f]+-/.test(name)) ?? '';
    expect(bytesOf(second)).toBeLessThan(100);
    expect(readdirSync(cache.directoryOf(second))).toHaveLength(3);
    await cache.discard(first);
    await expectHeld(second);
  });

  it('shares a large file whose name and mode changed', async () => {
    writeTree(template, { large: Buffer.alloc(300 * 1024, 'x') });
    const first = await digestNow();
    await fetch(first);
    rmSync(join(template, 'large'));
    writeTree(template, { '*moved': Buffer.alloc(300 * 1024, 'x') });
    const second = await digestNow();
    expect(await fetch(second)).toMatchObject({ transferredFiles: 0 });
    await expectHeld(second);
    expect((await placeIn(second, 'moved')).pack).toMatch(/-\d$/);
    expect(statSync((await placeIn(second, 'moved')).pack).nlink).toBe(2);
  });

  it('comes without any file when only names, modes or directories changed', async () => {
    await fetch(await digestNow());
    rmSync(join(template, 'keep/a'));
    writeTree(template, { 'elsewhere/a': 'aaaa', 'keep/twin': 'bbbb', 'hollow/': '' });
    chmodSync(join(template, 'run.sh'), 0o644);
    chmodSync(join(template, 'change'), 0o755);
    const second = await digestNow();
    expect(await fetch(second)).toMatchObject({ transferredFiles: 0 });
    expect(asked.slice(1)).toEqual(['template-manifest']);
    await expectHeld(second);
  });

  it('is found in the cache of a daemon that died, and in no tree that was evicted', async () => {
    const first = await digestNow();
    await fetch(first);
    cache = await newCache('cache');
    writeFileSync(join(template, 'change'), 'new');
    const second = await digestNow();
    expect(await fetch(second)).toMatchObject({ transferredFiles: 1 });
    await clock.advance(10_000);
    await cache.evict({ maxBytes: 0, maxAgeMs: 1, inUse: new Set() }, forever);
    expect(readdirSync(join(root, 'cache'))).toEqual([]);
    await fetch(second);
    expect(asked.slice(-1)).toEqual(['template-bundle']);
    await expectHeld(second);
  });

  it('stays whole when the tree that it shares files with is evicted', async () => {
    const first = await digestNow();
    await fetch(first);
    writeFileSync(join(template, 'change'), 'new');
    const second = await digestNow();
    await fetch(second);
    await cache.discard(first);
    await expectHeld(second);
  });

  it('is asked for whole when nothing is shared', async () => {
    await fetch(await digestNow());
    rmSync(template, { recursive: true });
    writeTree(template, { other: 'nothing in common' });
    await fetch(await digestNow());
    expect(asked).toEqual(['template-bundle', 'template-manifest', 'template-bundle']);
  });
});

describe('a delta that is not what it should be', () => {
  let second: string;

  beforeEach(async () => {
    await fetch(await digestNow());
    writeFileSync(join(template, 'change'), 'x'.repeat(2000));
    second = await digestNow();
    asked = [];
  });

  it.each<[string, string, (bytes: Buffer) => Buffer]>([
    ['a changed byte in a file', 'template-files', (bytes) => flip(bytes, 512 + 700)],
    ['no files at all', 'template-files', () => Buffer.alloc(1024)],
    ['a file cut off', 'template-files', (bytes) => bytes.subarray(0, 1000)],
    [
      'another list',
      'template-manifest',
      (bytes) => Buffer.from(bytes.toString().replace('keep/b', 'keep/z')),
    ],
    ['a list that leads outside', 'template-manifest', () => Buffer.from('["directory","../../out"]\n')],
    ['a list that is none', 'template-manifest', () => Buffer.from('{}\n')],
    ['a list cut off', 'template-manifest', (bytes) => bytes.subarray(0, bytes.length - 3)],
  ])('is refused (%s), and the whole tree asked for', async (_what, service, change) => {
    tamper = (name, bytes) => (name === service ? change(bytes) : bytes);
    expect(await fetch(second)).toMatchObject({ transferredFiles: 4 });
    expect(asked.at(-1)).toBe('template-bundle');
    await expectHeld(second);
    expect(readdirSync(join(root, 'cache')).filter((name) => name.startsWith('.unfinished'))).toEqual([]);
  });

  it('is refused for good when the whole is damaged, too', async () => {
    tamper = (name, bytes) => (name === 'template-manifest' ? bytes : flip(bytes, 600));
    await expect(fetch(second)).rejects.toMatchObject({ code: 'DRV_TEMPLATE_CORRUPT' });
    expect(cache.has(second)).toBe(false);
    expect(readdirSync(join(root, 'cache')).filter((name) => name.startsWith('.unfinished'))).toEqual([]);
  });

  it('takes nothing from a tree of the cache that was damaged on its disk, and drops that one', async () => {
    const [first = ''] = [...(await cachedTrees(join(root, 'cache'))).keys()];
    await spoil(first, 'keep/a');
    await spoil(first, 'keep/b');
    expect(await fetch(second)).toMatchObject({ transferredFiles: 3 });
    await expectHeld(second);
    expect(cache.has(first)).toBe(false);
  });

  it.each<[string, (pack: string) => void]>([
    ['is missing', (pack) => rmSync(pack)],
    ['is cut off', (pack) => truncateSync(pack, 1)],
  ])('takes nothing from a pack that %s', async (_what, change) => {
    const [first = ''] = [...(await cachedTrees(join(root, 'cache'))).keys()];
    change((await placeIn(first, 'keep/a')).pack);
    expect(await fetch(second)).toMatchObject({ transferredFiles: 4 });
    await expectHeld(second);
    expect(cache.has(first)).toBe(false);
  });
});

describe('what instances do', () => {
  it('never reaches the cache: working directories are copies', async () => {
    const digest = await digestNow();
    await fetch(digest);
    const layer = { label: 'g/a', ...(await cache.tree(digest, forever)) };
    const working = join(root, 'working');
    writeTree(working, {});
    await copyItems(packThreads, [...mergeLayers([layer]).values()], working, forever);
    appendFileSync(join(working, 'keep/a'), 'written by an instance');
    await expectHeld(digest);
    expect(statSync(join(working, 'keep/a')).nlink).toBe(1);
  });
});

describe('a manifest', () => {
  it('with an entry longer than any path is refused before it is parsed', async () => {
    const nested = Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}\n`);
    await expect(decodeManifest([nested], '0'.repeat(64))).rejects.toMatchObject({
      code: 'DRV_TEMPLATE_CORRUPT',
      message: expect.stringContaining('an entry that is too long'),
    });
  });

  it('is read in turns', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `["directory","${index}"]\n`);
    const reading = decodeManifest([Buffer.from(`${lines.join('')}{}\n`)], '0'.repeat(64));
    const ends: string[] = [];
    await Promise.all([
      reading.catch(() => ends.push('manifest')),
      new Promise<void>((resolve) => setImmediate(resolve)).then(() => ends.push('another')),
    ]);
    expect(ends).toEqual(['another', 'manifest']);
  });
});

describe('the master', () => {
  it('gives the manifest of a digest that it has, and files in its order only', async () => {
    const digest = await digestNow();
    const items = await decodeManifest(parts.manifest(digest), digest);
    expect(items.map(({ path }) => path)).toEqual(['change', 'keep', 'keep/a', 'keep/b', 'run.sh']);
    const take = async (ranges: readonly FileRange[]) => (await parts.files(digest, ranges).next()).value;
    expect(String(await take([[2, 1]]))).toContain('keep/a');
    for (const ranges of [
      [[4, 2]],
      [[9, 1]],
      [
        [2, 2],
        [3, 1],
      ],
    ] as const)
      await expect(take(ranges)).rejects.toMatchObject({ code: 'DRV_REQUEST_INVALID' });
    await expect(parts.manifest('0'.repeat(64)).next()).rejects.toMatchObject({
      code: 'DRV_TEMPLATE_UNKNOWN',
    });
  });

  it('ends the stream when a file is not any more what the list says', async () => {
    const digest = await digestNow();
    await parts.manifest(digest).next();
    writeFileSync(join(template, 'change'), 'meanwhile');
    await expect(parts.files(digest, [[0, 1]]).next()).rejects.toThrow(/changed while it was read/);
    await expect(parts.manifest(digest).next()).rejects.toMatchObject({ code: 'DRV_TEMPLATE_UNKNOWN' });
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}
