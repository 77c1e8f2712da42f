/**
 * Carries one request over a tunnel to the leader, and the leader's answer back. Bytes pass as fast as both sides take
 * them. A body stays with the client until the leader has taken the request (`100 Continue`). So a request that was not
 * taken can go to the next leader, however large it is.
 */
import { type IncomingMessage, request as makeRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { NOT_TAKEN } from '../../model/plain/not-taken.js';
import { hasBody } from '../http/time-limits.js';
import { headersFor, isOfConnection } from './client-address.js';
import type { TunnelPool } from './tunnel-pool.js';

/** How long the rest of a body is read and thrown away after the answer. Closing at once could lose the answer. */
const LINGER_MS = 2000;
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/**
 * The outcome of a try.
 *
 * - `answered`: the answer has begun, or the client has gone.
 * - `not-sent`: the leader got nothing of the request.
 * - `not-taken`: the leader got the request, but has not begun it.
 * - `lost`: the leader may have begun the request, and no answer came.
 */
export type Outcome = 'answered' | 'not-sent' | 'not-taken' | 'lost';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Called once, when a master takes the request, so that a client that waits with its body sends it. */
  readonly proceed: () => void;
}

/**
 * Carries the request. Resolves when the exchange is over. `sent` is called when a tunnel has taken the request.
 * `signal` ends the wait for a tunnel.
 */
export function relay(
  pool: Pick<TunnelPool, 'agent'>,
  { request, response, proceed }: Exchange,
  { sent, signal }: { readonly sent: () => void; readonly signal: AbortSignal },
): Promise<Outcome> {
  return new Promise((resolve) => {
    const waits = hasBody(request);
    let wasSent = false;
    const { method = 'GET', url = '/' } = request;
    const outgoing = makeRequest({ agent: pool.agent, method, path: url, headers: headersOf(request) });
    const end = (outcome: Outcome): void => {
      signal.removeEventListener('abort', giveUp);
      response.off('close', onGone);
      request.unpipe(outgoing);
      resolve(outcome);
    };
    // Node reports the failure of a destroyed request only when a tunnel comes for it, so the outcome is set here.
    const giveUp = (): void => {
      outgoing.destroy();
      end('not-sent');
    };
    const onGone = (): void => {
      outgoing.destroy();
      end('answered');
    };
    signal.addEventListener('abort', giveUp, { once: true });
    response.once('close', onGone);
    outgoing.once('socket', () => {
      signal.removeEventListener('abort', giveUp);
      wasSent = true;
      sent();
      if (waits) outgoing.flushHeaders();
      else request.pipe(outgoing);
    });
    outgoing.once('continue', () => {
      proceed();
      request.pipe(outgoing);
    });
    outgoing.once('response', (answer) => {
      response.off('close', onGone);
      if (answer.headers[NOT_TAKEN] === undefined) {
        passOn(answer, { request, response }, () => end('answered'));
        return;
      }
      end('not-taken');
      // Keep the tunnel for other requests, unless a body was announced on it.
      if (waits) outgoing.destroy();
      else answer.resume();
    });
    // After the answer, an error only means that the leader takes no more of the body.
    outgoing.on('error', () => {
      if (!response.headersSent) end(wasSent ? 'lost' : 'not-sent');
    });
  });
}

/**
 * The headers for the leader. A request without a body gets a length of 0 where its method usually has a body;
 * otherwise Node would announce a body.
 */
function headersOf(request: IncomingMessage): string[] {
  const headers = headersFor(request, false);
  if (hasBody(request)) return [...headers, 'expect', '100-continue'];
  const { method = '', headers: said } = request;
  if (
    !BODILESS.has(method) &&
    said['content-length'] === undefined &&
    said['transfer-encoding'] === undefined
  )
    headers.push('content-length', '0');
  return headers;
}

function passOn(
  answer: IncomingMessage,
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  done: () => void,
): void {
  const { statusCode = 502, statusMessage, headersDistinct } = answer;
  for (const [name, values = []] of Object.entries(headersDistinct))
    if (!isOfConnection(name) && name !== 'transfer-encoding')
      response.setHeader(name, values.length === 1 ? (values[0] ?? '') : values);
  response.writeHead(statusCode, statusMessage);
  // The first line of a stream may come much later, so the head is sent now.
  response.flushHeaders();
  pipeline(answer, response, () => {
    // An answer broke off: close the client's connection, so that the client notices it.
    if (!answer.complete) response.destroy();
    else dropRest(request);
    done();
  });
}

/** Reads the rest of a body for a moment and throws it away. */
export function dropRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
  request.once('close', () => clearTimeout(timer));
}
