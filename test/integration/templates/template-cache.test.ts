import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Pack, pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { TemplateLibrary } from '../../../src/templates/library/library.js';
import { TemplateCache, type TemplateCacheOptions } from '../../../src/templates/transfer/cache.js';
import { nameOfTree } from '../../../src/templates/transfer/tree-record.js';
import { FakeClock } from '../../support/fake-clock.js';
import { packThreads } from '../../support/templates/pack-threads.js';
import {
  addTree,
  forever,
  mountSmallDisk,
  quietLogger,
  readCached,
  readTree,
  type Tree,
  temporaryDirectory,
  writeTree,
} from '../../support/templates/template-trees.js';

const DIGEST = 'd'.repeat(64);

let root: string;
let directory: string;
let clock: FakeClock;

beforeEach(() => {
  root = temporaryDirectory();
  directory = join(root, 'data/templates');
  clock = new FakeClock({ startAt: Date.now() });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

async function startCache(options: Partial<TemplateCacheOptions> = {}): Promise<TemplateCache> {
  const cache = new TemplateCache({ directory, packThreads, logger: quietLogger, clock, ...options });
  await cache.start();
  return cache;
}

async function* emit(...pieces: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** A tar stream with whatever `fill` puts in it. */
async function* archive(fill: (tar: Pack) => void): AsyncGenerator<Buffer> {
  const tar = pack();
  fill(tar);
  tar.finalize();
  for await (const chunk of tar) if (Buffer.isBuffer(chunk)) yield chunk;
}

/** A source that gives something and then nothing more, until it is let go. */
function stuckSource(): { source: AsyncIterable<Buffer>; started: Promise<void>; end: () => void } {
  let end = (): void => {};
  let begin = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const source = (async function* () {
    yield* archive((tar) => tar.entry({ name: 'f' }, 'x'));
    begin();
    await ended;
  })();
  return { source, started, end };
}

async function expectRefused(
  cache: TemplateCache,
  source: AsyncIterable<Buffer>,
  message: RegExp,
): Promise<void> {
  const error: unknown = await cache
    .fetch(DIGEST, { whole: () => source }, forever)
    .catch((thrown: unknown) => thrown);
  if (!DroverError.is(error, 'DRV_TEMPLATE_CORRUPT')) throw error;
  expect(error.message).toMatch(message);
  expect(cache.has(DIGEST)).toBe(false);
  expect(readdirSync(directory)).toEqual([]);
}

describe('adding', () => {
  it('takes in any tree that the library gives, bit for bit', async () => {
    const templates = join(root, 'templates');
    const tree: Tree = {
      '*bin/run.sh': '#!/bin/sh\n',
      'bin/data': Buffer.from([0, 1, 2, 65, 66]),
      'empty file': '',
      'hollow/deeper/': '',
      'ünïcode/💥 and %PORT%.txt': 'text',
      [`${'long-name-'.repeat(12)}/${'x'.repeat(200)}`]: 'long path',
      'a/b/c': 'nested',
      'a.b': 'beside',
      'large.bin': Buffer.alloc(3 * 1024 * 1024 + 17, 'ab'),
      '*larger': Buffer.alloc(9 * 1024 * 1024, 'cd'),
      '*quarter': Buffer.alloc(256 * 1024 + 1, 'ef'),
      'new\nline': 'odd',
    };
    writeTree(join(templates, 'g/a'), tree);
    const library = new TemplateLibrary(templates, clock, quietLogger);
    await library.start();
    const digest = (await library.digest('g', 'a')) ?? '';
    const cache = await startCache();
    await cache.fetch(digest, { whole: () => library.openBundle(digest) }, forever);
    await library.stop();
    expect(cache.has(digest)).toBe(true);
    expect(await readCached(cache, digest)).toEqual(await readTree(join(templates, 'g/a')));
    expect((await cache.tree(digest, forever)).items.map(({ path }) => path)).toContain('hollow/deeper');
  });

  it('keeps trees over a restart and removes what a killed process left', async () => {
    const digest = await addTree(await startCache(), { f: 'x', 'd/': '' });
    mkdirSync(join(directory, '.unfinished-abc/sub'), { recursive: true });
    writeFileSync(join(directory, '.unfinished-abc/sub/f'), 'half');
    const cache = await startCache();
    expect(cache.has(digest)).toBe(true);
    expect(readdirSync(directory)).toEqual([nameOfTree(digest)]);
    expect((await cache.tree(digest, forever)).items).toHaveLength(2);
  });

  it('keeps small files in one pack, and each large one in its own', async () => {
    const cache = await startCache();
    const large = Buffer.alloc(256 * 1024 + 1);
    const digest = await addTree(cache, { a: 'aa', 'd/b': 'bbb', 'd/large': large, 'd/none': '', z: 'z' });
    const { items } = await cache.tree(digest, forever);
    const packs = new Map(items.map(({ path, place }) => [path, place?.pack]));
    expect(items.filter(({ kind }) => kind === 'file').map(({ place }) => place?.at)).toEqual([
      0, 2, 0, 5, 5,
    ]);
    expect(new Set([packs.get('a'), packs.get('d/b'), packs.get('d/none'), packs.get('z')]).size).toBe(1);
    expect(readdirSync(cache.directoryOf(digest)).toSorted()).toEqual(
      ['manifest', 'places', packs.get('a'), packs.get('d/large')].toSorted(),
    );
  });

  it('does not read the source of a tree that it holds', async () => {
    const cache = await startCache();
    const digest = await addTree(cache, { f: 'x' });
    const unread = emit('no tar at all');
    await cache.fetch(digest, { whole: () => unread }, forever);
    expect(await unread.next()).toMatchObject({ done: false });
  });

  it('shares one transfer between concurrent adds of one digest', async () => {
    const other = new TemplateCache({
      directory: join(root, 'other'),
      packThreads,
      logger: quietLogger,
      clock,
    });
    await other.start();
    const digest = await addTree(other, { f: 'x' });
    const cache = await startCache();
    const unread = emit('no tar at all');
    const first = cache.fetch(
      digest,
      { whole: () => archive((tar) => tar.entry({ name: 'f', mode: 0o644 }, 'x')) },
      forever,
    );
    await Promise.all([first, cache.fetch(digest, { whole: () => unread }, forever)]);
    expect(cache.has(digest)).toBe(true);
    expect(await unread.next()).toMatchObject({ done: false });
  });

  it('lets the next one try when the first of several fails', async () => {
    const other = new TemplateCache({
      directory: join(root, 'other'),
      packThreads,
      logger: quietLogger,
      clock,
    });
    await other.start();
    const digest = await addTree(other, { f: 'x' });
    const cache = await startCache();
    const broken = cache.fetch(digest, { whole: () => emit('broken'.repeat(200)) }, forever);
    const good = cache.fetch(
      digest,
      { whole: () => archive((tar) => tar.entry({ name: 'f', mode: 0o644 }, 'x')) },
      forever,
    );
    await expect(broken).rejects.toThrow(/refused/);
    await good;
    expect(cache.has(digest)).toBe(true);
  });

  it('passes the error of the source on and leaves nothing', async () => {
    const cache = await startCache();
    const failure = new DroverError('DRV_CHANNEL_CLOSED', 'the connection was lost');
    const source = (async function* () {
      yield Buffer.alloc(100);
      throw failure;
    })();
    await expect(cache.fetch(DIGEST, { whole: () => source }, forever)).rejects.toBe(failure);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('stops at once on an abort, even when the source is stuck, and leaves nothing', async () => {
    const cache = await startCache();
    const { source, started, end } = stuckSource();
    const abort = new AbortController();
    const adding = cache.fetch(DIGEST, { whole: () => source }, abort.signal);
    const waiting = cache.fetch(DIGEST, { whole: () => emit('') }, abort.signal);
    await started;
    abort.abort();
    const outcomes = await Promise.allSettled([adding, waiting]);
    expect(outcomes).toMatchObject(Array(2).fill({ status: 'rejected', reason: { name: 'AbortError' } }));
    await cache.stop();
    expect(readdirSync(directory)).toEqual([]);
    end();
  });
});

describe('archives that are refused', () => {
  it.each(['../escape', 'a/../../escape', '/absolute', './dot', 'a//b', '..', 'nul\0byte'])(
    'refuses the entry name %j',
    async (name) => {
      const cache = await startCache();
      const source = archive((tar) => {
        tar.entry({ name: 'a', type: 'directory' });
        tar.entry({ name, pax: { path: name } }, 'x');
      });
      await expectRefused(
        cache,
        source,
        /would leave the directory|it has the digest \w{12}; it was damaged/,
      );
      expect(readdirSync(root)).toEqual(['data']);
    },
  );

  it.each(['symlink', 'link', 'character-device', 'block-device', 'fifo', 'contiguous-file'] as const)(
    'refuses an entry of type %s',
    async (type) => {
      const source = archive((tar) => {
        tar.entry({ name: 'd', type: 'directory' });
        tar.entry({ name: 'd/evil', type, linkname: '/etc/passwd', size: 0 }).end(null);
      });
      await expectRefused(await startCache(), source, /d\/evil" is a .*, not a file or directory/);
    },
  );

  it('refuses two entries of one name', async () => {
    const source = archive((tar) => {
      tar.entry({ name: 'f' }, 'one');
      tar.entry({ name: 'f' }, 'two');
    });
    await expectRefused(await startCache(), source, /entry "f" does not fit the others/);
  });

  it('refuses a file as the parent of another', async () => {
    const source = archive((tar) => {
      tar.entry({ name: 'f' }, 'one');
      tar.entry({ name: 'f/g' }, 'two');
    });
    await expectRefused(await startCache(), source, /entry "f\/g" does not fit the others/);
  });

  it('refuses a file whose directory is missing', async () => {
    const source = archive((tar) => tar.entry({ name: 'd/g' }, 'two'));
    await expectRefused(await startCache(), source, /entry "d\/g" does not fit the others/);
  });

  it('refuses too many entries and too many bytes, going by what the headers claim', async () => {
    const cache = await startCache({ limits: { maxEntries: 3, maxBytes: 1000 } });
    const many = archive((tar) => {
      for (let index = 0; index < 4; index++) tar.entry({ name: `f${index}` }, 'x');
    });
    await expectRefused(cache, many, /too many entries/);
    const claimed = archive((tar) => {
      tar.entry({ name: 'f', size: 1001 }).end(Buffer.alloc(1001));
    });
    await expectRefused(cache, claimed, /too many bytes/);
  });

  it('refuses an archive that is cut off, is none, or holds another tree', async () => {
    const cache = await startCache();
    const pieces: Buffer[] = [];
    for await (const piece of archive((tar) => tar.entry({ name: 'f' }, 'y'.repeat(5000))))
      pieces.push(piece);
    const whole = Buffer.concat(pieces);
    await expectRefused(cache, emit(whole.subarray(0, 3000)), /Unexpected end of data/);
    await expectRefused(cache, emit('x'.repeat(2000)), /Invalid tar header/);
    await expectRefused(cache, emit(whole), /it has the digest \w{12}; it was damaged/);
    await expectRefused(cache, emit(), /it has the digest \w{12}; it was damaged/);
  });

  it('refuses what is no digest before it becomes a path', async () => {
    const cache = await startCache();
    for (const digest of ['', '..', '../../etc', 'D'.repeat(64)]) {
      await expect(cache.fetch(digest, { whole: () => emit() }, forever)).rejects.toThrow(
        /is no template digest/,
      );
    }
  });
});

describe('keeping', () => {
  it('says that a tree is gone when somebody deleted it, and forgets it', async () => {
    const digest = await addTree(await startCache(), { f: 'x' });
    const cache = await startCache();
    rmSync(cache.directoryOf(digest), { recursive: true });
    await expect(cache.tree(digest, forever)).rejects.toThrow(/fetched again/);
    expect(cache.has(digest)).toBe(false);
  });

  it.each<[string, string]>([
    ['manifest', '["file","f",false,1,"00"]\n'],
    ['places', '{"packs":["ab"],"items":[]}'],
    ['places', '{"packs":["../../../etc/passwd"],"items":[[0,0]]}'],
    ['places', '{"packs":[],"items":[[0,0]]}'],
    ['places', '{'],
  ])('says that a tree is gone when its %s is damaged (%s), and removes it', async (file, text) => {
    const digest = await addTree(await startCache(), { f: 'x' });
    writeFileSync(join(directory, nameOfTree(digest), file), text);
    const cache = await startCache();
    await expect(cache.tree(digest, forever)).rejects.toThrow(/fetched again/);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('evicts by age and then the longest unused until the rest fits, but nothing that is in use', async () => {
    const cache = await startCache();
    const digests: string[] = [];
    for (const name of ['ancient', 'old', 'used', 'read', 'new']) {
      digests.push(await addTree(cache, { [name]: Buffer.alloc(1000, name) }));
    }
    const [ancient = '', old = '', used = '', read = '', fresh = ''] = digests;
    const ages = new Map([
      [ancient, 5000],
      [used, 4000],
      [read, 3000],
      [old, 100],
      [fresh, 1],
    ]);
    for (const [digest, seconds] of ages) {
      const at = clock.now() / 1000 - seconds;
      utimesSync(cache.directoryOf(digest), at, at);
    }
    const release = cache.pin(read);
    const rule = { maxBytes: 3000, maxAgeMs: 4_500_000, inUse: new Set([used]) };
    expect(await cache.evict(rule, forever)).toEqual([ancient, old]);
    expect(readdirSync(directory).toSorted()).toEqual([used, read, fresh].map(nameOfTree).toSorted());
    release();
    release();
    expect(await cache.evict({ ...rule, maxBytes: 1000 }, forever)).toEqual([read, fresh]);
    expect(cache.has(read)).toBe(false);
  });

  it('counts a look at a tree as use', async () => {
    const cache = await startCache();
    const digest = await addTree(cache, { f: 'x' });
    utimesSync(cache.directoryOf(digest), 1, 1);
    await cache.tree(digest, forever);
    expect(statSync(cache.directoryOf(digest)).mtimeMs).toBeGreaterThan(clock.now() - 5000);
    expect(await cache.evict({ maxBytes: 1e9, maxAgeMs: 60_000, inUse: new Set() }, forever)).toEqual([]);
  });
});

it('says on a full disk what is the matter, and leaves nothing', async (context) => {
  const disk = mountSmallDisk(1024);
  if (disk === undefined) return context.skip('needs the right to mount a tmpfs');
  try {
    const templates = join(disk.directory, 'templates');
    const cache = await startCache({ directory: templates });
    await expect(addTree(cache, { big: Buffer.alloc(3 * 1024 * 1024) })).rejects.toMatchObject({
      code: 'DRV_DISK_WRITE_FAILED',
      message: expect.stringContaining('the disk is full (ENOSPC)'),
    });
    expect(readdirSync(templates)).toEqual([]);
  } finally {
    disk.unmount();
  }
});
