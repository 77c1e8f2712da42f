/** The stand-ins that git leaves for contents that it has not fetched: the pointers of git-lfs, and empty submodules. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The beginning of the text that git-lfs leaves in the place of a file. */
export const LFS_POINTER = 'version https://git-lfs.github.com/spec/';
/** How to mend it, after the name of the file. */
export const IS_POINTER = 'is a pointer of git-lfs, not the file itself: run git lfs pull';
/** How to mend it, after the name of the directory. */
export const ABSENT_SUBMODULE = 'is a submodule of git that is not there: run git submodule update --init';

/** True for an empty directory that a `.gitmodules` of the work tree around it names. Reads files only, and runs no git. */
export async function isAbsentSubmodule(path: string): Promise<boolean> {
  const entries = await readdir(path).catch(() => ['unreadable']);
  if (entries.length > 0) return false;
  const directory = await realpath(path).catch(() => path);
  for (let top = dirname(directory); ; top = dirname(top)) {
    const modules = await readFile(join(top, '.gitmodules'), 'utf8').catch(() => '');
    for (const [, named = ''] of modules.matchAll(/^\s*path\s*=\s*"?(.*?)"?\s*$/gm))
      if (join(top, named) === directory) return true;
    const isTop =
      top === dirname(top) || (await stat(join(top, '.git')).catch(() => undefined)) !== undefined;
    if (isTop) return false;
  }
}
