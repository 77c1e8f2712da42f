import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { DroverError } from '../../../src/model/errors.js';
import { unpackZip } from '../../../src/templates/library/unpack-zip.js';
import { FakeClock } from '../../support/fake-clock.js';
import { LinkSwapper } from '../../support/templates/link-swapper.js';
import { forever, readTree, temporaryDirectory, writeTree } from '../../support/templates/template-trees.js';
import { TemplateWorld } from '../../support/templates/template-world.js';
import { type ZipEntry, zipOf } from '../../support/templates/zip-bytes.js';
import { until } from '../../support/until.js';

const MIB = 1024 * 1024;
const LINK = 0o120_777;
const FILE = 0o100_644;
const PROGRAM = 0o100_755;
const DIRECTORY = 0o040_755;

let world: TemplateWorld;

beforeEach(async () => {
  world = new TemplateWorld({
    clock: new FakeClock(),
    maxUploadMB: 32,
    archiveLimits: { maxEntries: 50, maxBytes: 64 * MIB },
  });
  await world.start();
});

afterEach(async () => {
  await world.stop();
});

function place(...path: string[]): string {
  return join(world.directory, ...path);
}

function importZip(zip: Buffer, name = 'lobby'): Promise<{ files: number; bytes: number }> {
  return world.local.importArchive('games', name, Readable.from([zip]));
}

async function outcome(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'ok',
    (error: unknown) => (error instanceof DroverError ? `${error.code} ${error.message}` : String(error)),
  );
}

async function exported(name = 'lobby'): Promise<Buffer> {
  const zip = await world.local.exportArchive('games', name);
  return Buffer.concat(await zip.toArray());
}

function leftovers(): string[] {
  const staging = readdirSync(world.directory).includes('.drover') ? readdirSync(place('.drover')) : [];
  return [...staging, ...readdirSync(join(world.root, 'uploads'))];
}

