/**
 * Tells which commit the files of a directory come from, and whether they match it. It asks git for names and hashes
 * only.
 */
import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf } from '../model/errors.js';
import type { Logger } from '../telemetry/logger.js';
import { git, isInWorkTree } from './git-program.js';

/** Where a file's content comes from. */
export interface GitOrigin {
  /** The commit that the work tree is at, in full. */
  readonly commit: string;
  /** True when the file differs from the commit. Null: unknown, as for a symbolic link, whose target may change. */
  readonly isDirty: boolean | null;
}

/** The largest file that is read, where a file's times do not tell. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;
const FILES_AT_ONCE = 32;
const MOST_NAMES = 50;
const BITS_32 = 0xffffffffn;
const TREE_ENTRY = /\d+ \w+ ([0-9a-f]+)\t([^\0]+)\0/g;
/**
 * An entry of git's index: a regular file without a conflict, with the times, the inode and the size that git
 * noted.
 */
const INDEX_ENTRY =
  /100\d+ ([0-9a-f]+) 0\t([^\0]+)\0\s+(ctime: \S+)\s+(mtime: \S+)\s+dev: \S+\s+(ino: \S+)\s+uid: \S+\s+gid: \S+\s+(size: \S+)/g;

/** The answers of git to one question. */
interface Known {
  readonly directory: string;
  readonly commit: string;
  /** The hashes of the commit's files in the directory, by name; undefined: git cannot read its objects. */
  readonly committed: ReadonlyMap<string, string> | undefined;
  /** The hash and the status that the index has of each file. */
  readonly noted: ReadonlyMap<string, string>;
  /** When the index was written, in nanoseconds. */
  readonly notedAt: bigint;
}

/**
 * The origins of `files`, which are names in `directory`. Never throws. Asks the disk anew each time.
 * Empty: the directory is in no work tree, or its commit does not have the directory, or git failed; then `onFailure`
 * gets the reason.
 */
export async function gitOriginsOf(
  directory: string,
  files: readonly string[],
  onFailure: (reason: string) => void = () => undefined,
): Promise<ReadonlyMap<string, GitOrigin>> {
  const origins = new Map<string, GitOrigin>();
  if (files.length === 0 || !(await isInWorkTree(directory))) return origins;
  try {
    const known = await knownOf(directory, files);
    // When the commit lists no file here, it does not have this directory.
    if (known.committed?.size === 0) return origins;
    for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
      const some = files.slice(from, from + FILES_AT_ONCE);
      const dirty = await Promise.all(some.map((file) => isDirty(known, file)));
      const converted = await convertedAmong(
        known,
        some.filter((_, index) => dirty[index] === true),
      );
      for (const [index, file] of some.entries())
        origins.set(file, {
          commit: known.commit,
          isDirty: converted.has(file) ? (converted.get(file) ?? null) : (dirty[index] ?? null),
        });
    }
  } catch (error) {
    onFailure(messageOf(error));
  }
  return origins;
}

/**
 * As `gitOriginsOf`, for whole templates: `<group>/<name>` in `directory`. A template is dirty when a file of it is, or
 * when it has a file that git neither tracks nor ignores.
 */
export async function templateOriginsOf(
  directory: string,
  templates: readonly string[],
  onFailure: (reason: string) => void = () => undefined,
): Promise<ReadonlyMap<string, GitOrigin>> {
  const found = new Map<string, GitOrigin>();
  const listed = (words: string) => git(directory, ...words.split(' '), '--', ...templates);
  const files = await Promise.all([
    listed('ls-tree -r -z --name-only HEAD'),
    listed('ls-files -z --others --exclude-standard'),
  ]).catch((error) => onFailure(messageOf(error)));
  const named = files?.join('').split('\0').filter(Boolean) ?? [];
  for (const [file, { commit, isDirty }] of await gitOriginsOf(directory, named, onFailure)) {
    const template = file.split('/', 2).join('/');
    // True counts before null, and null before false.
    const before = found.get(template)?.isDirty;
    const worst = before === true || isDirty === true || (before === null ? null : isDirty);
    found.set(template, { commit, isDirty: worst });
  }
  return found;
}

/**
 * True when git tracks files of the directory, by whatever link or work tree. False where git does not answer, which is
 * logged.
 */
export async function isTracked(directory: string, logger: Pick<Logger, 'warn'>): Promise<boolean> {
  if (!(await isInWorkTree(directory))) return false;
  return git(directory, 'ls-files', '-z', '--', '.').then(Boolean, (error) => {
    const reason = messageOf(error);
    logger.warn({ reason }, `whether git tracks ${directory} is not known: ${reason}`);
    return false;
  });
}

