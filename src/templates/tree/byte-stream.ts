/** Bytes of streams whose types promise less. */

/** For streams that type their chunks as unknown. */
export async function* bytesOf(source: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('the archive gave something other than bytes');
    yield chunk;
  }
}
