/**
 * Copies the files of a working directory out of the template cache: fast for many small ones, in steps for large
 * ones.
 */
import { constants } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { eachBounded, FILE_PARALLELISM } from '../../templates/tree/each-bounded.js';
import { systemCodeOf } from '../../templates/tree/system-error.js';
import type { WorkspaceItem } from './workspace-layers.js';

/** Larger files are copied in steps, so that an abort is heeded and the I/O threads stay free. */
const LARGE_BYTES = 8 * 1024 * 1024;
const STEP_BYTES = 1024 * 1024;
const NO_REFLINK = new Set(['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOTTY', 'ENOSYS']);

/** Copies `items` (parents before children) into the empty directory `target`, which nobody else writes. */
export async function copyItems(
  items: readonly WorkspaceItem[],
  target: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { path, kind } of items) {
    if (kind === 'directory') await mkdir(join(target, path));
  }
  const files = items.filter(({ kind }) => kind === 'file');
  await eachBounded(files, FILE_PARALLELISM, signal, async (item) => {
    const to = join(target, item.path);
    if (item.size > LARGE_BYTES) await copyLarge(item, to, signal);
    else await copyFile(item.source, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  });
}

async function copyLarge(item: WorkspaceItem, to: string, signal: AbortSignal): Promise<void> {
  try {
    await copyFile(item.source, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
  } catch (error) {
    if (!NO_REFLINK.has(systemCodeOf(error) ?? '')) throw error;
    await copyInSteps(item, to, signal);
  }
}

async function copyInSteps(item: WorkspaceItem, to: string, signal: AbortSignal): Promise<void> {
  const source = await open(item.source, 'r');
  try {
    const target = await open(to, 'wx', item.executable ? 0o755 : 0o644);
    try {
      await pump(source, target, signal);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function pump(source: FileHandle, target: FileHandle, signal: AbortSignal): Promise<void> {
  const buffer = Buffer.allocUnsafe(STEP_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, STEP_BYTES);
    if (bytesRead === 0) return;
    await target.writeFile(buffer.subarray(0, bytesRead));
  }
}
