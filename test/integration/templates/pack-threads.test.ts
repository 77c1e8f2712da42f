/** The threads that work with packs: hashes, what becomes of a batch that fails, and of a thread that ends. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ContentHashes } from '../../../src/templates/transfer/content-hashes.js';
import { PackThreads } from '../../../src/templates/transfer/pack-threads.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { temporaryDirectory } from '../../support/templates/template-trees.js';

let target: string;
let threads: PackThreads;

beforeEach(() => {
  target = temporaryDirectory();
  threads = new PackThreads(join(REPOSITORY, 'dist/pack-thread-main.js'));
  writeFileSync(join(target, 'source'), 'text');
});

afterEach(async () => {
  await threads.stop();
  rmSync(target, { recursive: true });
});

const file = (path: string, source = join(target, 'source')) => ({
  source,
  at: 0,
  size: 4,
  mode: 0o644,
  path,
});

it('makes directories and files, several batches at once', async () => {
  await threads.copy(() => ({ target, directories: ['a', 'a/b'], files: [] }));
  const paths = Array.from({ length: 20 }, (_, index) => `a/b/${index}`);
  await Promise.all(
    paths.map((path) => threads.copy(() => ({ target, directories: [], files: [file(path)] }))),
  );
  for (const path of paths) expect(readFileSync(join(target, path), 'utf8')).toBe('text');
});

it('says of a batch that fails what the system said, and does nothing of it afterwards', async () => {
  const files = [file('first'), file('second', join(target, 'missing')), file('third')];
  await expect(threads.copy(() => ({ target, directories: [], files }))).rejects.toMatchObject({
    code: 'ENOENT',
    path: join(target, 'missing'),
    message: expect.stringContaining('ENOENT: no such file or directory'),
  });
  expect(['first', 'second', 'third'].filter((path) => existsSync(join(target, path)))).toEqual(['first']);
  await expect(
    threads.copy(() => ({ target, directories: [], files: [file('first')] })),
  ).rejects.toMatchObject({
    code: 'EEXIST',
  });
});

it('hashes contents of a pack, small and large ones, and what is there of one that is cut off', async () => {
  const pack = join(target, 'pack');
  const content = Buffer.alloc(5 * 1024 * 1024, 'some content ');
  writeFileSync(pack, content);
  const places: [number, number][] = [
    [0, 0],
    [7, 10],
    [1, 5_000_000],
    [content.length - 3, 10],
  ];
  const contents = places.map(([at, size]) => ({ at, size }));
  const hashes = await threads.hash({ pack, contents });
  expect(hashes.map((hash) => hash.toString('hex'))).toEqual(
    places.map(([at, size]) =>
      createHash('sha256')
        .update(content.subarray(at, at + size))
        .digest('hex'),
    ),
  );
  await expect(threads.hash({ pack: join(target, 'missing'), contents })).rejects.toMatchObject({
    code: 'ENOENT',
  });
});

it('gives up what is left to hash when its caller does', async () => {
  const abort = new AbortController();
  const hashes = new ContentHashes(threads, abort.signal);
  const pack = join(target, 'source');
  const taken: Buffer[] = [];
  const content = { pack, at: 0, size: 4, take: (hash: Buffer) => void taken.push(hash) };
  hashes.add({ ...content, written: () => new Promise<void>(() => undefined) });
  const done = hashes.done();
  abort.abort(new Error('no more'));
  await expect(done).rejects.toThrow('no more');
  expect(taken).toEqual([]);
});

it('fails the batches of a thread that ends, and begins another one for the next', async () => {
  const program = join(target, 'program.mjs');
  const real = JSON.stringify(join(REPOSITORY, 'dist/pack-thread-main.js'));
  const mark = JSON.stringify(join(target, 'begun'));
  writeFileSync(
    program,
    `import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
    if (existsSync(${mark})) await import(${real});
    else { writeFileSync(${mark}, ''); throw new Error('out of order'); }`,
  );
  const own = new PackThreads(program);
  const work = { target, directories: [], files: [file('copy')] };
  await expect(own.copy(() => work)).rejects.toThrow('out of order');
  await own.copy(() => work);
  expect(readFileSync(join(target, 'copy'), 'utf8')).toBe('text');
  await own.stop();
  await expect(own.copy(() => work)).rejects.toMatchObject({ code: 'DRV_INTERNAL' });
});
