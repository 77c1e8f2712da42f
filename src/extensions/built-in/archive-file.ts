/** Unpacks an archive from the disk: zip, tar, or gzipped tar. Its first bytes decide, not its name. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { whileOpen } from '../../files/while-open.js';
import { messageOf } from '../../model/errors.js';
import { unpackZip } from '../../templates/library/unpack-zip.js';
import { unpackTree } from '../../templates/transfer/bundle.js';
import { TREE_LIMITS } from '../../templates/tree/tree.js';

const LIMITS = { ...TREE_LIMITS, isForeign: true };
/** Offset of `ustar` in a tar, the last of the signatures. */
const TAR_SIGNATURE_AT = 257;

type Format = 'zip' | 'tar' | 'gzip';

/**
 * Unpacks into an empty directory. Throws the reason why the archive cannot be used; the caller then removes the
 * unpacked files.
 */
export async function unpackArchive(file: string, directory: string, signal: AbortSignal): Promise<void> {
  const format = await formatOf(file);
  switch (format) {
    case 'zip':
      await unpackZip(file, directory, LIMITS, signal);
      return;
    case 'tar':
      return await unpackTree(createReadStream(file), directory, LIMITS, signal);
    case 'gzip':
      return await unpackTree(gunzipped(file, signal), directory, LIMITS, signal);
    default:
      return format satisfies never;
  }
}

async function formatOf(file: string): Promise<Format> {
  const start = Buffer.alloc(512);
  const { bytesRead } = await whileOpen(open(file, 'r'), (handle) => handle.read(start, 0, start.length, 0));
  const starts = (...bytes: number[]): boolean => bytes.every((byte, index) => start[index] === byte);
  if (starts(0x50, 0x4b, 0x03, 0x04) || starts(0x50, 0x4b, 0x05, 0x06)) return 'zip';
  if (starts(0x1f, 0x8b)) return 'gzip';
  if (start.toString('latin1', TAR_SIGNATURE_AT, Math.min(bytesRead, TAR_SIGNATURE_AT + 5)) === 'ustar')
    return 'tar';
  throw new Error('it is neither a zip nor a tar (plain or packed with gzip)');
}

async function* gunzipped(file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  const feeding = pipeline(createReadStream(file), gunzip, { signal });
  feeding.catch(() => undefined);
  try {
    // The end of the gzip counts, not that of the file: tools pad it with zeros, which nobody reads then.
    for await (const chunk of gunzip) yield chunk;
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`it is damaged: ${messageOf(error)}`);
  } finally {
    gunzip.destroy();
  }
}
