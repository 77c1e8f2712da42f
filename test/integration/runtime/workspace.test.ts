import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import type { ResolvedTemplate } from '../../../src/model/template.js';
import { type PrepareRequest, Workspaces } from '../../../src/runtime/installation/workspace.js';
import { WorkspaceMerge } from '../../../src/runtime/installation/workspace-merge.js';
import { TemplateCache } from '../../../src/templates/transfer/cache.js';
import { FakeClock } from '../../support/fake-clock.js';
import { editThread, packThreads } from '../../support/templates/pack-threads.js';
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

const ID = 'abc123';

let root: string;
let running: string;
let directory: string;
let cache: TemplateCache;
let workspaces: Workspaces;

beforeEach(async () => {
  root = temporaryDirectory();
  running = join(root, 'running');
  directory = join(running, ID);
  cache = new TemplateCache({
    directory: join(root, 'cache'),
    packThreads,
    logger: quietLogger,
    clock: new FakeClock(),
  });
  await cache.start();
  workspaces = new Workspaces({
    runningDirectory: running,
    installedDirectory: join(root, 'installed'),
    cache,
    packThreads,
    editThread,
    logger: quietLogger,
  });
  await workspaces.removeUnfinished();
});

afterEach(async () => {
  await workspaces.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Templates in the cache; the key is `group/name` or `group/name@priority`. */
async function templates(trees: Record<string, Tree>): Promise<ResolvedTemplate[]> {
  const resolved: ResolvedTemplate[] = [];
  for (const [label, tree] of Object.entries(trees)) {
    const [path = '', priority = '0'] = label.split('@');
    const [group = '', name = ''] = path.split('/');
    resolved.push({ group, name, priority: Number(priority), digest: await addTree(cache, tree) });
  }
  return resolved;
}

function prepare(request: Partial<PrepareRequest> = {}): Promise<readonly string[]> {
  return workspaces.prepare({
    instanceId: ID,
    templates: [],
    keep: false,
    override: false,
    fileModifications: [],
    variables: new Map([['PORT', '4000']]),
    signal: forever,
    ...request,
  });
}

/** Everything in `running/`; a leftover of any kind would show. */
async function names(): Promise<string[]> {
  await workspaces.stop();
  return readdirSync(running);
}

describe('a fresh directory', () => {
  it('is made of all templates, where the higher priority wins whatever the order', async () => {
    const list = await templates({
      'g/top@5': { 'conf/a': 'top', '*run': 'go' },
      'g/base@-1': { 'conf/a': 'base', 'conf/b': 'base', 'hollow/': '' },
      'g/mid': { 'conf/b': 'mid' },
    });
    expect(await prepare({ templates: list })).toEqual([]);
    expect(await readTree(directory)).toEqual({
      'conf/': '',
      'conf/a': 'top',
      'conf/b': 'mid',
      'hollow/': '',
      '*run': 'go',
    });
    expect(await names()).toEqual([ID]);
  });

  it('replaces the old one wholly, and gives files of their own, not the cache', async () => {
    const list = await templates({ 'g/a': { f: 'new' } });
    writeTree(directory, { f: 'old', 'left/over': 'x' });
    await prepare({ templates: list });
    expect(await readTree(directory)).toEqual({ f: 'new' });
    writeFileSync(join(directory, 'f'), 'changed by the instance');
    await prepare({ templates: list });
    expect(await readTree(directory)).toEqual({ f: 'new' });
    expect(await names()).toEqual([ID]);
  });

  it('is an empty one without templates', async () => {
    await prepare();
    expect(await readTree(directory)).toEqual({});
    writeTree(directory, { f: 'old' });
    await prepare();
    expect(await readTree(directory)).toEqual({});
    expect(await names()).toEqual([ID]);
  });

  it('is another one also where the old one had nothing in it, and leaves nothing of either', async () => {
    await prepare();
    const { ino, mode } = statSync(directory);
    // Held, so that its number is not given out again.
    const held = openSync(directory, 'r');
    chmodSync(directory, 0o777);
    await prepare();
    closeSync(held);
    expect(statSync(directory).ino).not.toBe(ino);
    expect(statSync(directory).mode).toBe(mode);
    expect(await names()).toEqual([ID]);
    writeFileSync(join(directory, 'f'), 'old');
    await prepare();
    expect(await readTree(directory)).toEqual({});
    expect(await names()).toEqual([ID]);
  });

  it('has files of 0644 or 0755 under the umask', async () => {
    const umask = process.umask(0o027);
    try {
      await prepare({ templates: await templates({ 'g/a': { f: 'x', '*run': 'go', 'd/': '' } }) });
    } finally {
      process.umask(umask);
    }
    const modeOf = (path: string): string => (statSync(join(directory, path)).mode & 0o777).toString(8);
    expect(['f', 'run', 'd'].map(modeOf)).toEqual(['640', '750', '750']);
  });

  it('copies large files too', async () => {
    const content = Buffer.alloc(20 * 1024 * 1024 + 3, 'large');
    await prepare({ templates: await templates({ 'g/a': { '*big': content } }) });
    expect(readFileSync(join(directory, 'big')).equals(content)).toBe(true);
    expect(statSync(join(directory, 'big')).mode & 0o100).toBe(0o100);
  });

  it('refuses templates that clash, naming both', async () => {
    const list = await templates({ 'g/a': { x: 'file' }, 'g/b@1': { 'x/y': 'file' } });
    await expect(prepare({ templates: list })).rejects.toThrow(
      'x is a file in template g/a and a directory in g/b; rename one or install one of them only',
    );
    expect(await names()).toEqual([]);
  });

  it('takes the place of a link that the instance put there, not of what it points to', async () => {
    const outside = join(root, 'outside');
    writeTree(outside, { precious: 'x' });
    symlinkSync(outside, directory);
    await prepare({ templates: await templates({ 'g/a': { f: 'new' } }) });
    expect(statSync(directory).isDirectory()).toBe(true);
    expect(await names()).toEqual([ID]);
    expect(await readTree(outside)).toEqual({ precious: 'x' });
  });
});

describe('file modifications', () => {
  it('replace variables in the named files only, and leave other bytes alone', async () => {
    const latin1 = Buffer.concat([Buffer.from([0xe4, 0xff]), Buffer.from('port=%PORT% %NO%')]);
    const list = await templates({ 'g/a': { 'd/conf': latin1, '*run': 'exec %PORT%', other: '%PORT%' } });
    const warnings = await prepare({ templates: list, fileModifications: ['d/conf', 'run'] });
    expect(warnings).toEqual([]);
    expect(readFileSync(join(directory, 'd/conf'), 'latin1')).toBe('\xe4\xffport=4000 %NO%');
    expect(await readTree(directory)).toMatchObject({ '*run': 'exec 4000', other: '%PORT%' });
  });

  it('replace variables in UTF-16 too, and leave the rest of such a file as it is', async () => {
    const text = '[Server]\r\nPort=%PORT%\r\nName=日本 \ud800 %MOTDD%\r\n';
    const little = Buffer.from(text, 'utf16le');
    const mark = Buffer.from('\ufeff', 'utf16le');
    const big = Buffer.concat([mark, little]).swap16();
    const plain = Buffer.from('\ufeffnothing', 'utf16le');
    const files = { marked: Buffer.concat([mark, little]), unmarked: little, big, plain };
    const list = await templates({ 'g/a': files });
    const warnings = await prepare({ templates: list, fileModifications: Object.keys(files) });
    const after = Buffer.from(text.replace('%PORT%', '4000'), 'utf16le');
    const read = (name: string): Buffer => readFileSync(join(directory, name));
    expect(read('marked')).toEqual(Buffer.concat([mark, after]));
    expect(read('unmarked')).toEqual(after);
    expect(read('big').swap16()).toEqual(Buffer.concat([mark, after]));
    expect(read('plain')).toEqual(plain);
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toMatch(/marked asks for %MOTDD%/);
  });

  it('never change the cache', async () => {
    const list = await templates({ 'g/a': { f: '%PORT%' } });
    await prepare({ templates: list, fileModifications: ['f'] });
    await prepare({ templates: list, fileModifications: ['f'], variables: new Map([['PORT', '1']]) });
    expect(await readTree(directory)).toEqual({ f: '1' });
    expect(await readCached(cache, list[0]?.digest ?? '')).toEqual({ f: '%PORT%' });
  });

  it('warn of files that are missing, are directories, are too large, or ask for a port that is not there', async () => {
    const big = Buffer.alloc(16 * 1024 * 1024 + 1, '%PORT%');
    const list = await templates({ 'g/a': { big, 'd/': '', f: '%PORT%' } });
    const warnings = await prepare({
      templates: list,
      fileModifications: ['none', 'd', 'big', 'f'],
      variables: new Map(),
    });
    expect(warnings).toEqual([
      'fileModifications: none is in none of the templates',
      'fileModifications: d is a directory',
      'fileModifications: big is larger than 16 MiB, left unchanged',
      'fileModifications: f asks for %PORT%, which has no value: the configuration has no availablePorts',
    ]);
    expect(readFileSync(join(directory, 'big')).equals(big)).toBe(true);
    expect(await prepare({ fileModifications: ['f'] })).toHaveLength(1);
  });
});

describe('a kept directory', () => {
  const tree = { 'conf/a': 'template', 'conf/new': '%PORT%', 'fresh/deep/x': 'x', 'shared/': '' };

  it('keeps what is there and gets what is missing', async () => {
    writeTree(directory, { 'conf/a': 'mine', 'shared/data': 'mine', extra: 'mine' });
    const request = {
      templates: await templates({ 'g/a': tree }),
      keep: true,
      fileModifications: ['conf/a', 'conf/new'],
    };
    const expected = {
      'conf/': '',
      'conf/a': 'mine',
      'conf/new': '4000',
      'shared/': '',
      'shared/data': 'mine',
      'fresh/': '',
      'fresh/deep/': '',
      'fresh/deep/x': 'x',
      extra: 'mine',
    };
    expect(await prepare(request)).toEqual([]);
    expect(await readTree(directory)).toEqual(expected);
    expect(await prepare(request)).toEqual([]);
    expect(await readTree(directory)).toEqual(expected);
    expect(await names()).toEqual([ID]);
  });

  describe('whose templates or variables have changed', () => {
    const request = { keep: true, fileModifications: ['port'] };
    const at = (port: string) => ({ ...request, variables: new Map([['PORT', port]]) });
    const first = { port: 'port=%PORT%', conf: 'v1', data: 'v1', '*run': 'v1' };

    beforeEach(async () => {
      await prepare({ ...at('4000'), templates: await templates({ 'g/a': first }) });
    });

    it('takes the new port and the new content where the instance has changed nothing', async () => {
      const list = await templates({ 'g/a': { ...first, conf: 'v2', '*run': 'v2', more: 'v2' } });
      expect(await prepare({ ...at('4001'), templates: list })).toEqual([]);
      const expected = { port: 'port=4001', conf: 'v2', data: 'v1', '*run': 'v2', more: 'v2' };
      expect(await readTree(directory)).toEqual(expected);
      // A start with the same templates and variables looks at no file.
      writeFileSync(join(directory, 'conf'), 'mine');
      expect(await prepare({ ...at('4001'), templates: list })).toEqual([]);
      expect(await readTree(directory)).toEqual({ ...expected, conf: 'mine' });
      expect(await names()).toEqual([ID]);
    });

    it('keeps and names what the instance changed, until the file is moved away or is as the template', async () => {
      writeFileSync(join(directory, 'port'), 'port=4000 # mine');
      writeFileSync(join(directory, 'conf'), 'mine');
      writeFileSync(join(directory, 'data'), 'mine');
      const list = await templates({ 'g/a': { ...first, conf: 'v2' } });
      const again = { ...at('4001'), templates: list };
      const warning = /^kept conf, port as the instance changed it: .* installed anew$/;
      expect(await prepare(again)).toEqual([expect.stringMatching(warning)]);
      expect(await prepare(again)).toEqual([expect.stringMatching(warning)]);
      expect(await readTree(directory)).toMatchObject({
        port: 'port=4000 # mine',
        conf: 'mine',
        data: 'mine',
      });
      writeFileSync(join(directory, 'conf'), 'v2');
      rmSync(join(directory, 'port'));
      expect(await prepare(again)).toEqual([]);
      expect(await readTree(directory)).toMatchObject({ port: 'port=4001', conf: 'v2', data: 'mine' });
      const last = { ...first, conf: 'v3', data: 'v3' };
      const told = await prepare({ ...at('4002'), templates: await templates({ 'g/a': last }) });
      expect(told).toEqual([expect.stringMatching(/^kept data as/)]);
      expect(await readTree(directory)).toMatchObject({ port: 'port=4002', conf: 'v3', data: 'mine' });
    });

    it('says nothing of files that were there before Drover, unless their template changes', async () => {
      rmSync(join(root, 'installed'), { recursive: true });
      writeFileSync(join(directory, 'conf'), 'mine');
      const list = await templates({ 'g/a': first });
      expect(await prepare({ ...at('4000'), templates: list })).toEqual([]);
      const newer = await templates({ 'g/a': { ...first, conf: 'v2', data: 'v2' } });
      expect(await prepare({ ...at('4000'), templates: newer })).toEqual([
        expect.stringMatching(/^kept conf as/),
      ]);
      expect(await readTree(directory)).toMatchObject({ conf: 'mine', data: 'v2' });
    });

    it('forgets the record with the directory', async () => {
      await workspaces.remove(ID);
      expect(readdirSync(join(root, 'installed'))).toEqual([]);
    });
  });

  it('gets the templates’ files over its own with override', async () => {
    writeTree(directory, { 'conf/a': 'mine', extra: 'mine' });
    const list = await templates({ 'g/a': tree });
    await prepare({ templates: list, keep: true, override: true, fileModifications: ['conf/new'] });
    expect(await readTree(directory)).toMatchObject({
      'conf/a': 'template',
      'conf/new': '4000',
      extra: 'mine',
    });
    expect(await names()).toEqual([ID]);
  });

  it('is made when there is none, and stays as it is without templates', async () => {
    const list = await templates({ 'g/a': tree });
    await prepare({ templates: list, keep: true });
    expect(await readTree(directory)).toMatchObject({ 'conf/a': 'template', 'shared/': '' });
    const before = await readTree(directory);
    await prepare({ keep: true });
    expect(await readTree(directory)).toEqual(before);
  });

  it('completes a merge that was cut off in the middle', async () => {
    writeTree(directory, { mine: 'x', 'conf/a': 'template' });
    writeTree(join(running, `.staging-${ID}-0123`), { 'conf/new': '%PORT%' });
    await workspaces.removeUnfinished();
    await prepare({ templates: await templates({ 'g/a': tree }), keep: true });
    expect(await readTree(directory)).toMatchObject({ mine: 'x', 'conf/a': 'template', 'fresh/deep/x': 'x' });
    expect(await names()).toEqual([ID]);
  });

  describe.each([false, true])('with override %s', (override) => {
    let outside: string;

    beforeEach(() => {
      outside = join(root, 'outside');
      writeTree(outside, { a: 'precious' });
      writeTree(directory, { mine: 'x' });
    });

    async function expectRefused(message: RegExp): Promise<void> {
      const before = await readTree(directory);
      const list = await templates({ 'g/a': { ...tree, early: 'x' } });
      const error: unknown = await prepare({ templates: list, keep: true, override }).catch(
        (thrown: unknown) => thrown,
      );
      if (!DroverError.is(error, 'DRV_WORKSPACE_UNSAFE')) throw error;
      expect(error.message).toMatch(message);
      expect(await readTree(directory)).toEqual(before);
      expect(await readTree(outside)).toEqual({ a: 'precious' });
      expect(await names()).toEqual([ID]);
    }

    it('refuses a directory that the instance has turned into a link', async () => {
      symlinkSync(outside, join(directory, 'conf'));
      await expectRefused(
        /^running\/abc123\/conf is a symbolic link, but template g\/a has a directory there/,
      );
    });

    it('refuses a file that the instance has turned into a link', async () => {
      mkdirSync(join(directory, 'conf'));
      symlinkSync(join(outside, 'a'), join(directory, 'conf/a'));
      await expectRefused(/conf\/a is a symbolic link, but template g\/a has a file there/);
    });

    it('refuses a directory in the place of a file, and a file in the place of a directory', async () => {
      writeTree(directory, { 'conf/a/b': 'x' });
      await expectRefused(/conf\/a is a directory, but template g\/a has a file there/);
      rmSync(join(directory, 'conf'), { recursive: true });
      writeTree(directory, { fresh: 'x' });
      await expectRefused(/fresh is a file, but template g\/a has a directory there/);
    });

    it('refuses a working directory that is itself a link', async () => {
      rmSync(directory, { recursive: true });
      symlinkSync(outside, directory);
      await expectRefused(/^running\/abc123 is a symbolic link or no directory/);
    });
  });

  describe('whose directory is swapped for a link', () => {
    const items = ['conf', 'conf/one', 'conf/two', 'conf/three'].map((path) => ({
      path,
      kind: path === 'conf' ? ('directory' as const) : ('file' as const),
      executable: false,
      size: 3,
      source: '',
      at: 0,
      label: 'g/a',
    }));
    let outside: string;
    let staging: string;
    let merge: WorkspaceMerge;

    beforeEach(() => {
      outside = join(root, 'outside');
      staging = join(root, 'staging');
      writeTree(outside, {});
      writeTree(staging, { 'conf/one': 'new', 'conf/two': 'new', 'conf/three': 'new' });
      writeTree(directory, { 'conf/mine': 'x' });
      merge = new WorkspaceMerge({ directory, label: 'running/abc123', items, override: true });
    });

    function swap(): void {
      renameSync(join(directory, 'conf'), join(directory, 'away'));
      symlinkSync(outside, join(directory, 'conf'));
    }

    it('refuses it when that happened after the look', async () => {
      const selected = await merge.select(forever);
      swap();
      await expect(merge.install(staging, selected, forever)).rejects.toThrow(/conf is a symbolic link/);
      expect(await readTree(outside)).toEqual({});
    });

    it('goes on in the directory that it has opened when that happens between two files', async () => {
      const selected = await merge.select(forever);
      // Asked before each item: the directory, then its files.
      let asked = 0;
      const signal = new AbortController().signal;
      signal.throwIfAborted = () => {
        if (++asked === 3) swap();
      };
      await merge.install(staging, selected, signal);
      expect(await readTree(outside)).toEqual({});
      expect(Object.keys(await readTree(join(directory, 'away')))).toEqual(['mine', 'one', 'three', 'two']);
    });
  });
});

describe('all or nothing', () => {
  it('leaves the old directory and nothing else after an abort at any moment', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`d${index % 9}/f${index}`, 'new']),
    );
    const list = await templates({ 'g/a': { ...files, big: Buffer.alloc(12 * 1024 * 1024) } });
    writeTree(directory, { f: 'old' });
    let aborted = 0;
    for (const keep of [false, true]) {
      for (let turns = 0; turns < 20; turns++) {
        const abort = new AbortController();
        const preparing = prepare({ templates: list, keep, signal: abort.signal });
        for (let turn = 0; turn < turns ** 2; turn++) await new Promise((resolve) => setImmediate(resolve));
        abort.abort();
        const outcome = await preparing.catch((error: Error) => error);
        expect(await names()).toEqual([ID]);
        if (!(outcome instanceof Error)) continue;
        aborted++;
        expect(outcome.name).toBe('AbortError');
        if (!keep) expect(await readTree(directory)).toEqual({ f: 'old' });
        expect(readFileSync(join(directory, 'f'), 'utf8')).toBe('old');
      }
      rmSync(directory, { recursive: true });
      writeTree(directory, { f: 'old' });
    }
    expect(aborted).toBeGreaterThan(10);
  });

  it('removes at start what a killed daemon left, and only that', async () => {
    writeTree(directory, { f: 'x' });
    writeTree(join(running, `.staging-${ID}-00`), { 'half/made': 'x' });
    writeTree(join(running, `.removed-${ID}-00`), { 'half/removed': 'x' });
    writeTree(join(running, 'zzz999'), {});
    await workspaces.removeUnfinished();
    expect(await names()).toEqual([ID, 'zzz999']);
  });

  it('asks for a template that the cache does not hold, or holds no longer, and keeps the directory', async () => {
    const list = await templates({ 'g/a': { f: 'x', g: 'x' } });
    writeTree(directory, { f: 'old' });
    const unknown = { group: 'g', name: 'none', priority: 0, digest: null };
    await expect(prepare({ templates: [unknown] })).rejects.toThrow('template g/none does not exist');
    const digest = list[0]?.digest ?? '';
    const [{ place } = { place: undefined }] = (await cache.tree(digest, forever)).items;
    rmSync(join(cache.directoryOf(digest), place?.pack ?? 'none'));
    await expect(prepare({ templates: list })).rejects.toMatchObject({ code: 'DRV_TEMPLATE_CORRUPT' });
    expect(cache.has(digest)).toBe(false);
    expect(await readTree(directory)).toEqual({ f: 'old' });
    expect(await names()).toEqual([ID]);
  });

  it('says on a full disk what is the matter, keeps the old directory, and works when there is room', async (context) => {
    const disk = mountSmallDisk(4096);
    if (disk === undefined) return context.skip('needs the right to mount a tmpfs');
    try {
      running = disk.directory;
      directory = join(running, ID);
      workspaces = new Workspaces({
        runningDirectory: running,
        installedDirectory: join(root, 'installed'),
        cache,
        packThreads,
        editThread,
        logger: quietLogger,
      });
      const list = await templates({ 'g/a': { small: 'new', big: Buffer.alloc(3 * 1024 * 1024, 'x') } });
      const filler = join(running, 'filler');
      for (const keep of [false, true]) {
        writeTree(directory, { small: 'old' });
        writeFileSync(filler, Buffer.alloc(2 * 1024 * 1024));
        await expect(prepare({ templates: list, keep, override: true })).rejects.toMatchObject({
          code: 'DRV_DISK_WRITE_FAILED',
          message: expect.stringMatching(/working directory of instance abc123: the disk is full \(ENOSPC\)/),
        });
        expect(await readTree(running)).toMatchObject({ [`${ID}/small`]: 'old' });
        expect(await names()).toEqual([ID, 'filler']);
        rmSync(filler);
        await prepare({ templates: list, keep, override: true });
        expect(readFileSync(join(directory, 'small'), 'utf8')).toBe('new');
        await workspaces.remove(ID);
      }
    } finally {
      disk.unmount();
    }
  });
});