async function knownOf(directory: string, files: readonly string[]): Promise<Known> {
  const said = await git(directory, 'rev-parse', 'HEAD', '--git-path', 'index');
  const commit = said.slice(0, said.indexOf('\n'));
  const index = resolve(directory, said.slice(commit.length).trim());
  // With many names, reading the whole directory of the index is faster than matching them.
  const paths = files.length < MOST_NAMES ? files : ['.'];
  const [tree, entries, status] = await Promise.all([
    git(directory, 'ls-tree', '-r', '-z', commit).catch(() => undefined),
    // Only this command shows what git noted of a file without comparing contents, which would run filters.
    git(directory, 'ls-files', '-z', '--stage', '--debug', '--', ...paths).catch(() => ''),
    stat(index, { bigint: true }).catch(() => undefined),
  ]);
  const blobs = [...(tree ?? '').matchAll(TREE_ENTRY)].map(
    ([, blob = '', file = '']) => [file, blob] as const,
  );
  const noted = [...entries.matchAll(INDEX_ENTRY)].map(
    ([, blob = '', file = '', ...seen]) => [file, `${blob} ${seen.join(' ')}`] as const,
  );
  return {
    directory,
    commit,
    committed: tree === undefined ? undefined : new Map(blobs),
    noted: new Map(noted),
    notedAt: status?.mtimeNs ?? 0n,
  };
}

async function isDirty(known: Known, file: string): Promise<boolean | null> {
  const blob = known.committed?.get(file);
  if (known.committed !== undefined && blob === undefined) return true;
  const path = join(known.directory, file);
  const status = await lstat(path, { bigint: true }).catch(() => undefined);
  if (status === undefined) return true;
  if (!status.isFile() || blob === undefined) return null;
  // An equal status means that the file is as git wrote or added it. Its bytes may differ from the blob,
  // because filters change line endings. A file changed when the index was written, or later, may look
  // unchanged, so it is hashed.
  if (status.mtimeNs < known.notedAt && known.noted.get(file) === `${blob} ${notedOf(status)}`) return false;
  const now = await blobHash(path, blob.length);
  return now === undefined ? null : now !== blob;
}

/** The attributes by which git stores other bytes than those of the work tree. */
const CONVERTING = ['text', 'eol', 'filter', 'ident', 'working-tree-encoding'];

/**
 * The words for files whose bytes differ from the commit's, where git converts files. Line ends are compared as git
 * stores them; null: a filter decides, which Drover does not run. Files that git does not convert are left out.
 */
async function convertedAmong(
  known: Known,
  files: readonly string[],
): Promise<ReadonlyMap<string, boolean | null>> {
  const found = new Map<string, boolean | null>();
  if (files.length === 0) return found;
  const [said, ends] = await Promise.all([
    git(known.directory, 'check-attr', '-z', ...CONVERTING, '--', ...files),
    git(known.directory, 'config', '--get', 'core.autocrlf').catch(() => ''),
  ]);
  const values = new Map<string, string>();
  for (const [, file = '', attribute = '', value = ''] of said.matchAll(/([^\0]*)\0([^\0]*)\0([^\0]*)\0/g))
    values.set(`${attribute} ${file}`, value);
  for (const file of files) {
    const isSet = (attribute: string): boolean =>
      !['unspecified', 'unset', undefined].includes(values.get(`${attribute} ${file}`));
    const blob = known.committed?.get(file);
    if (blob === undefined) continue;
    if (['filter', 'ident', 'working-tree-encoding'].some(isSet)) found.set(file, null);
    else if (
      isSet('text') ||
      isSet('eol') ||
      (/^(?:true|input)$/.test(ends.trim()) && values.get(`text ${file}`) !== 'unset')
    ) {
      const stored = await blobHash(join(known.directory, file), blob.length, true);
      if (stored !== undefined) found.set(file, stored !== blob);
    }
  }
  return found;
}

/** The status of a file as git's index would note it, in the words of `ls-files --debug`. */
function notedOf({ ctimeNs, mtimeNs, ino, size }: BigIntStats): string {
  const instant = (at: bigint): string => `${at / 1_000_000_000n}:${at % 1_000_000_000n}`;
  return `ctime: ${instant(ctimeNs)} mtime: ${instant(mtimeNs)} ino: ${ino & BITS_32} size: ${size & BITS_32}`;
}

/**
 * Hashes a file as git does, without following a link, which it may have become. `withUnixLines`: with LF for CRLF. Undefined: no file, too large, or unreadable.
 */
async function blobHash(
  path: string,
  hashDigits: number,
  withUnixLines = false,
): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(path, flags).catch(() => undefined);
  try {
    const status = await file?.stat();
    if (file === undefined || status?.isFile() !== true || status.size > MAX_HASHED_BYTES) return undefined;
    const read = await file.readFile();
    const bytes = withUnixLines
      ? Buffer.from(read.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
      : read;
    const hash = createHash(hashDigits === 64 ? 'sha256' : 'sha1');
    return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
