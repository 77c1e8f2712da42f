/** The threads that copy files: what becomes of a batch that fails, and of a thread that ends. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CopyThreads } from '../../../src/runtime/installation/copy-threads.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { temporaryDirectory } from '../../support/templates/template-trees.js';

let target: string;
let threads: CopyThreads;

beforeEach(() => {
  target = temporaryDirectory();
  threads = new CopyThreads(join(REPOSITORY, 'dist/copy-thread-main.js'));
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
  await threads.run(() => ({ target, directories: ['a', 'a/b'], files: [] }));
  const paths = Array.from({ length: 20 }, (_, index) => `a/b/${index}`);
  await Promise.all(
    paths.map((path) => threads.run(() => ({ target, directories: [], files: [file(path)] }))),
  );
  for (const path of paths) expect(readFileSync(join(target, path), 'utf8')).toBe('text');
});

it('says of a batch that fails what the system said, and does nothing of it afterwards', async () => {
  const files = [file('first'), file('second', join(target, 'missing')), file('third')];
  await expect(threads.run(() => ({ target, directories: [], files }))).rejects.toMatchObject({
    code: 'ENOENT',
    path: join(target, 'missing'),
    message: expect.stringContaining('ENOENT: no such file or directory'),
  });
  expect(['first', 'second', 'third'].filter((path) => existsSync(join(target, path)))).toEqual(['first']);
  await expect(
    threads.run(() => ({ target, directories: [], files: [file('first')] })),
  ).rejects.toMatchObject({
    code: 'EEXIST',
  });
});

it('fails the batches of a thread that ends, and begins another one for the next', async () => {
  const program = join(target, 'program.mjs');
  const real = JSON.stringify(join(REPOSITORY, 'dist/copy-thread-main.js'));
  const mark = JSON.stringify(join(target, 'begun'));
  writeFileSync(
    program,
    `import { existsSync, writeFileSync } from 'node:fs';
    if (existsSync(${mark})) await import(${real});
    else { writeFileSync(${mark}, ''); throw new Error('out of order'); }`,
  );
  const own = new CopyThreads(program);
  const work = { target, directories: [], files: [file('copy')] };
  await expect(own.run(() => work)).rejects.toThrow('out of order');
  await own.run(() => work);
  expect(readFileSync(join(target, 'copy'), 'utf8')).toBe('text');
  await own.stop();
  await expect(own.run(() => work)).rejects.toMatchObject({ code: 'DRV_INTERNAL' });
});
