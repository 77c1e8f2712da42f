/**
 * Moves a copy into place. A file or a new directory moves in one step. Into an existing directory the files move one
 * by one, after a check that nothing is in the way.
 */
import { lstat, mkdir, realpath, rename, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ClientError, conflictError, usageError } from '../../command-tree/runs/client-error.js';
import { ignoreMissing, isMissing } from '../../files/system-error.js';
import type { TreeItem } from '../../templates/tree/tree.js';
import { systemFailure } from '../connection/private-text.js';

type TargetKind = 'absent' | 'file' | 'directory' | 'other';

/** Returns what kind of file is at a path. Links are followed. */
export async function kindOfTarget(path: string): Promise<TargetKind> {
  const status = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw unwritable(path, error);
  });
  if (status === undefined) return 'absent';
  if (status.isDirectory()) return 'directory';
  return status.isFile() ? 'file' : 'other';
}

/** Moves a file to `typed`. A directory there receives the file under its own name. Throws a ClientError. */
export async function putFile(source: string, typed: string): Promise<void> {
  const isInto = (await kindOfTarget(resolve(typed))) === 'directory';
  const target = isInto ? join(resolve(typed), basename(source)) : resolve(typed);
  const kind = await kindOfTarget(target);
  if (!isInto && kind === 'absent' && typed.endsWith('/')) throw usageError(`there is no directory ${typed}`);
  if (kind === 'directory' || kind === 'other')
    throw conflictError(`${target} is no file, and is not replaced`);
  // Replace the file that a link points to, and keep the link.
  const place = kind === 'file' ? await realpath(target) : target;
  await rename(source, place).catch((error: unknown) => {
    throw unwritable(target, error);
  });
}

/**
 * Creates the directory, or adds to an existing one. Throws a ClientError; an error before the first move leaves
 * everything unchanged.
 */
export async function putDirectory(
  source: string,
  entries: readonly TreeItem[],
  typed: string,
): Promise<void> {
  const target = resolve(typed);
  const kind = await kindOfTarget(target);
  if (kind === 'file' || kind === 'other')
    throw conflictError(`${typed} is no directory: what is copied is one`);
  try {
    if (kind === 'absent') return await rename(source, target);
    const missing = await missingDirectories(target, entries, typed);
    for (const { path, kind: wanted } of entries) {
      if (wanted === 'file') await rename(join(source, path), join(target, path));
      else if (missing.has(path)) await mkdir(join(target, path));
    }
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw unwritable(typed, error);
  }
}

/**
 * Returns the directories to create. Throws a ClientError when a link, or a path of another kind, is where an entry
 * must go.
 */
async function missingDirectories(
  target: string,
  entries: readonly TreeItem[],
  typed: string,
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>();
  for (const { path, kind } of entries) {
    const status = await lstat(join(target, path)).catch(ignoreMissing);
    if (status === undefined) {
      if (kind === 'directory') missing.add(path);
    } else if (kind === 'directory' ? !status.isDirectory() : !status.isFile()) {
      const there = status.isSymbolicLink()
        ? 'a link'
        : status.isDirectory()
          ? 'a directory'
          : 'no directory';
      throw conflictError(`${join(typed, path)} is ${there}, and a ${kind} is copied there`);
    }
  }
  return missing;
}

function unwritable(path: string, error: unknown): ClientError {
  return systemFailure(`${path} cannot be written`, error);
}
