/** Answers every failed request with `{error, code}` and a status. An answer holds no stack and no path of the server. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { asFilesLimit } from '../../files/open-files.js';
import { DroverError, type ErrorCode, messageOf } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';

/** Drover's codes and words for Fastify's own refusals: each says what would be right. */
const BY_FASTIFY_CODE: Readonly<Record<string, readonly [code: ErrorCode, text: string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [
    'DRV_REQUEST_TOO_LARGE',
    'the body is larger than this server takes (JSON: 1 MiB)',
  ],
  FST_ERR_CTP_INVALID_JSON_BODY: [
    'DRV_REQUEST_INVALID',
    'the body holds a forbidden key: __proto__ or constructor.prototype',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'DRV_REQUEST_INVALID',
    'the body is not as long as Content-Length says',
  ],
  FST_ERR_BAD_URL: ['DRV_REQUEST_INVALID', 'the URL is not valid: check its percent-encoding'],
  FST_ERR_HANDLER_TIMEOUT: [
    'DRV_REQUEST_GIVEN_UP',
    'the request took too long and was given up: look at the state before repeating it',
  ],
};
const UNEXPECTED = {
  status: 500,
  code: 'DRV_INTERNAL',
  text: 'unexpected fault of the server: its log says more',
} as const;

/** Answers a request that failed. Faults of the server are logged with their stack. */
export function replyWithError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): void {
  const { status, code, text } = answerOf(error);
  if (status >= 500) {
    const fields = { err: error, method: request.method, route: request.routeOptions.url ?? null, status };
    logger.error(fields, `request failed: ${messageOf(error)}`);
  }
  if (status === 503 || status === 429) reply.header('retry-after', '1');
  reply.code(status).send({ error: text, code, ...(status === 429 && { retryAfterMs: 1000 }) });
}

/** The status, code and text that answer an error. */
export function answerOf(error: unknown): { status: number; code: ErrorCode; text: string } {
  const said = error instanceof DroverError ? error : asFilesLimit(error);
  if (said !== undefined) {
    const { status, code, message: text } = said;
    return { status, code, text };
  }
  if (!isFastifyError(error)) return UNEXPECTED;
  const status = error.statusCode ?? 500;
  const [code, text] = BY_FASTIFY_CODE[error.code] ?? [];
  if (code !== undefined && text !== undefined) return { status, code, text };
  return status < 500
    ? { status, code: 'DRV_REQUEST_INVALID', text: 'this request is not one that the API takes' }
    : UNEXPECTED;
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('FST_');
}

const TIMEOUT = {
  status: '408 Request Timeout',
  code: 'DRV_REQUEST_TIMEOUT',
  text: 'the request took too long to arrive',
} as const;
const SOCKET_ERRORS: Readonly<Record<string, PlainAnswer>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'DRV_HEADERS_TOO_LARGE',
    text: 'the headers are larger than 16 KiB',
  },
  ERR_HTTP_REQUEST_TIMEOUT: TIMEOUT,
};
/** How long a client may take to read the answer and to close the connection. */
const LINGER_MS = 1000;
const MALFORMED = {
  status: '400 Bad Request',
  code: 'DRV_REQUEST_INVALID',
  text: 'this is not a well-formed HTTP request',
} as const;
/**
 * The answer to a client that speaks TLS. It is sent in clear: existing clients show the text, or at least tell that
 * the port speaks HTTP. A TLS alert would only speak of versions.
 */
const NO_TLS = {
  ...MALFORMED,
  text: 'this port speaks HTTP without TLS: use http://, or set apiTls',
} as const;
/** The first byte of a TLS connection. No HTTP request begins with it. */
export const TLS_HANDSHAKE = 0x16;

export type SocketError = Error & { readonly code?: string };

/** True when a client begins with TLS on a connection of a server that has no TLS. */
export function isTlsHello(error: SocketError, socket: Socket): boolean {
  // `rawPacket` holds the bytes that Node's parser refused.
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : undefined;
  return !('encrypted' in socket) && packet?.[0] === TLS_HANDSHAKE && socket.bytesRead <= packet.length;
}

/** Answers bytes that are not a request, and closes the connection. */
export function answerSocketError(error: SocketError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else endWith(socket, SOCKET_ERRORS[error.code ?? ''] ?? (isTlsHello(error, socket) ? NO_TLS : MALFORMED));
}

/** Answers a request whose body did not arrive in time, and closes the connection. */
export function answerTimeout(socket: Socket): void {
  endWith(socket, TIMEOUT);
}

interface PlainAnswer {
  readonly status: string;
  readonly code: ErrorCode;
  readonly text: string;
  /** Further lines of the answer's head. */
  readonly headers?: readonly string[];
}

/** Answers a request that has no `ServerResponse`, and closes its connection. */
export function endWith(socket: Duplex, { status, code, text, headers = [] }: PlainAnswer): void {
  const body = JSON.stringify({ error: text, code });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(status.startsWith('503') ? ['Retry-After: 1'] : []),
    ...headers,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Close the connection after a while, because the client may never close its half.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
