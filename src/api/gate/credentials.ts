/** Finds the token that a request carries. The gate decides what the token is good for. */
import type { IncomingMessage } from 'node:http';
import { INSTANCE_TOKEN_LENGTH, KEY_TOKEN_LENGTH, SESSION_TOKEN_LENGTH } from '../../access/tokens.js';

/** The scheme may be written in any case, and any number of blanks follows it (RFC 9110, 11.1 and 11.4). */
const SCHEME = /^bearer +/i;
const AUTHORIZATION = 'authorization';
/**
 * WebSocket subprotocols may hold a key, as in Kubernetes, because browsers cannot set a header. The client offers
 * `base64url.bearer.authorization.drover.<base64url of the key>` and a second subprotocol. The server selects the
 * second, so that it never sends a key back.
 */
const BEARER = 'base64url.bearer.authorization.';
const OURS = `${BEARER}drover.`;
const LENGTHS: ReadonlySet<number> = new Set([KEY_TOKEN_LENGTH, SESSION_TOKEN_LENGTH, INSTANCE_TOKEN_LENGTH]);

/**
 * The token of the Authorization header; on a WebSocket endpoint, also of a subprotocol. Undefined: no text has the
 * length of a token, or the two places differ. The checksum is not checked here, because the whole hash decides. The
 * query is never read, because URLs end up in logs.
 */
export function tokenOf(request: IncomingMessage, isSocket: boolean): string | undefined {
  const { authorization, 'sec-websocket-protocol': protocols } = request.headers;
  const offered = isSocket ? protocolToken(offeredProtocols(protocols)) : undefined;
  if (offered === undefined) return ofTokenLength(headerToken(request));
  if (authorization !== undefined && headerToken(request) !== offered) return undefined;
  return ofTokenLength(offered);
}

/** True when a request carries no token at all, in no place, so that every route but the open ones refuses it. */
export function hasNoToken(request: IncomingMessage): boolean {
  return tokenOf(request, false) === undefined && tokenOf(request, true) === undefined;
}

function ofTokenLength(token: string | undefined): string | undefined {
  return token !== undefined && LENGTHS.has(token.length) ? token : undefined;
}

function headerToken({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const header = headers.authorization;
  if (header === undefined) return undefined;
  const scheme = SCHEME.exec(header)?.[0];
  if (scheme === undefined || hasSecondHeader(rawHeaders)) return undefined;
  return header.slice(scheme.length);
}

/**
 * True when a request has two Authorization headers. They count as none: Node shows only the first, and a proxy in
 * front may have checked the other.
 */
function hasSecondHeader(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count++;
  }
  return count > 1;
}

/** The subprotocols that the client offers, in its order. */
export function offeredProtocols(header: string | undefined): string[] {
  const text = header?.trim() ?? '';
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

/** The subprotocols that hold no key. The server may select one of them and send it back. */
export function selectableProtocols(offered: Iterable<string>): string[] {
  return [...offered].filter((protocol) => !isBearer(protocol));
}

/**
 * The key among the subprotocols; undefined: there is none. An empty text when it cannot be read, or when two keys
 * differ.
 */
function protocolToken(offered: readonly string[]): string | undefined {
  const tokens = new Set(offered.filter(isBearer).map(decode));
  const [token] = tokens;
  return tokens.size > 1 ? '' : token;
}

function isBearer(protocol: string): boolean {
  return protocol.startsWith(BEARER);
}

/** Decodes a key. Only the canonical spelling is accepted, which has no padding. */
function decode(protocol: string): string {
  const encoded = protocol.slice(OURS.length);
  const bytes = Buffer.from(encoded, 'base64url');
  const isExact = protocol.startsWith(OURS) && bytes.toString('base64url') === encoded;
  return isExact ? bytes.toString('latin1') : '';
}
