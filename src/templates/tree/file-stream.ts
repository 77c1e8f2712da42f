/** Streams the bytes of an open file to a client, and the bytes of an upload into an open file. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { DroverError, invalidRequest, messageOf, requestTooLarge } from '../../model/errors.js';

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads exactly the first `bytes` bytes of a file, then closes it. Fails when the file turns out shorter, because the
 * client was told the length. Bytes that are appended meanwhile are not read.
 */
export class FileContent extends Readable {
  readonly #file: FileHandle;
  #left: number;

  constructor(file: FileHandle, bytes: number) {
    super({ highWaterMark: CHUNK_BYTES });
    this.#file = file;
    this.#left = bytes;
  }

  override _read(): void {
    this.#next().then(
      (chunk) => this.push(chunk),
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#file.close().then(() => done(error), done);
  }

  async #next(): Promise<Buffer | null> {
    if (this.#left === 0) return null;
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, this.#left));
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    this.#left -= bytesRead;
    return buffer.subarray(0, bytesRead);
  }
}

/**
 * Writes all of `content` to the open file and resolves with the number of bytes. Throws DRV_REQUEST_TOO_LARGE beyond
 * `maxBytes`, DRV_REQUEST_INVALID when the content breaks off, the source's own DroverErrors, and the system's errors
 * for the file.
 */
export async function writeContent(file: FileHandle, content: Readable, maxBytes: number): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunksOf(content)) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw requestTooLarge(`the upload is larger than ${maxBytes} bytes: see maxUploadMB`);
    await file.writeFile(chunk);
  }
  return bytes;
}

/** Marks errors of the source, so that they do not look like errors of the disk. */
async function* chunksOf(content: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of content) yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
  } catch (cause) {
    if (cause instanceof DroverError) throw cause;
    const text = `the upload ended before it was complete (${messageOf(cause)}): nothing was changed`;
    throw invalidRequest(text, { cause });
  }
}
