/**
 * Requests that Node's server would refuse in its own way, with an empty answer. Here they come to the handlers, so that
 * every refusal is `{error, code}`.
 */
import type { IncomingMessage, Server } from 'node:http';
import { invalidRequest } from '../../model/errors.js';

/** The option of a server that lets requests without `Host` through: see `requireHost`. */
export const HOSTLESS = { requireHostHeader: false } as const;

/** Throws DRV_REQUEST_INVALID for a request that must name its host (RFC 9112, 3.2) and does not. */
export function requireHost({ httpVersion, headers }: IncomingMessage): void {
  if (httpVersion === '1.1' && headers.host === undefined)
    throw invalidRequest('header Host: is missing, and HTTP/1.1 asks for it');
}

/** Handles a request with an unknown `Expect` as if it had none, which RFC 9110 (10.1.1) allows. */
export function ignoreExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