describe('an import', () => {
  it('makes a template of a zip, with directories and modes', async () => {
    const zip = zipOf([
      { name: 'start.sh', content: 'run', mode: PROGRAM },
      { name: 'conf ig/ä.txt', content: 'x'.repeat(10_000), mode: FILE },
      { name: 'empty/', mode: DIRECTORY },
      { name: 'stored', content: 'as it is', method: 0 },
    ]);
    expect(await importZip(zip)).toEqual({ files: 3, bytes: 10_011 });
    expect(await readTree(place('games/lobby'))).toEqual({
      '*start.sh': 'run',
      'conf ig/': '',
      'conf ig/ä.txt': 'x'.repeat(10_000),
      'empty/': '',
      stored: 'as it is',
    });
    expect(world.local.library.groups()).toEqual(new Map([['games', ['lobby']]]));
    expect(leftovers()).toEqual([]);
  });

  it('overwrites files that are there and leaves the others, with their modes', async () => {
    writeTree(place('games/lobby'), { '*run': 'old', 'keep/me': 'kept', 'both/a': 'old', '*keep/tool': 't' });
    chmodSync(place('games/lobby/keep'), 0o750);
    await importZip(
      zipOf([{ name: 'run', content: 'new' }, { name: 'both/a', content: 'new' }, { name: 'both/b' }]),
    );
    expect(await readTree(place('games/lobby'))).toEqual({
      '*run': 'new',
      'keep/': '',
      'keep/me': 'kept',
      '*keep/tool': 't',
      'both/': '',
      'both/a': 'new',
      'both/b': '',
    });
    expect(
      execFileSync('stat', ['-c', '%a', place('games/lobby/keep')])
        .toString()
        .trim(),
    ).toBe('750');
    expect(leftovers()).toEqual([]);
  });

  it('takes what it exported, what yazl makes, and what Info-ZIP makes', async () => {
    const tree = { 'a/b': 'one', '*c': 'two' };
    writeTree(place('games/lobby'), tree);
    await importZip(await exported(), 'copy');
    expect(await readTree(place('games/copy'))).toEqual(await readTree(place('games/lobby')));
    const yazl = new ZipFile();
    yazl.addBuffer(Buffer.from('x'), 'from-yazl.txt');
    yazl.end();
    const chunks: Buffer[] = [];
    for await (const chunk of yazl.outputStream) chunks.push(Buffer.from(chunk));
    await importZip(Buffer.concat(chunks), 'copy');
    expect(await readTree(place('games/copy'))).toMatchObject({ 'from-yazl.txt': 'x', '*c': 'two' });
  });

  it('takes names in UTF-8 from tools for Unix, and in code page 437 from others', async () => {
    const name = Buffer.from('Größe/日本.yml');
    await importZip(zipOf([{ name, content: 'x', flags: 0, mode: FILE }]));
    await importZip(zipOf([{ name: Buffer.from([0x47, 0x81, 0x2e]), content: 'y', flags: 0 }]));
    await importZip(zipOf([{ name: name.subarray(0, 5), content: 'z', flags: 0, madeBy: 0 }]));
    expect(Object.keys(await readTree(place('games/lobby')))).toEqual(
      expect.arrayContaining(['Größe/日本.yml', 'Gü.', 'Gr├╢├']),
    );
  });

  it('leaves out what macOS adds, and takes names that begin with ./', async () => {
    const zip = zipOf([
      { name: './', mode: DIRECTORY },
      { name: './a/', mode: DIRECTORY },
      { name: './a/b', content: 'b' },
      { name: './a/.DS_Store', content: 'x' },
      { name: '.DS_Store', content: 'x' },
      { name: '__MACOSX/', mode: DIRECTORY },
      { name: '__MACOSX/a/._b', content: 'x' },
      { name: 'a/__MACOSX', content: 'kept' },
    ]);
    expect(await importZip(zip)).toEqual({ files: 2, bytes: 5 });
    expect(await readTree(place('games/lobby'))).toEqual({ 'a/': '', 'a/b': 'b', 'a/__MACOSX': 'kept' });
  });

  it('makes programs executable when the zip has no modes, and else keeps the modes', async () => {
    const zip = zipOf([
      { name: 'start.sh', content: '#!/bin/sh\n' },
      { name: 'server', content: Buffer.from('\x7fELF\x02', 'latin1') },
      { name: 'short', content: '#' },
      { name: 'notes.sh', content: '#!/bin/sh\n', mode: FILE },
    ]);
    await importZip(zip);
    const modes = ['start.sh', 'server', 'short', 'notes.sh'].map(
      (name) => statSync(place('games/lobby', name)).mode & 0o777,
    );
    expect(modes).toEqual([0o755, 0o755, 0o644, 0o644]);
  });

  it('takes whatever a template may hold, however well it packs, and its own exports', async () => {
    writeTree(place('games/lobby'), { 'world.db': '0'.repeat(20 * MIB), Readme: 'a', README: 'b' });
    await world.library.rescan();
    const zip = await exported();
    expect(zip.length).toBeLessThan(MIB / 10);
    expect(await importZip(zip, 'copy')).toEqual({ files: 3, bytes: 20 * MIB + 2 });
    expect(await readTree(place('games/copy'))).toEqual(await readTree(place('games/lobby')));
  });

  it('is refused before the first byte when the disk has no room for it', async () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ name: `${index}`, says: { size: 2 ** 31 } }));
    const root = temporaryDirectory();
    writeFileSync(join(root, 'a.zip'), zipOf(many));
    mkdirSync(join(root, 'target'));
    const limits = { maxEntries: 50, maxBytes: Number.MAX_SAFE_INTEGER };
    const { bavail, bsize } = statfsSync(root);
    if (bavail * bsize < 80 * 2 ** 30)
      await expect(unpackZip(join(root, 'a.zip'), join(root, 'target'), limits, forever)).rejects.toThrow(
        /it unpacks to 81920 MB, and the disk has \d+ MB free/,
      );
    expect(readdirSync(join(root, 'target'))).toEqual([]);
    rmSync(root, { recursive: true });
  });

  it('does not lose a file that is written at the same time', async () => {
    writeTree(
      place('games/lobby'),
      Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, 'x'])),
    );
    const zip = zipOf([
      { name: 'zip-1', content: '1' },
      { name: 'zip-2', content: '2' },
    ]);
    const writes = Array.from({ length: 30 }, (_, index) =>
      world.local.createFile('games', 'lobby', `w${index}`, Readable.from([Buffer.from('w')])),
    );
    await Promise.all([importZip(zip), ...writes, importZip(zip)]);
    expect(await world.local.listFiles('games', 'lobby')).toHaveLength(72);
  });

  it('gives a reader the whole old or the whole new template at any moment', async () => {
    const numbered = (value: string): ZipEntry[] =>
      Array.from({ length: 20 }, (_, index) => ({ name: `f${index}`, content: value }));
    await importZip(zipOf(numbered('0')));
    const importing = (async () => {
      for (let round = 1; round <= 5; round++) await importZip(zipOf(numbered(String(round))));
      return 'done';
    })();
    let isDone = false;
    void importing.then(() => {
      isDone = true;
    });
    const digests = new Set<string | null>();
    while (!isDone) {
      digests.add(await world.library.digest('games', 'lobby'));
      await new Promise((resolve) => setImmediate(resolve));
    }
    digests.add(await world.library.digest('games', 'lobby'));
    expect(await importing).toBe('done');
    // Six whole trees: a mixture would have a digest of its own, a gap none.
    expect(digests.size).toBeLessThanOrEqual(6);
    expect(digests.has(null)).toBe(false);
  });
});