describe('removing', () => {
  it('deletes the directory whatever is in it, never what a link points to, and may be repeated', async () => {
    const outside = join(root, 'outside');
    writeTree(outside, { 'd/precious': 'x' });
    writeTree(directory, { 'a/b/c/d': 'x', f: 'x' });
    symlinkSync(outside, join(directory, 'a/link'));
    symlinkSync('/nowhere', join(directory, 'dangling'));
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff, 0xfe])]), 'x');
    expect(existsSync(directory)).toBe(true);
    await workspaces.remove(ID);
    await workspaces.remove(ID);
    expect(existsSync(directory)).toBe(false);
    expect(await names()).toEqual([]);
    expect(await readTree(outside)).toEqual({ 'd/': '', 'd/precious': 'x' });
  });

  it('deletes a tree that is deeper than a path can be long', async () => {
    mkdirSync(directory);
    const home = process.cwd();
    const name = 'x'.repeat(200);
    try {
      process.chdir(directory);
      for (let depth = 0; depth < 60; depth++) {
        mkdirSync(name);
        process.chdir(name);
      }
      writeFileSync('bottom', 'x');
    } finally {
      process.chdir(home);
    }
    await workspaces.remove(ID);
    expect(await names()).toEqual([]);
  });

  it('deletes a link in the place of the directory, and refuses what is no instance id', async () => {
    const outside = join(root, 'outside');
    writeTree(outside, { precious: 'x' });
    symlinkSync(outside, directory);
    await workspaces.remove(ID);
    expect(existsSync(join(outside, 'precious'))).toBe(true);
    expect(await names()).toEqual([]);
    for (const id of ['..', '../x1', '', 'ABC123']) {
      await expect(workspaces.remove(id)).rejects.toThrow(/is no instance id/);
    }
  });

  // Root may do everything, so the rights of another user are taken on for the moment of the call.
  it('deletes directories that the instance made unwritable', async (context) => {
    if (process.geteuid?.() !== 0) return context.skip('needs root, to become another user');
    process.seteuid?.(65_534);
    let own: string | undefined;
    try {
      own = temporaryDirectory();
      writeTree(join(own, ID), { 'locked/deep/f': 'x', 'sealed/f': 'x' });
      chmodSync(join(own, ID, 'locked/deep'), 0o555);
      chmodSync(join(own, ID, 'locked'), 0o555);
      chmodSync(join(own, ID, 'sealed'), 0o000);
      await new Workspaces({
        runningDirectory: own,
        installedDirectory: join(root, 'installed'),
        cache,
        packThreads,
        editThread,
        logger: quietLogger,
      }).remove(ID);
      expect(readdirSync(own)).toEqual([]);
    } finally {
      process.seteuid?.(0);
      if (own !== undefined) rmSync(own, { recursive: true });
    }
  });
});
