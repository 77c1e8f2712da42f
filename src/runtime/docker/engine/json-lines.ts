/** Reads a stream of JSON values, one a line, as engines send their events and the progress of a pull. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** The longest accepted line. Engines send no longer lines. */
const LONGEST_LINE = 1024 * 1024;

/** Yields values until the stream ends. Throws the stream's error, and for a line that is too long or not JSON. */
export async function* jsonLines(stream: Readable): AsyncGenerator<unknown> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of stream) {
    rest += typeof chunk === 'string' ? chunk : decoder.write(chunk);
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw new Error('the container engine sent a line that is too long');
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
  if (rest.trim() !== '') yield JSON.parse(rest);
}
