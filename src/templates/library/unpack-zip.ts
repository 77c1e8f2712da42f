/**
 * Unpacks a zip into a directory after checking every entry: on the master for an import, in the client for a copy out
 * of a template. `archives.ts` makes zips into templates.
 */
import { mkdir, open, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { isSystemError } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { bytesOf } from '../tree/byte-stream.js';
import { looksLikeProgram } from '../tree/program-file.js';
import type { TreeLimits } from '../tree/tree.js';
import { ArchiveCheck, type CheckedEntry, tooLarge } from './archive-check.js';
import { invalid } from './invalid-archive.js';

/**
 * Unpacks the file `zip` into the empty directory `directory`; no other process may write either of them. Every entry
 * is checked before the first is written. Throws DRV_ARCHIVE_INVALID and DRV_ARCHIVE_TOO_LARGE; errors of the disk pass
 * unchanged. After a failure the caller removes what was unpacked.
 */
export async function unpackZip(
  zip: string,
  directory: string,
  limits: TreeLimits,
  signal: AbortSignal,
): Promise<{ readonly files: number; readonly bytes: number }> {
  const { size } = await stat(zip);
  const check = new ArchiveCheck(limits, size);
  try {
    await eachEntry(zip, signal, async (file, entry) => {
      check.checkCount(file.entryCount);
      check.add(entry);
    });
    await checkRoom(directory, check.total.bytes);
    // The zip's directory is read a second time instead of being kept in memory: its names may be many megabytes.
    const again = new ArchiveCheck(limits, size);
    await eachEntry(zip, signal, async (file, entry) => {
      const checked = again.add(entry);
      if (checked !== undefined) await writeEntry(directory, checked, file, entry);
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DroverError || isSystemError(error)) throw error;
    throw invalid(messageOf(error), error);
  }
  return check.total;
}

/** Refuses what would fill the disk: the sizes are known before the first byte is unpacked. */
async function checkRoom(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (bytes > free) throw tooLarge(`it unpacks to ${inMB(bytes)} MB, and the disk has ${inMB(free)} MB free`);
}

function inMB(bytes: number): number {
  return Math.floor(bytes / 1024 ** 2);
}

async function eachEntry(
  zip: string,
  signal: AbortSignal,
  work: (file: ZipFile, entry: Entry) => Promise<void>,
): Promise<void> {
  // Drover decodes and checks the names itself, by the same rules and with the same messages everywhere.
  const file = await openPromise(zip, { lazyEntries: true, autoClose: false, decodeStrings: false });
  // Ignore an error between two reads: the next read throws it.
  file.on('error', () => {});
  try {
    for await (const entry of file.eachEntry()) {
      signal.throwIfAborted();
      await work(file, entry);
    }
  } finally {
    file.close();
  }
}

async function writeEntry(
  directory: string,
  { path, isDirectory, executable }: CheckedEntry,
  zip: ZipFile,
  entry: Entry,
): Promise<void> {
  const target = join(directory, path);
  await mkdir(isDirectory ? target : dirname(target), { recursive: true });
  if (isDirectory) return;
  let checksum = 0;
  await whileOpen(open(target, 'wx+', executable === true ? 0o755 : 0o644), async (file) => {
    for await (const chunk of contentOf(zip, entry)) {
      checksum = crc32(chunk, checksum);
      await file.writeFile(chunk);
    }
    if (executable === undefined && (await looksLikeProgram(file))) await file.chmod(0o755);
  });
  if (checksum !== entry.crc32) throw invalid(`the content of ${JSON.stringify(path)} is damaged (CRC-32)`);
}

async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const content = await zip.openReadStreamPromise(entry);
  // The inflater works ahead of its reader: an error before or after the loop must not end the process. No await may
  // come between here and the loop, or an earlier error would be lost.
  content.on('error', () => {});
  try {
    yield* bytesOf(content);
  } finally {
    content.destroy();
  }
}
