import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { TemplateLibrary } from '../../../src/templates/library/library.js';
import { LocalTemplates } from '../../../src/templates/library/local-templates.js';
import { TreeDigest } from '../../../src/templates/tree/tree-digest.js';
import { FakeClock } from '../../support/fake-clock.js';
import { LinkSwapper } from '../../support/templates/link-swapper.js';
import {
  forever,
  mountSmallDisk,
  quietLogger,
  readTree,
  temporaryDirectory,
  writeTree,
} from '../../support/templates/template-trees.js';
import { TemplateWorld } from '../../support/templates/template-world.js';
import { until } from '../../support/until.js';

let clock: FakeClock;
let world: TemplateWorld;
let outside: string;

beforeEach(async () => {
  clock = new FakeClock({ startAt: Date.now() + 3_600_000 });
  world = new TemplateWorld({ clock, maxUploadMB: 1 });
  outside = temporaryDirectory();
  await world.start();
});

afterEach(async () => {
  await world.stop();
  rmSync(outside, { recursive: true });
});

function place(...path: string[]): string {
  return join(world.directory, ...path);
}

async function read(path: string, template = 'lobby'): Promise<string> {
  const { content } = await world.local.openFile('games', template, path);
  return text(content);
}

function create(path: string, content = 'new'): Promise<{ bytes: number }> {
  return world.local.createFile('games', 'lobby', path, Readable.from([Buffer.from(content)]));
}

function replace(path: string, content = 'changed'): Promise<{ bytes: number }> {
  return world.local.replaceFile('games', 'lobby', path, Readable.from([Buffer.from(content)]));
}

/** Code of the error; `ok` when there is none. */
async function outcome(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'ok',
    (error: unknown) => (error instanceof DroverError ? error.code : String(error)),
  );
}

/** Nothing of an upload is left, and nobody holds a file open. */
function expectNoRemains(): void {
  const staging = place('.drover');
  expect(existsSync(staging) ? readdirSync(staging) : []).toEqual([]);
  expect(readdirSync(join(world.root, 'uploads'))).toEqual([]);
  expect(openFiles()).toEqual([]);
}

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(world.root) ? [target] : [];
    } catch {
      return [];
    }
  });
}

/** What a write of so many bytes answers. */
const written = (bytes: number) => ({ bytes, revision: expect.stringMatching(/^[0-9a-f]{16}$/) });

