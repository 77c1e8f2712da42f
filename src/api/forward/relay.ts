/** Carries one request over a tunnel to the leader, and the leader's answer back. Bytes pass as fast as both sides take them. */
import { type IncomingMessage, request as makeRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { headersFor, isOfConnection } from './client-address.js';
import type { TunnelPool } from './tunnel-pool.js';

/** How long the rest of a body is read and thrown away after the answer. Closing at once could lose the answer. */
const LINGER_MS = 2000;
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/**
 * `answered`: the answer has begun, or the client has gone: there is nothing left to do. `not-sent`: the leader got
 * nothing of the request. `lost`: it may have got it, and nothing of an answer has come.
 */
export type Outcome = 'answered' | 'not-sent' | 'lost';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Resolves when the exchange is over. `sent` is called when a tunnel has taken the request. `signal` ends the wait for one. */
export function relay(
  pool: Pick<TunnelPool, 'agent'>,
  { request, response }: Exchange,
  { sent, signal }: { readonly sent: () => void; readonly signal: AbortSignal },
): Promise<Outcome> {
  return new Promise((resolve) => {
    let wasSent = false;
    const { method = 'GET', url = '/' } = request;
    const outgoing = makeRequest({ agent: pool.agent, method, path: url, headers: headersOf(request) });
    const end = (outcome: Outcome): void => {
      signal.removeEventListener('abort', giveUp);
      response.off('close', onGone);
      request.unpipe(outgoing);
      resolve(outcome);
    };
    // Node says that a destroyed request has failed only when a tunnel comes for it.
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
      request.pipe(outgoing);
    });
    outgoing.once('response', (answer) => {
      response.off('close', onGone);
      passOn(answer, { request, response }, () => end('answered'));
    });
    // After an answer it says only that the leader takes no more of the body.
    outgoing.on('error', () => {
      if (!response.headersSent) end(wasSent ? 'lost' : 'not-sent');
    });
  });
}

/** Node would announce a body for methods that mostly have one. */
function headersOf(request: IncomingMessage): string[] {
  const headers = headersFor(request, { isUpgrade: false });
  const { method = '', headers: said } = request;
  if (
    !BODILESS.has(method) &&
    said['content-length'] === undefined &&
    said['transfer-encoding'] === undefined
  )
    headers.push('content-length', '0');
  return headers;
}

function passOn(answer: IncomingMessage, { request, response }: Exchange, done: () => void): void {
  const { statusCode = 502, statusMessage, headersDistinct } = answer;
  for (const [name, values = []] of Object.entries(headersDistinct))
    if (!isOfConnection(name) && name !== 'transfer-encoding')
      response.setHeader(name, values.length === 1 ? (values[0] ?? '') : values);
  response.writeHead(statusCode, statusMessage);
  // A stream of lines may have its first one much later.
  response.flushHeaders();
  pipeline(answer, response, () => {
    // An answer that broke off must not look whole.
    if (!answer.complete) response.destroy();
    else dropRest(request);
    done();
  });
}

/** Reads what is left of a body that nobody wants, for a moment. */
export function dropRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
  request.once('close', () => clearTimeout(timer));
}
