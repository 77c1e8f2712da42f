/**
 * Encodes a batch of a followed log as one chunk of a stream: a line of JSON with its kind and numbers, then the lines
 * as text. Used by instance-streams.ts only.
 */
import { z } from 'zod';
import type { LogBatch } from '../../logs/log-batch.js';

/** The most lines of a batch, more than a node sends. */
const MOST_LINES = 10_000;

const lineNumber = z.int().min(1);
const headSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('lines'), firstLine: lineNumber }),
  z.object({ kind: z.literal('gap'), from: lineNumber, to: lineNumber }),
]);
type Head = z.output<typeof headSchema>;

export function encodeBatch(batch: LogBatch): Buffer {
  if (batch.kind === 'gap') return Buffer.from(JSON.stringify(batch satisfies Head));
  const head: Head = { kind: 'lines', firstLine: batch.firstLine };
  return Buffer.from(`${JSON.stringify(head)}\n${batch.lines.join('\n')}`);
}

/** Reads a chunk. Throws when the other side sent something else. */
export function decodeBatch(chunk: Buffer): LogBatch {
  const [first = '', ...lines] = chunk.toString('utf8').split('\n', MOST_LINES + 2);
  if (lines.length > MOST_LINES) throw new RangeError(`a batch of a log has more than ${MOST_LINES} lines`);
  const head = headSchema.parse(JSON.parse(first));
  return head.kind === 'gap' ? head : { ...head, lines };
}