describe('a file of a template', () => {
  it('is created with its directories and its template, and read back byte for byte', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 0xc3, 0x28]);
    expect(await create('conf ig/ä/日.bin', bytes.toString('latin1'))).toEqual(written(8));
    await world.local.createFile('games', 'lobby', 'raw', Readable.from([bytes]));
    expect(readFileSync(place('games/lobby/raw'))).toEqual(bytes);
    const { bytes: size, content } = await world.local.openFile('games', 'lobby', 'raw');
    expect([size, Buffer.concat(await content.toArray())]).toEqual([6, bytes]);
    expect(await world.local.listFiles('games', 'lobby')).toEqual(['conf ig/ä/日.bin', 'raw']);
    expect(await world.local.details('games', 'lobby')).toEqual({
      path: 'templates/games/lobby',
      exists: true,
    });
    expect(await world.local.details('games', 'arena')).toEqual({
      path: 'templates/games/arena',
      exists: false,
    });
    expectNoRemains();
  });

  it('is executable when it is a script or a program, and stays so when it is replaced', async () => {
    const create = (path: string, content: Buffer) =>
      world.local.createFile('games', 'lobby', path, Readable.from([content]));
    await create('start.sh', Buffer.from('#!/bin/sh\n'));
    await create('server', Buffer.from('\x7fELF', 'latin1'));
    await create('notes', Buffer.from('# notes'));
    const modeOf = (path: string) => statSync(join(world.directory, 'games/lobby', path)).mode & 0o777;
    expect(['start.sh', 'server', 'notes'].map(modeOf)).toEqual([0o755, 0o755, 0o644]);
    const replace = (path: string, text: string) =>
      world.local.replaceFile('games', 'lobby', path, Readable.from([Buffer.from(text)]));
    await replace('start.sh', 'echo');
    await replace('notes', '#!/usr/bin/env node\n');
    expect(['start.sh', 'notes'].map(modeOf)).toEqual([0o755, 0o755]);
  });

  it('may be empty', async () => {
    expect(await world.local.createFile('games', 'lobby', 'a', Readable.from([]))).toEqual(written(0));
    expect(await read('a')).toBe('');
  });

  it('is created once, however many want to at the same time', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => outcome(create('a/b', `from ${index}`))),
    );
    expect(outcomes.filter((code) => code === 'ok')).toHaveLength(1);
    expect(outcomes.filter((code) => code === 'DRV_TEMPLATE_FILE_EXISTS')).toHaveLength(19);
    expect(await read('a/b')).toBe(`from ${outcomes.indexOf('ok')}`);
    expectNoRemains();
  });

  it('is not created where there is a file or a directory, also as a part of its path', async () => {
    writeTree(place('games/lobby'), { 'a/b': 'x' });
    for (const path of ['a', 'a/b', 'a/b/c', 'a/b/c/d'])
      expect(await outcome(create(path))).toBe('DRV_TEMPLATE_FILE_EXISTS');
    expect(await readTree(place('games/lobby'))).toEqual({ 'a/': '', 'a/b': 'x' });
  });

  it('is replaced by another file with the same mode, so that a reader gets the old or the new one', async () => {
    writeTree(place('games/lobby'), { '*start.sh': 'old', plain: 'old' });
    chmodSync(place('games/lobby/plain'), 0o640);
    linkSync(place('games/lobby/plain'), join(outside, 'hard-linked'));
    const before = await world.local.openFile('games', 'lobby', 'start.sh');
    expect(await replace('start.sh', 'new!')).toEqual(written(4));
    await replace('plain', 'new');
    expect(await text(before.content)).toBe('old');
    expect(await read('start.sh')).toBe('new!');
    expect(statSync(place('games/lobby/start.sh')).mode & 0o777).toBe(0o755);
    expect(statSync(place('games/lobby/plain')).mode & 0o777).toBe(0o640);
    expect(readFileSync(join(outside, 'hard-linked'), 'utf8')).toBe('old');
  });

  it('is deleted with the directories that are empty then; others and the template stay', async () => {
    writeTree(place('games/lobby'), { 'a/b/c': 'x', 'a/keep/': '', 'd/e': 'x' });
    await world.local.removeFile('games', 'lobby', 'a/b/c');
    await world.local.removeFile('games', 'lobby', 'd/e');
    expect(await readTree(place('games/lobby'))).toEqual({ 'a/': '', 'a/keep/': '' });
    rmSync(place('games/lobby/a'), { recursive: true });
    await create('only');
    await world.local.removeFile('games', 'lobby', 'only');
    expect((await world.local.details('games', 'lobby')).exists).toBe(true);
    expect(await world.local.listFiles('games', 'lobby')).toEqual([]);
  });

  it('that is not there is said to be unknown, as is what is no file', async () => {
    writeTree(place('games/lobby'), { 'a/b': 'x' });
    execFileSync('mkfifo', [place('games/lobby/pipe')]);
    for (const path of ['none', 'a', 'a/none', 'a/b/c', 'pipe', 'none/a']) {
      expect(await outcome(world.local.openFile('games', 'lobby', path))).toBe('DRV_TEMPLATE_FILE_UNKNOWN');
      expect(await outcome(replace(path))).toBe('DRV_TEMPLATE_FILE_UNKNOWN');
      expect(await outcome(world.local.removeFile('games', 'lobby', path))).toBe('DRV_TEMPLATE_FILE_UNKNOWN');
    }
    expect(await outcome(world.local.openFile('none', 'lobby', 'a'))).toBe('DRV_TEMPLATE_FILE_UNKNOWN');
    expect(await outcome(world.local.listFiles('games', 'none'))).toBe('DRV_TEMPLATE_UNKNOWN');
    expect(existsSync(place('none'))).toBe(false);
  });

  it('is what it was when the upload breaks off or is too large', async () => {
    writeTree(place('games/lobby'), { a: 'old' });
    const breaking = (): Readable =>
      Readable.from(
        (async function* () {
          yield Buffer.from('half');
          throw new Error('aborted');
        })(),
      );
    const large = (): Readable => Readable.from(Array(17).fill(Buffer.alloc(65_536)));
    const { local } = world;
    expect(await outcome(local.replaceFile('games', 'lobby', 'a', breaking()))).toBe('DRV_REQUEST_INVALID');
    expect(await outcome(local.createFile('games', 'lobby', 'x/y', breaking()))).toBe('DRV_REQUEST_INVALID');
    expect(await outcome(local.replaceFile('games', 'lobby', 'a', large()))).toBe('DRV_REQUEST_TOO_LARGE');
    expect(await outcome(local.createFile('games', 'arena', 'b', large()))).toBe('DRV_REQUEST_TOO_LARGE');
    expect(await readTree(place('games'))).toEqual({ 'lobby/': '', 'lobby/a': 'old' });
    expectNoRemains();
  });

  it('that changes while it is read ends its reader rather than give less than was announced', async () => {
    writeTree(place('games/lobby'), { a: 'x'.repeat(1000) });
    const { content } = await world.local.openFile('games', 'lobby', 'a');
    writeFileSync(place('games/lobby/a'), 'short');
    await expect(text(content)).rejects.toThrow('shorter');
    expect(openFiles()).toEqual([]);
  });

  it('is closed when its reader goes away before the first byte', async () => {
    writeTree(place('games/lobby'), { a: 'x' });
    const { content } = await world.local.openFile('games', 'lobby', 'a');
    content.destroy();
    await until(() => expect(openFiles()).toEqual([]));
  });
});

