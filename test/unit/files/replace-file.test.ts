import { chmod, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeUnfinishedWrites, replaceFile } from '../../../src/files/replace-file.js';
import { replaceFileSync } from '../../../src/files/replace-file-sync.js';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'drover-replace-'));
  path = join(directory, 'file');
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

describe.each([
  ['a file that is replaced', replaceFile],
  ['a file that is replaced at once', async (file: string, text: string) => replaceFileSync(file, text)],
])('%s', (_, replace) => {
  it('has the new content and mode 0600, and nothing lies beside it', async () => {
    await writeFile(path, 'old and longer');
    await chmod(path, 0o644);
    await replace(path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await modeOf(path)).toBe('600');
    expect(await readdir(directory)).toEqual(['file']);
  });

  it('takes the place of a symbolic link, whose target is not touched', async () => {
    const target = join(directory, 'target');
    await writeFile(target, 'kept');
    await symlink(target, path);
    await replace(path, 'new');
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await readFile(target, 'utf8')).toBe('kept');
  });

  it('writes through no link that was planted beside it', async () => {
    const target = join(directory, 'target');
    await writeFile(target, 'kept');
    await symlink(target, `${path}.new`);
    await replace(path, 'new');
    expect(await readFile(target, 'utf8')).toBe('kept');
  });

  it('refuses to take the place of a directory', async () => {
    await expect(replace(directory, 'new')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    await rm(`${directory}.new`, { force: true });
  });
});

describe('replaceFile', () => {
  it('keeps the mode of what is there when it is told to, and leaves nothing over when it fails', async () => {
    await writeFile(path, 'old');
    await chmod(path, 0o640);
    await replaceFile(path, 'new', { keepMode: true });
    expect(await modeOf(path)).toBe('640');
    const failing = (async function* () {
      yield 'half';
      throw new Error('no more');
    })();
    await expect(replaceFile(path, failing)).rejects.toThrow('no more');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await readdir(directory)).toEqual(['file']);
  });

  it('lets one of several writers win whole', async () => {
    const texts = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(10_000));
    await Promise.all(texts.map((text) => replaceFile(path, text)));
    expect(texts).toContain(await readFile(path, 'utf8'));
    expect(await readdir(directory)).toEqual(['file']);
  });
});

describe('removeUnfinishedWrites', () => {
  it('removes what a crash left, no other file, and does not mind a directory that is not there', async () => {
    for (const name of ['.drover-0123456789abcdef.tmp', '.drover-notes.tmp', 'file'])
      await writeFile(join(directory, name), '');
    await removeUnfinishedWrites(directory);
    expect(await readdir(directory)).toEqual(['.drover-notes.tmp', 'file']);
    await writeFile(join(directory, '.drover-0123456789abcdef.tmp'), 'of another process');
    await removeUnfinishedWrites(directory, 60_000);
    expect(await readdir(directory)).toContain('.drover-0123456789abcdef.tmp');
    await expect(removeUnfinishedWrites(join(directory, 'absent'))).resolves.toBeUndefined();
  });
});
