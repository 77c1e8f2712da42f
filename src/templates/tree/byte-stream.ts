/** Types the chunks of a stream as bytes. */

/** The same chunks, for a stream whose type says `unknown`. Throws TypeError for any other chunk. */
export async function* bytesOf(source: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('the archive gave something other than bytes');
    yield chunk;
  }
}