describe('a full disk', () => {
  it('is said to be full, and leaves templates as they were', async (context) => {
    const disk = mountSmallDisk(512);
    if (disk === undefined) return context.skip();
    const directory = join(disk.directory, 'templates');
    const library = new TemplateLibrary(directory, clock, quietLogger);
    const options = { directory, uploads: join(disk.directory, 'uploads'), library, maxUploadMB: 8 };
    const local = new LocalTemplates({ ...options, logger: quietLogger });
    try {
      writeTree(join(directory, 'g/n'), { a: 'old' });
      await local.start();
      const large = Readable.from(Array(32).fill(Buffer.alloc(65_536)));
      const failing = local.replaceFile('g', 'n', 'a', large);
      await expect(failing).rejects.toMatchObject({ code: 'DRV_DISK_WRITE_FAILED', status: 507 });
      expect(
        await outcome(local.importArchive('g', 'n', Readable.from(Array(32).fill(Buffer.alloc(65_536))))),
      ).toBe('DRV_DISK_WRITE_FAILED');
      expect(await readTree(join(directory, 'g'))).toEqual({ 'n/': '', 'n/a': 'old' });
      await local.replaceFile('g', 'n', 'a', Readable.from([Buffer.from('fits')]));
      expect(readFileSync(join(directory, 'g/n/a'), 'utf8')).toBe('fits');
    } finally {
      await local.stop();
      await library.stop();
      disk.unmount();
    }
  });
});

