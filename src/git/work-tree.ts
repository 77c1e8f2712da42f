/** Finds the git work tree that a directory lies in, and the commit that it is at. Runs no git. */
import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { readText } from './bounded-file.js';

const MOST_LEVELS = 64;
const MOST_LINKS = 5;
const MAX_LINE_BYTES = 4096;
const MAX_PACKED_REFS_BYTES = 32 * 1024 * 1024;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** A name that cannot lead out of the git directory. */
const REF = /^refs(?:\/(?!\.)[^/\0\s\\]+)+$/;

export interface WorkTree {
  /** The directory's path in the work tree, with forward slashes; empty: it is the top. */
  readonly prefix: string;
  /** Holds HEAD and the index of this work tree. */
  readonly gitDirectory: string;
  /** Holds what all work trees of the repository share: refs and objects. */
  readonly commonDirectory: string;
}

/** Undefined: the directory lies in no work tree. Links in its path are followed first, as a checkout may be swapped in by one. */
export async function findWorkTree(directory: string): Promise<WorkTree | undefined> {
  const start = await realpath(directory).catch(() => undefined);
  let top = start;
  for (let level = 0; start !== undefined && top !== undefined && level < MOST_LEVELS; level++) {
    const gitDirectory = await gitDirectoryIn(top);
    if (gitDirectory !== undefined)
      return {
        prefix: relative(top, start),
        gitDirectory,
        commonDirectory: await commonDirectoryOf(gitDirectory),
      };
    top = dirname(top) === top ? undefined : dirname(top);
  }
  return undefined;
}

/** The commit that HEAD names; undefined: there is none yet, or its form is not known. */
export async function headOf({
  gitDirectory,
  commonDirectory,
}: Pick<WorkTree, 'gitDirectory' | 'commonDirectory'>): Promise<string | undefined> {
  let value = await readText(join(gitDirectory, 'HEAD'), MAX_LINE_BYTES);
  for (let link = 0; value !== undefined && link < MOST_LINKS; link++) {
    if (COMMIT.test(value)) return value;
    const ref = value.startsWith('ref: ') ? value.slice('ref: '.length) : '';
    if (!REF.test(ref)) return undefined;
    value =
      (await readText(join(gitDirectory, ref), MAX_LINE_BYTES)) ??
      (await readText(join(commonDirectory, ref), MAX_LINE_BYTES)) ??
      (await packedRef(commonDirectory, ref));
  }
  return undefined;
}

/** `.git` is a directory, or a file that names one: of a linked work tree, or of a submodule. */
async function gitDirectoryIn(top: string): Promise<string | undefined> {
  const path = join(top, '.git');
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) return undefined;
  const named = status.isDirectory() ? path : await namedDirectory(top, path);
  // Any directory may be called `.git`.
  return named !== undefined && (await readText(join(named, 'HEAD'), MAX_LINE_BYTES)) !== undefined
    ? named
    : undefined;
}

async function namedDirectory(top: string, path: string): Promise<string | undefined> {
  const text = await readText(path, MAX_LINE_BYTES);
  const named = text?.startsWith('gitdir: ') === true ? text.slice('gitdir: '.length) : undefined;
  return named === undefined || named.includes('\0') ? undefined : resolve(top, named);
}

async function commonDirectoryOf(gitDirectory: string): Promise<string> {
  const named = await readText(join(gitDirectory, 'commondir'), MAX_LINE_BYTES);
  return named === undefined || named.includes('\0') ? gitDirectory : resolve(gitDirectory, named);
}

async function packedRef(commonDirectory: string, ref: string): Promise<string | undefined> {
  const text = await readText(join(commonDirectory, 'packed-refs'), MAX_PACKED_REFS_BYTES);
  if (text === undefined) return undefined;
  const end = ` ${ref}`;
  return text
    .split('\n')
    .find((line) => line.endsWith(end))
    ?.slice(0, -end.length);
}