/** Each with what the error must say. */
const REFUSED: readonly (readonly [title: string, zip: () => Buffer, code: string, reason: string])[] = [
  ...(
    [
      ['../x', 'segment'],
      ['a/../../x', 'segment'],
      ['/etc/x', 'absolute'],
      ['C:/x', 'drive'],
      ['c:x', 'drive'],
      ['a\\b', 'backslash'],
      ['..\\x', 'backslash'],
      ['a//b', 'empty segment'],
      ['a/./b', 'segment'],
      ['./../a', 'segment'],
      ['a\0b', 'NUL'],
      ['%2e%2e/x', 'encoded'],
      ['', 'empty'],
      ['x'.repeat(300), 'longer'],
    ] as const
  ).map(
    ([name, reason]) =>
      [
        `the name ${JSON.stringify(name).slice(0, 30)}`,
        () => zipOf([{ name, content: 'x' }]),
        'INVALID',
        reason,
      ] as const,
  ),
  ['a symbolic link', () => zipOf([{ name: 'l', content: '/etc', mode: LINK }]), 'INVALID', 'link'],
  ['a device', () => zipOf([{ name: 'd', mode: 0o020_666 }]), 'INVALID', 'device'],
  ['a pipe', () => zipOf([{ name: 'd', mode: 0o010_666 }]), 'INVALID', 'device'],
  ['a directory that is a link', () => zipOf([{ name: 'l/', mode: LINK }]), 'INVALID', 'link'],
  ['a directory named as a file', () => zipOf([{ name: 'd', mode: DIRECTORY }]), 'INVALID', 'link'],
  ['one name twice', () => zipOf([{ name: 'a' }, { name: 'a' }]), 'INVALID', 'twice'],
  ['one name twice, with ./ and without', () => zipOf([{ name: 'a' }, { name: './a' }]), 'INVALID', 'twice'],
  ['a file as a directory', () => zipOf([{ name: 'a' }, { name: 'a/b' }]), 'INVALID', 'twice'],
  ['a directory as a file', () => zipOf([{ name: 'a/b' }, { name: 'a' }]), 'INVALID', 'twice'],
  ['an encrypted entry', () => zipOf([{ name: 'a', content: 'x', flags: 0x801 }]), 'INVALID', 'encrypted'],
  ['strong encryption', () => zipOf([{ name: 'a', content: 'x', flags: 0x841 }]), 'INVALID', 'encryption'],
  ['another packing', () => zipOf([{ name: 'a', content: 'x', method: 12 }]), 'INVALID', 'method 12'],
  ['a wrong checksum', () => zipOf([{ name: 'a', content: 'x', says: { crc: 1 } }]), 'INVALID', 'CRC'],
  [
    'a smaller size than it has',
    () => zipOf([{ name: 'a', content: 'xxxx', says: { size: 2 } }]),
    'INVALID',
    'bytes',
  ],
  [
    'a larger size than it has',
    () => zipOf([{ name: 'a', content: 'x', says: { size: 9 } }]),
    'INVALID',
    'bytes',
  ],
  [
    'an end that is missing',
    () => zipOf([{ name: 'a', content: 'x'.repeat(999) }]).subarray(0, 60),
    'INVALID',
    '',
  ],
  [
    'a part that is missing',
    () => withoutMiddle(zipOf([{ name: 'a', content: noise(5000) }])),
    'INVALID',
    '',
  ],
  ['fewer entries than it says', () => zipOf([{ name: 'a' }], { says: { count: 2 } }), 'INVALID', ''],
  ['no zip at all', () => Buffer.from('hello'), 'INVALID', ''],
  ['nothing at all', () => Buffer.alloc(0), 'INVALID', ''],
  [
    'too many directories in the name of one entry',
    () => zipOf([{ name: `${'d/'.repeat(50)}x` }]),
    'TOO_LARGE',
    'entries, directories included',
  ],
  [
    'too many entries',
    () => zipOf(Array.from({ length: 51 }, (_, i) => ({ name: `${i}` }))),
    'TOO_LARGE',
    '50 entries',
  ],
  [
    'too many entries by its own word',
    () => zipOf([{ name: 'a' }], { says: { count: 60_000 } }),
    'TOO_LARGE',
    'entries',
  ],
  [
    'a bomb that lies',
    () => zipOf([{ name: 'bomb', content: Buffer.alloc(20 * MIB), says: { size: 1000 } }]),
    'INVALID',
    'bytes',
  ],
  [
    'entries that share their content',
    () =>
      zipOf([
        { name: 'a', content: noise(1000) },
        ...Array.from({ length: 30 }, (_, i) => ({ name: `b${i}`, content: noise(1000), sharing: 0 })),
      ]),
    'INVALID',
    'overlap',
  ],
  [
    'more than may be unpacked',
    () => zipOf([{ name: 'a', content: 'x', says: { size: 70 * MIB } }]),
    'TOO_LARGE',
    '64 MB',
  ],
];

