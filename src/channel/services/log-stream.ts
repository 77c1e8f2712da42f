/**
 * Encodes a batch of a followed log as one chunk of a stream: a line of JSON that says what it is, then the lines as
 * text. Used by instance-streams.ts only.
 */
import { z } from 'zod';
import type { LogBatch } from '../../logs/log-batch.js';

const headSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('lines'), firstLine: z.int() }),
  z.object({ kind: z.literal('gap'), from: z.int(), to: z.int() }),
]);
type Head = z.output<typeof headSchema>;

export function encodeBatch(batch: LogBatch): Buffer {
  if (batch.kind === 'gap') return Buffer.from(JSON.stringify(batch satisfies Head));
  const head: Head = { kind: 'lines', firstLine: batch.firstLine };
  return Buffer.from(`${JSON.stringify(head)}\n${batch.lines.join('\n')}`);
}

/** Throws when the other side sent something else. */
export function decodeBatch(chunk: Buffer): LogBatch {
  const [first = '', ...lines] = chunk.toString('utf8').split('\n');
  const head = headSchema.parse(JSON.parse(first));
  return head.kind === 'gap' ? head : { ...head, lines };
}
