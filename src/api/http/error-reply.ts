/** Answers every failed request with `{error}` and a status. An answer holds no stack and no path of the server. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { DroverError, messageOf } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { sendError } from './json-reply.js';

/** Drover's words for Fastify's own refusals: each says what would be right. */
const TEXT_BY_CODE: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'the body is larger than this server takes (JSON: 1 MiB)',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'this content type is not accepted here: send application/json',
  FST_ERR_CTP_INVALID_JSON_BODY:
    'the body is not valid JSON in UTF-8, or it holds a forbidden key (__proto__ or constructor.prototype)',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body is not as long as Content-Length says',
  FST_ERR_BAD_URL: 'the URL is not valid: check its percent-encoding',
  FST_ERR_HANDLER_TIMEOUT:
    'the request took too long and was given up: look at the state before repeating it',
};
const UNEXPECTED = 'unexpected fault of the server: its log says more';

/** Answers a request that failed. Faults of the server are logged with their stack. */
export function replyWithError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): void {
  const { status, text } = translate(error);
  if (status >= 500) {
    const fields = { err: error, method: request.method, route: request.routeOptions.url ?? null, status };
    logger.error(fields, `request failed: ${messageOf(error)}`);
  }
  if (status === 503 || status === 429) reply.header('retry-after', '1');
  if (status === 429) reply.code(status).send({ error: text, retryAfterMs: 1000 });
  else sendError(reply, status, text);
}

function translate(error: unknown): { status: number; text: string } {
  if (error instanceof DroverError) return { status: error.status, text: error.message };
  if (!isFastifyError(error)) return { status: 500, text: UNEXPECTED };
  const status = error.statusCode ?? 500;
  const text = TEXT_BY_CODE[error.code];
  if (text !== undefined) return { status, text };
  return status < 500 ? { status, text: error.message } : { status: 500, text: UNEXPECTED };
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('FST_');
}

const TIMEOUT = ['408 Request Timeout', 'the request took too long to arrive'] as const;
const SOCKET_ERRORS: Readonly<Record<string, readonly [status: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are larger than 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: TIMEOUT,
};
/** How long a client may take to read such an answer and to close. */
const LINGER_MS = 1000;
const MALFORMED = ['400 Bad Request', 'this is not a well-formed HTTP request'] as const;
/**
 * Sent in clear: existing clients show it, or at least tell that this is HTTP. A TLS alert would only speak of
 * versions.
 */
const NO_TLS = ['400 Bad Request', 'this port speaks HTTP without TLS: use http://, or set apiTls'] as const;
/** The first byte of a TLS connection. No HTTP request begins with it. */
export const TLS_HANDSHAKE = 0x16;

export type SocketError = Error & { readonly code?: string };

/** True when a client begins with TLS on a connection of a server that has no TLS. */
export function isTlsHello(error: SocketError, socket: Socket): boolean {
  // Node adds the bytes that its parser refused.
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : undefined;
  return !('encrypted' in socket) && packet?.[0] === TLS_HANDSHAKE && socket.bytesRead <= packet.length;
}

/** Answers bytes that are not a request, and closes the connection. */
export function answerSocketError(error: SocketError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text] = SOCKET_ERRORS[error.code ?? ''] ?? (isTlsHello(error, socket) ? NO_TLS : MALFORMED);
  endWith(socket, { status, text });
}

/** Answers a request whose body did not arrive in time, and closes the connection. */
export function answerTimeout(socket: Socket): void {
  const [status, text] = TIMEOUT;
  endWith(socket, { status, text });
}

export interface PlainAnswer {
  readonly status: string;
  readonly text: string;
  /** Further lines of the answer's head. */
  readonly headers?: readonly string[];
}

/** Answers a request that has no `ServerResponse`, and closes its connection. */
export function endWith(socket: Duplex, { status, text, headers = [] }: PlainAnswer): void {
  const body = JSON.stringify({ error: text });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(status.startsWith('503') ? ['Retry-After: 1'] : []),
    ...headers,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // The client may never close its half of the connection.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