/** Bytes that cannot be packed. */
function noise(bytes: number): Buffer {
  return createHash('shake256', { outputLength: Math.min(bytes, 100_000) })
    .update('noise')
    .digest();
}

function withoutMiddle(zip: Buffer): Buffer {
  return Buffer.concat([zip.subarray(0, 1000), zip.subarray(2000)]);
}

describe('a zip', () => {
  it.each(REFUSED)('with %s is refused, and nothing is changed', async (_title, zip, code, reason) => {
    writeTree(place('games/lobby'), { a: 'old' });
    const before = await readTree(world.root);
    const said = await outcome(importZip(zip()));
    expect(said).toMatch(new RegExp(`^DRV_ARCHIVE_${code} the zip was refused and nothing was changed: `));
    expect(said).toContain(reason);
    expect(said).not.toContain(world.root);
    expect(await outcome(importZip(zip(), 'fresh'))).toBe(said);
    const after = await readTree(world.root);
    delete after['templates/.drover/'];
    expect(after).toEqual(before);
  });

  it('larger than an upload may be is refused while it comes', async () => {
    const content = Readable.from(Array(33).fill(Buffer.alloc(MIB)));
    expect(await outcome(world.local.importArchive('games', 'lobby', content))).toContain(
      'DRV_REQUEST_TOO_LARGE',
    );
    expect(leftovers()).toEqual([]);
  });

  it('that has a file where the template has a directory, or the other way round, is refused', async () => {
    writeTree(place('games/lobby'), { 'a/b': 'x', c: 'y' });
    expect(await outcome(importZip(zipOf([{ name: 'new' }, { name: 'a' }])))).toContain('a is a file in it');
    expect(await outcome(importZip(zipOf([{ name: 'new' }, { name: 'c/d' }])))).toContain(
      'c is a directory in it',
    );
    expect(await readTree(place('games/lobby'))).toEqual({ 'a/': '', 'a/b': 'x', c: 'y' });
    expect(leftovers()).toEqual([]);
  });

  it('is not imported over a link, or into a template that holds one', async () => {
    const outside = temporaryDirectory();
    writeTree(outside, { 'lobby/keep': 'x' });
    mkdirSync(place('games/linked'), { recursive: true });
    symlinkSync(join(outside, 'lobby'), place('games/lobby'));
    symlinkSync(outside, place('games/linked/link'));
    const zip = zipOf([
      { name: 'keep', content: 'new' },
      { name: 'link/lobby/keep', content: 'new' },
    ]);
    expect(await outcome(importZip(zip))).toContain('DRV_PATH_UNSAFE');
    expect(await outcome(importZip(zip, 'linked'))).toContain('DRV_TEMPLATE_UNSAFE');
    expect(await readTree(outside)).toEqual({ 'lobby/': '', 'lobby/keep': 'x' });
    expect(leftovers()).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  it('leads nowhere while a directory of the template is swapped for a link', async () => {
    const outside = temporaryDirectory();
    writeTree(outside, { file: 'outside', 'deep/file': 'outside' });
    writeTree(place('games/lobby/config'), { file: 'inside', 'deep/file': 'inside' });
    const before = await readTree(outside);
    const outcomes: string[] = [];
    const swapper = new LinkSwapper(place('games/lobby/config'), outside, join(world.root, 'workshop'));
    const zip = zipOf([
      { name: 'config/file', content: 'zip' },
      { name: 'config/deep/new', content: 'zip' },
    ]);
    try {
      await until(() => expect(swapper.swaps).toBeGreaterThan(10));
      for (let round = 0; round < 40; round++) outcomes.push(await outcome(importZip(zip)));
    } finally {
      await swapper.stop();
    }
    // A template with a link in it is refused, so that there must have been moments without.
    expect(outcomes).toContain('ok');
    expect(await readTree(outside)).toEqual(before);
    const found = execFileSync('grep', [
      '-rl',
      '--exclude-dir=workshop',
      'outside',
      world.root,
      outside,
    ]).toString();
    expect(
      found
        .trim()
        .split('\n')
        .filter((file) => !file.startsWith(outside)),
    ).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  it('is checked whole before the first byte is unpacked', async () => {
    const root = temporaryDirectory();
    const zip = join(root, 'a.zip');
    const target = join(root, 'target');
    mkdirSync(target);
    writeFileSync(zip, zipOf([{ name: 'good', content: 'x' }, { name: '../bad' }]));
    const limits = { maxEntries: 10, maxBytes: 1000 };
    await expect(unpackZip(zip, target, limits, forever)).rejects.toMatchObject({
      code: 'DRV_ARCHIVE_INVALID',
    });
    expect(readdirSync(target)).toEqual([]);
    rmSync(root, { recursive: true });
  });
});

describe('a crash in the middle of an import', () => {
  /** A daemon that starts on what another left. */
  async function restart(): Promise<void> {
    await world.local.stop();
    await world.local.start();
  }

  it('before the exchange leaves the old template', async () => {
    writeTree(place('games/lobby'), { a: 'old' });
    writeTree(place('.drover/swap~games~lobby~abc/new'), { a: 'new' });
    writeTree(place('.drover/import~abc'), { a: 'new' });
    writeFileSync(place('.drover/upload~abc'), 'half');
    await restart();
    expect(await readTree(place('games'))).toEqual({ 'lobby/': '', 'lobby/a': 'old' });
    expect(leftovers()).toEqual([]);
  });

  it('between its two steps leaves the old template', async () => {
    writeTree(place('games/lobby'), { a: 'old' });
    writeTree(place('.drover/swap~games~lobby~abc/new'), { a: 'new' });
    renameSync(place('games/lobby'), place('.drover/swap~games~lobby~abc/old'));
    await restart();
    expect(await readTree(place('games'))).toEqual({ 'lobby/': '', 'lobby/a': 'old' });
    expect(leftovers()).toEqual([]);
  });

  it('that somebody made up moves nothing from elsewhere, and stops no start', async () => {
    const outside = temporaryDirectory();
    writeTree(outside, { 'old/a': 'outside' });
    mkdirSync(place('games'), { recursive: true });
    mkdirSync(place('.drover'));
    symlinkSync(outside, place('.drover/swap~games~lobby~abc'));
    writeTree(place('.drover/swap~..~...~abc/old'), { a: 'x' });
    await restart();
    expect(await readTree(outside)).toEqual({ 'old/': '', 'old/a': 'outside' });
    expect(await readTree(place('games'))).toEqual({});
    expect(leftovers()).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  it('after the exchange leaves the new template', async () => {
    writeTree(place('games/lobby'), { a: 'new' });
    writeTree(place('.drover/swap~games~lobby~abc/old'), { a: 'old' });
    await restart();
    expect(await readTree(place('games'))).toEqual({ 'lobby/': '', 'lobby/a': 'new' });
    expect(leftovers()).toEqual([]);
  });

  it('keeps what nobody can decide: an old template whose place somebody took', async () => {
    writeTree(place('games/lobby'), { a: 'by hand' });
    writeTree(place('.drover/swap~games~lobby~abc/old'), { a: 'old' });
    writeTree(place('.drover/swap~games~lobby~abc/new'), { a: 'new' });
    await restart();
    expect(await readTree(place('games/lobby'))).toEqual({ a: 'by hand' });
    expect(await readTree(place('.drover/swap~games~lobby~abc/old'))).toEqual({ a: 'old' });
  });
});

describe('an export', () => {
  it('is the same for the same tree, whenever and wherever it was written', async () => {
    const tree = { 'z/y': 'one', a: 'two', '*run.sh': 'three', 'empty/': '' };
    writeTree(place('games/lobby'), tree);
    writeTree(place('games/twin'), tree);
    utimesSync(place('games/twin/a'), 1, 1);
    expect(await exported()).toEqual(await exported('twin'));
  });

  it('opens with another tool, its modes kept', async (context) => {
    writeTree(place('games/lobby'), { 'ä/b': 'one', '*run.sh': 'three', 'empty/': '' });
    const file = join(world.root, 'export.zip');
    writeFileSync(file, await exported());
    const script = `import zipfile, sys
z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
for i in z.infolist(): print(i.filename, oct(i.external_attr >> 16))`;
    let listing: string;
    try {
      listing = execFileSync('python3', ['-c', script, file]).toString();
    } catch {
      return context.skip();
    }
    expect(listing.trim().split('\n')).toEqual([
      'empty/ 0o40755',
      'run.sh 0o100755',
      'ä/ 0o40755',
      'ä/b 0o100644',
    ]);
  });

  it('of an unknown template is refused before the first byte', async () => {
    expect(await outcome(world.local.exportArchive('games', 'none'))).toContain('DRV_TEMPLATE_UNKNOWN');
  });

  it('breaks off when a file changes under it, and when its reader goes away', async () => {
    const big = createHash('shake256', { outputLength: 3 * MIB })
      .update('big')
      .digest();
    writeTree(place('games/lobby'), { a: big, b: big });
    const zip = await world.local.exportArchive('games', 'lobby');
    await new Promise((resolve) => zip.once('readable', resolve));
    writeFileSync(place('games/lobby/b'), 'changed');
    await expect(zip.toArray()).rejects.toThrow('changed');
    const abandoned = await world.local.exportArchive('games', 'lobby');
    await new Promise((resolve) => abandoned.once('readable', resolve));
    abandoned.destroy();
    const isOpen = (): boolean =>
      execFileSync('ls', ['-l', `/proc/${process.pid}/fd`])
        .toString()
        .includes(world.root);
    await until(() => expect(isOpen()).toBe(false));
  });
});
