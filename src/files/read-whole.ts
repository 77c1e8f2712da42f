/** Reads a whole stream into memory, up to a limit. */

/**
 * The bytes of a stream of buffers. Throws the stream's own error, or what `tooLong` makes as soon as more than
 * `mostBytes` have come. The stream is then destroyed.
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
