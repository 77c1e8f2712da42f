/** Shows the progress of a long copy on one line of a terminal. Shows nothing elsewhere, nor for a short copy. */

/** A copy shorter than this shows no progress. */
const PATIENCE_MS = 1000;
const EVERY_MS = 200;
/** The escape sequence that moves to the start of the line and clears it. */
const CLEAR = '\r\x1b[K';

/** A stream that may be a terminal. */
type ProgressStream = NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, 'isTTY'>>;

/**
 * Passes bytes through and counts them on a line that begins with `label`. The line is removed after the last byte or an
 * error.
 */
export async function* withProgress(
  source: AsyncIterable<Buffer>,
  label: string,
  stderr: ProgressStream,
  now = () => performance.now(),
): AsyncGenerator<Buffer> {
  if (stderr.isTTY !== true) return yield* source;
  const startAt = now();
  let bytes = 0;
  let saidAt = startAt + PATIENCE_MS - EVERY_MS;
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      const at = now();
      if (at - saidAt >= EVERY_MS) {
        saidAt = at;
        stderr.write(`${CLEAR}${label}: ${bytesText(bytes)}`);
      }
      yield chunk;
    }
  } finally {
    if (saidAt > startAt + PATIENCE_MS - EVERY_MS) stderr.write(CLEAR);
  }
}

/** Returns `512 bytes` or `1.5 MB` (1 MB is 1,000,000 bytes). */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const power = bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
  return `${(bytes / 1000 ** power).toFixed(1)} ${['', 'kB', 'MB', 'GB'][power]}`;
}