describe('a symbolic link', () => {
  it.each(['in the path', 'as the file', 'as the template', 'as the group'])(
    '%s is refused by every access, and nothing outside is touched',
    async (where) => {
      writeTree(outside, { 'lobby/dir/file': 'secret', file: 'secret' });
      let path = 'file';
      if (where === 'as the group') symlinkSync(outside, place('games'));
      else mkdirSync(place('games'));
      if (where === 'as the group') path = 'dir/file';
      if (where === 'as the template') symlinkSync(outside, place('games/lobby'));
      if (where === 'in the path') {
        mkdirSync(place('games/lobby'));
        symlinkSync(join(outside, 'lobby'), place('games/lobby/link'));
        path = 'link/dir/file';
      }
      if (where === 'as the file') {
        mkdirSync(place('games/lobby'));
        symlinkSync(join(outside, 'file'), place('games/lobby/file'));
      }
      const before = await readTree(outside);
      const { local } = world;
      expect(await outcome(local.openFile('games', 'lobby', path))).toBe('DRV_PATH_UNSAFE');
      expect(await outcome(create(path))).toBe('DRV_PATH_UNSAFE');
      expect(await outcome(create(path.replace(/file$/, 'other')))).toBe(
        where === 'as the file' ? 'ok' : 'DRV_PATH_UNSAFE',
      );
      expect(await outcome(replace(path))).toBe('DRV_PATH_UNSAFE');
      expect(await outcome(local.removeFile('games', 'lobby', path))).toBe('DRV_PATH_UNSAFE');
      expect(await outcome(local.listFiles('games', 'lobby'))).toMatch(/DRV_PATH_UNSAFE|DRV_TEMPLATE_UN/);
      expect(await outcome(local.exportArchive('games', 'lobby'))).toMatch(/DRV_PATH_UNSAFE|DRV_TEMPLATE_UN/);
      expect(await readTree(outside)).toEqual(before);
      expectNoRemains();
    },
  );

  it('to nowhere is refused too, and creates nothing there', async () => {
    mkdirSync(place('games/lobby'), { recursive: true });
    symlinkSync(join(outside, 'none'), place('games/lobby/link'));
    expect(await outcome(create('link'))).toBe('DRV_PATH_UNSAFE');
    expect(await outcome(create('link/a'))).toBe('DRV_PATH_UNSAFE');
    expect(readdirSync(outside)).toEqual([]);
  });

  it('swapped in between check and use leads nowhere', async () => {
    writeTree(outside, { file: 'outside', 'deep/file': 'outside', 'only-outside': '' });
    writeTree(place('games/lobby/config'), { file: 'inside', 'deep/file': 'inside' });
    const before = await readTree(outside);
    const swapper = new LinkSwapper(place('games/lobby/config'), outside, join(world.root, 'workshop'));
    const codes = new Map<string, number>();
    const seen = new Set<string>();
    const note = async (attempt: Promise<unknown>): Promise<void> => {
      const code = await outcome(attempt);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    };
    try {
      await until(() => expect(swapper.swaps).toBeGreaterThan(10));
      const hasSeenBoth = (): boolean => codes.has('ok') && codes.has('DRV_PATH_UNSAFE');
      for (let round = 0; round < 60 || (!hasSeenBoth() && round < 3000); round++) {
        await note(read('config/file').then((content) => seen.add(content)));
        await note(read('config/deep/file').then((content) => seen.add(content)));
        await note(create(`config/deep/made-${round}`, 'intruder'));
        await note(create(`config/new-${round}/made`, 'intruder'));
        await note(replace('config/file', 'replaced'));
        await note(world.local.removeFile('games', 'lobby', `config/deep/made-${round}`));
        if (round % 5 === 0) await note(exportedBytes().then(expectNothingOfOutside));
      }
    } finally {
      await swapper.stop();
    }
    expect([...codes.keys()]).toEqual(expect.arrayContaining(['ok', 'DRV_PATH_UNSAFE']));
    expect([...seen].filter((content) => content !== 'inside' && content !== 'replaced')).toEqual([]);
    expect(await readTree(outside)).toEqual(before);
  });
});

async function exportedBytes(): Promise<Buffer> {
  const zip = await world.local.exportArchive('games', 'lobby');
  return Buffer.concat(await zip.toArray());
}

/** Contents are packed, but names and checksums stand in a zip as they are. */
function expectNothingOfOutside(zip: Buffer): void {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32('outside'));
  expect([zip.includes('only-outside'), zip.includes(checksum)]).toEqual([false, false]);
}

describe('a write to a template', () => {
  it('is known to the library at once: the group, the template and the digest', async () => {
    await create('a', '1');
    expect(world.library.groups()).toEqual(new Map([['games', ['lobby']]]));
    const first = await world.library.digest('games', 'lobby');
    await replace('a', '2');
    const second = await world.library.digest('games', 'lobby');
    await create('b');
    const third = await world.library.digest('games', 'lobby');
    await world.local.removeFile('games', 'lobby', 'b');
    expect(new Set([first, second, third]).size).toBe(3);
    expect(await world.library.digest('games', 'lobby')).toBe(second);
  });

  it('is not hidden by a look that began before it', async () => {
    writeTree(place('games/lobby'), { a: 'old' });
    const tree = new TreeDigest({ place: { root: place('games/lobby'), label: 'a template' }, clock });
    const looking = tree.read(forever);
    tree.distrust();
    const before = await looking;
    writeFileSync(place('games/lobby/a'), 'new');
    const after = await tree.read(forever);
    expect(after).not.toBe(before);
    writeFileSync(place('games/lobby/a'), 'newer');
    expect(await tree.read(forever), 'within a second nobody looks again').toBe(after);
  });

  it('is told to those who wait for changes, many of them together', async () => {
    const told: string[] = [];
    world.library.onChange((group, name) => told.push(`${group}/${name}`));
    await create('a');
    expect(told).toEqual(['games/lobby']);
    await create('b');
    await create('c');
    await replace('a');
    await clock.advance(1000);
    expect(told).toEqual(['games/lobby', 'games/lobby']);
  });
});
