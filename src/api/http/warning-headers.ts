/**
 * Tells a client which parts of its input had no effect, where the answer has no body: in `Warning` headers, as
 * Kubernetes does.
 */
import type { FastifyReply } from 'fastify';
import { cutText } from '../../model/words.js';

const MOST = 5;
const LONGEST = 300;

/** Adds a header for each text, five at most. */
export function addWarnings(reply: FastifyReply, texts: readonly string[]): void {
  if (texts.length > 0) reply.header('warning', texts.slice(0, MOST).map(warningHeader));
}

function warningHeader(text: string): string {
  const plain = cutText(text, LONGEST).replace(/[^\x20-\x7e]/g, '?');
  return `299 - "${plain.replace(/["\\]/g, '\\$&')}"`;
}
