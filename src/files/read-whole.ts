/** Reads a whole stream into memory, up to a limit. */

/**
 * Reads a stream of buffers to its end. Throws the stream's own error, or the error of `tooLong` as soon as more
 * than `mostBytes` have come. Either error destroys the stream.
 */
export async function readWhole(
  source: AsyncIterable<unknown>,
  mostBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > mostBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
