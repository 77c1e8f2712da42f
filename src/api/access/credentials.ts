/** Finds the one token that a request carries, wherever it may carry it; says nothing about what it is good for. */
import type { IncomingMessage } from 'node:http';
import { offeredProtocols, protocolToken } from './socket-protocols.js';
import { INSTANCE_TOKEN_LENGTH, KEY_TOKEN_LENGTH } from './tokens.js';

const SCHEME = 'Bearer ';
const AUTHORIZATION = 'authorization';

/**
 * The token in the Authorization header; on a WebSocket endpoint also that in a subprotocol. Undefined when there is
 * none, none that could be one, or two different ones. The checksum is not looked at: a key that is found by its
 * whole hash needs none. The query is never looked at: URLs end up in logs.
 */
export function tokenOf(request: IncomingMessage, isSocket: boolean): string | undefined {
  const { authorization, 'sec-websocket-protocol': protocols } = request.headers;
  const offered = isSocket ? protocolToken(offeredProtocols(protocols)) : undefined;
  if (offered === undefined) return ofTokenLength(headerToken(request));
  if (authorization !== undefined && headerToken(request) !== offered) return undefined;
  return ofTokenLength(offered);
}

function ofTokenLength(token: string | undefined): string | undefined {
  return token?.length === KEY_TOKEN_LENGTH || token?.length === INSTANCE_TOKEN_LENGTH ? token : undefined;
}

function headerToken({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const header = headers.authorization;
  if (header === undefined) return undefined;
  // The scheme's case is free (RFC 9110, 11.1); everything after it is not.
  if (!header.startsWith(SCHEME) && header.slice(0, SCHEME.length).toLowerCase() !== SCHEME.toLowerCase())
    return undefined;
  return hasSecondHeader(rawHeaders) ? undefined : header.slice(SCHEME.length);
}

/** Node keeps the first of two and hides the other, and a proxy in front may have looked at the other. */
function hasSecondHeader(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count++;
  }
  return count > 1;
}
