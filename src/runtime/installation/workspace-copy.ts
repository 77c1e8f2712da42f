/**
 * Copies the files of a working directory out of the template cache: small files in batches by threads, large files in
 * steps.
 */
import { constants } from 'node:fs';
import { chmod, copyFile, type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { modeOf } from '../../templates/transfer/bundle.js';
import { type CopiedFile, executableMode } from '../../templates/transfer/copy-batch.js';
import { PACK_THREADS, type PackThreads } from '../../templates/transfer/pack-threads.js';
import type { WorkspaceItem } from './workspace-layers.js';

/** Larger files are copied in steps, so that an abort is heeded and no thread is busy for long. */
const LARGE_BYTES = 8 * 1024 * 1024;
const STEP_BYTES = 1024 * 1024;
/** The size of a batch, a few milliseconds of work, so that an abort is heeded and several installs take turns. */
const BATCH_FILES = 64;
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_DIRECTORIES = 1000;
/** Twice the threads, so that a thread that ends a batch finds the next batch ready. */
const BATCHES_UNDER_WAY = 2 * PACK_THREADS;
const NO_REFLINK = new Set(['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOTTY', 'ENOSYS']);

/** Copies `items` (parents before children) into the empty directory `target`, to which nothing else writes. */
export async function copyItems(
  threads: PackThreads,
  items: readonly WorkspaceItem[],
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const directories = items.filter(({ kind }) => kind === 'directory').map(({ path }) => path);
  for (let start = 0; start < directories.length; start += BATCH_DIRECTORIES) {
    signal.throwIfAborted();
    const some = directories.slice(start, start + BATCH_DIRECTORIES);
    await threads.copy(() => ({ target, directories: some, files: [] }));
  }
  const files = items.filter(({ kind }) => kind === 'file');
  const batches = [...smallFiles(files)];
  await eachBounded([...batches.keys()], BATCHES_UNDER_WAY, signal, () =>
    threads.copy((thread) => {
      // Each thread takes batches from its end, because threads that make files in the same directory wait for each
      // other.
      const batch = (thread === 0 ? batches.shift() : batches.pop()) ?? [];
      return { target, directories: [], files: batch.map(copied) };
    }),
  );
  await eachBounded(files.filter(isLarge), FILE_PARALLELISM, signal, (item) =>
    copyLarge(item, join(target, item.path), signal),
  );
}

function copied({ source, at, size, executable, path }: WorkspaceItem): CopiedFile {
  return { source, at, size, mode: modeOf(executable), path };
}

function isLarge({ size }: WorkspaceItem): boolean {
  return size > LARGE_BYTES;
}

function* smallFiles(files: readonly WorkspaceItem[]): Generator<WorkspaceItem[]> {
  let batch: WorkspaceItem[] = [];
  let bytes = 0;
  for (const file of files) {
    if (isLarge(file)) continue;
    batch.push(file);
    bytes += file.size;
    if (batch.length < BATCH_FILES && bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

async function copyLarge(item: WorkspaceItem, to: string, signal: AbortSignal): Promise<void> {
  try {
    await copyFile(item.source, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
  } catch (error) {
    if (!NO_REFLINK.has(systemCodeOf(error) ?? '')) throw error;
    return copyInSteps(item, to, signal);
  }
  if (item.executable) await chmod(to, executableMode((await stat(to)).mode));
}

async function copyInSteps(item: WorkspaceItem, to: string, signal: AbortSignal): Promise<void> {
  await whileOpen(open(item.source, 'r'), (source) =>
    whileOpen(open(to, 'wx', modeOf(item.executable)), (target) => pump(source, target, signal)),
  );
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
