import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { TemplateLibrary } from '../../../src/templates/library/library.js';
import { bytesRead } from '../../support/bytes-read.js';
import { FakeClock } from '../../support/fake-clock.js';
import {
  quietLogger,
  type Tree,
  temporaryDirectory,
  writeTree,
} from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

const HOUR_MS = 3_600_000;

let directory: string;
let clock: FakeClock;
let library: TemplateLibrary;
let changes: string[];

beforeEach(() => {
  directory = temporaryDirectory();
  // Later than every file here, so that none counts as changed just now.
  clock = new FakeClock({ startAt: Date.now() + HOUR_MS });
  changes = [];
});

afterEach(async () => {
  await library.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function startLibrary(): Promise<void> {
  library = new TemplateLibrary(directory, clock, quietLogger);
  library.onChange((group, name) => changes.push(`${group}/${name}`));
  await library.start();
}

function write(template: string, tree: Tree): void {
  writeTree(join(directory, template), tree);
}

async function digestOf(template: string): Promise<string | null> {
  const [group = '', name = ''] = template.split('/');
  return library.digest(group, name);
}

describe('the names', () => {
  it('lists groups and templates in order, and nothing that is no directory or has an impossible name', async () => {
    write('b/two', {});
    write('b/one', { f: 'x' });
    write('a/x', {});
    write('empty', {});
    write('b', { README: 'text' });
    write('.git/objects', {});
    write('b/bad name', {});
    symlinkSync('/etc', join(directory, 'b', 'link'));
    symlinkSync(join(directory, 'a'), join(directory, 'linked-group'));
    await startLibrary();
    expect([...library.groups()]).toEqual([
      ['a', ['x']],
      ['b', ['one', 'two']],
      ['empty', []],
    ]);
  });

  it('makes a missing directory', async () => {
    rmSync(directory, { recursive: true });
    await startLibrary();
    expect(library.groups().size).toBe(0);
  });

  it('follows templates that appear, are renamed and disappear, and tells the listeners', async () => {
    write('a/x', {});
    await startLibrary();
    changes = [];
    write('new/deep', { 'sub/f': 'x' });
    await until(() => expect(changes).toEqual(['new/deep']));
    renameSync(join(directory, 'a/x'), join(directory, 'a/y'));
    await until(() => expect(library.groups().get('a')).toEqual(['y']));
    await until(() => expect(changes.toSorted()).toEqual(['a/x', 'a/y', 'new/deep']));
    rmSync(join(directory, 'new'), { recursive: true });
    await until(() => expect([...library.groups().keys()]).toEqual(['a']));
  });

  it('finds names again after the whole directory was replaced, which no watch survives', async () => {
    write('a/x', {});
    await startLibrary();
    rmSync(directory, { recursive: true });
    write('b/y', {});
    await until(async () => {
      await clock.advance(10_000);
      expect([...library.groups().keys()]).toEqual(['b']);
    });
  });
});

describe('the digest', () => {
  it('is the same for the same content, whatever the times and the order of writing', async () => {
    write('g/a', { 'x/1': 'one', 'y.txt': 'two', '*run.sh': 'go', 'hollow/': '' });
    write('g/b', { 'hollow/': '', '*run.sh': 'go', 'y.txt': 'two', 'x/1': 'one' });
    utimesSync(join(directory, 'g/b/y.txt'), 1, 1);
    await startLibrary();
    expect(await digestOf('g/a')).toMatch(/^[0-9a-f]{64}$/);
    expect(await digestOf('g/b')).toBe(await digestOf('g/a'));
  });

  it.each([
    ['a content', { f: 'other', 'd/g': '' }],
    ['a path', { f2: 'text', 'd/g': '' }],
    ['the executable bit', { '*f': 'text', 'd/g': '' }],
    ['an empty directory', { f: 'text', 'd/g': '', 'e/': '' }],
    ['what is in which file', { f: '', 'd/g': 'text' }],
  ])('differs by %s', async (_what, tree) => {
    write('g/a', { f: 'text', 'd/g': '' });
    write('g/b', tree);
    await startLibrary();
    expect(await digestOf('g/b')).not.toBe(await digestOf('g/a'));
  });

  it('is null for a template that does not exist, and refuses names that would leave the directory', async () => {
    write('g/a', {});
    await startLibrary();
    expect(await digestOf('g/none')).toBeNull();
    expect(await digestOf('none/none')).toBeNull();
    await expect(library.digest('g', '..')).rejects.toThrow(DroverError);
    await expect(library.digest('../g', 'a')).rejects.toMatchObject({ code: 'DRV_REQUEST_INVALID' });
  });

  it('is told to the listeners soon after an edit, once for many files, though nobody asks for it', async () => {
    write('g/a', { f: 'one', 'd/g': '' });
    write('g/b', {});
    await startLibrary();
    const first = await digestOf('g/a');
    await digestOf('g/b');
    await clock.advance(300);
    changes = [];
    write('g/a', { f: 'two', 'd/g': 'more', 'd/h': 'new' });
    await until(async () => {
      await clock.advance(300);
      expect(changes).toEqual(['g/a']);
    });
    expect(await digestOf('g/a')).not.toBe(first);
    await clock.advance(60_000);
    expect(changes).toEqual(['g/a']);
  });

  it('is told again when a template was away for a moment, in which somebody asked for it', async () => {
    write('g/a', { f: 'one' });
    await startLibrary();
    await digestOf('g/a');
    changes = [];
    renameSync(join(directory, 'g/a'), join(directory, 'away'));
    expect(await digestOf('g/a')).toBeNull();
    renameSync(join(directory, 'away'), join(directory, 'g/a'));
    await until(async () => {
      await clock.advance(300);
      expect(changes.at(-1)).toBe('g/a');
      expect(library.groups().get('g')).toEqual(['a']);
    });
    expect(await digestOf('g/a')).not.toBeNull();
  });

  it('reads an unchanged tree once, also for many callers at a time', async () => {
    const sizeBytes = 16 * 1024 * 1024;
    write('g/a', { big: Buffer.alloc(sizeBytes, 'x') });
    await startLibrary();
    const before = bytesRead();
    await Promise.all(Array.from({ length: 20 }, () => digestOf('g/a')));
    await clock.advance(1000);
    await Promise.all(Array.from({ length: 20 }, () => digestOf('g/a')));
    expect(bytesRead() - before).toBeLessThan(1.5 * sizeBytes);
  });

  it('reads a large file again only when that file has changed', async () => {
    const sizeBytes = 16 * 1024 * 1024;
    write('g/a', { big: Buffer.alloc(sizeBytes, 'x'), 'd/small': 'one' });
    await startLibrary();
    const first = await digestOf('g/a');
    write('g/a', { 'd/small': 'two' });
    await clock.advance(1000);
    const before = bytesRead();
    const second = await digestOf('g/a');
    expect(second).not.toBe(first);
    expect(bytesRead() - before).toBeLessThan(0.5 * sizeBytes);
    write('g/a', { big: Buffer.alloc(sizeBytes, 'y') });
    await clock.advance(1000);
    const third = await digestOf('g/a');
    expect(third).not.toBe(second);
    write('g/b', { big: Buffer.alloc(sizeBytes, 'y'), 'd/small': 'two' });
    expect(await digestOf('g/b')).toBe(third);
  });

  it('sees an edit that leaves size and times as they were', async () => {
    write('g/a', { f: 'one' });
    const path = join(directory, 'g/a/f');
    utimesSync(path, 1000, 1000);
    await startLibrary();
    const first = await digestOf('g/a');
    writeFileSync(path, 'two');
    utimesSync(path, 1000, 1000);
    await clock.advance(1000);
    expect(await digestOf('g/a')).not.toBe(first);
  });

  it('sees every one of many edits within one tick of the file system', async () => {
    clock = new FakeClock({ startAt: Date.now() });
    write('g/a', { f: '00' });
    await startLibrary();
    const seen = new Set([await digestOf('g/a')]);
    for (let edit = 10; edit < 30; edit++) {
      writeFileSync(join(directory, 'g/a/f'), String(edit));
      await clock.advance(1000);
      seen.add(await digestOf('g/a'));
    }
    expect(seen.size).toBe(21);
  });
});

describe('unsafe trees', () => {
  async function refusal(template = 'g/a'): Promise<string> {
    await startLibrary();
    const error: unknown = await digestOf(template).catch((thrown: unknown) => thrown);
    if (!DroverError.is(error, 'DRV_TEMPLATE_UNSAFE')) throw error;
    return error.message;
  }

  it('refuses a link to a file, naming it', async () => {
    write('g/a', { 'sub/ok': 'x' });
    symlinkSync('/etc/passwd', join(directory, 'g/a/sub/evil'));
    expect(await refusal()).toMatch(/^template g\/a: sub\/evil is a symbolic link; a template holds/);
  });

  it('refuses a link to a directory', async () => {
    write('g/a', {});
    symlinkSync('/etc', join(directory, 'g/a/etc'));
    expect(await refusal()).toContain('etc is a symbolic link');
  });

  it('refuses a pipe without waiting for it', async () => {
    write('g/a', {});
    spawnSync('mkfifo', [join(directory, 'g/a/pipe')]);
    expect(await refusal()).toContain('pipe is a device, socket or pipe');
  });

  it('refuses a template and a group that are links themselves', async () => {
    const elsewhere = temporaryDirectory();
    writeTree(elsewhere, { 'a/f': 'secret' });
    mkdirSync(join(directory, 'g'));
    symlinkSync(join(elsewhere, 'a'), join(directory, 'g', 'a'));
    symlinkSync(elsewhere, join(directory, 'linked'));
    expect(await refusal()).toContain('is not a readable directory');
    await expect(digestOf('linked/a')).rejects.toThrow(/its group is a symbolic link/);
    rmSync(elsewhere, { recursive: true });
  });

  it('refuses a name that is not UTF-8', async () => {
    write('g/a', {});
    writeFileSync(Buffer.concat([Buffer.from(join(directory, 'g/a/')), Buffer.from([0xff])]), 'x');
    expect(await refusal()).toContain('has a name that is not UTF-8');
  });

  it('refuses a tree that is deeper than anybody needs', async () => {
    write('g/a', { [`${'d/'.repeat(70)}f`]: 'x' });
    expect(await refusal()).toContain('lies deeper than 64 levels');
  });

  it('names a pointer of git-lfs, and what brings the file', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n';
    write('g/a', { 'lib/server.jar': pointer });
    expect(await refusal()).toBe(
      'template g/a: lib/server.jar is a pointer of git-lfs, not the file itself: run git lfs pull',
    );
    write('g/a', { 'lib/server.jar': `see ${pointer}` });
    await clock.advance(1000);
    expect(await digestOf('g/a')).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each(['g/a', 'g/a/world'])('names the submodule %s that is not there', async (path) => {
    write('g/a', {});
    mkdirSync(join(directory, path), { recursive: true });
    writeFileSync(join(directory, '.gitmodules'), `[submodule "m"]\n\tpath = ${path}\n\turl = x\n`);
    expect(await refusal()).toContain(
      'is a submodule of git that is not there: run git submodule update --init',
    );
    writeFileSync(join(directory, path, 'f'), '');
    await clock.advance(1000);
    expect(await digestOf('g/a')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is well again once the fault is gone', async () => {
    write('g/a', { f: 'x' });
    symlinkSync('/etc', join(directory, 'g/a/etc'));
    await refusal();
    rmSync(join(directory, 'g/a/etc'));
    await clock.advance(1000);
    expect(await digestOf('g/a')).toMatch(/^[0-9a-f]{64}$/);
  });

  // Root reads everything, so the rights of another user are taken on for the moment of the call.
  it.runIf(process.geteuid?.() === 0)('refuses a file that cannot be read (needs root)', async () => {
    write('g/a', { f: 'x' });
    chmodSync(join(directory, 'g/a/f'), 0o000);
    chmodSync(directory, 0o755);
    await startLibrary();
    process.seteuid?.(65_534);
    try {
      await expect(digestOf('g/a')).rejects.toThrow(/f cannot be read/);
    } finally {
      process.seteuid?.(0);
    }
  });
});

describe('bundles', () => {
  it('has none for a digest that no template has, or has any more', async () => {
    write('g/a', { f: 'one' });
    await startLibrary();
    const digest = (await digestOf('g/a')) ?? '';
    write('g/a', { f: 'two' });
    await clock.advance(1000);
    await expect(library.openBundle(digest).next()).rejects.toThrow(
      expect.objectContaining({ code: 'DRV_TEMPLATE_UNKNOWN' }),
    );
  });

  it('ends after stop, which may be called twice, and tells nobody anything afterwards', async () => {
    write('g/a', { big: Buffer.alloc(4 * 1024 * 1024) });
    await startLibrary();
    const bundle = library.openBundle((await digestOf('g/a')) ?? '');
    await bundle.next();
    changes = [];
    await library.stop();
    await library.stop();
    await expect(
      (async () => {
        for await (const piece of bundle) expect(piece.length).toBeGreaterThan(0);
      })(),
    ).rejects.toThrow(/abort/i);
    expect(clock.pending).toBe(0);
  });
});
