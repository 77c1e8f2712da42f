/**
 * Carries one request over a tunnel to the leader, and the leader's answer back. Bytes pass as fast as both sides take
 * them. A body stays with the client until the leader has taken the request (`100 Continue`): so one that was not taken
 * can go to the next leader, however large it is.
 */
import { type IncomingMessage, request as makeRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { NOT_TAKEN } from '../../model/plain/not-taken.js';
import { hasBody } from '../http/request-guard.js';
import { headersFor, isOfConnection } from './client-address.js';
import type { TunnelPool } from './tunnel-pool.js';

/** How long the rest of a body is read and thrown away after the answer. Closing at once could lose the answer. */
const LINGER_MS = 2000;
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/**
 * `answered`: the answer has begun, or the client has gone: there is nothing left to do. `not-sent`: the leader got
 * nothing of the request. `not-taken`: it has not begun with it. `lost`: it may have begun, and nothing of an answer has
 * come.
 */
export type Outcome = 'answered' | 'not-sent' | 'not-taken' | 'lost';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Called once, when a master takes the request: a client that waits with its body sends it now. */
  readonly proceed: () => void;
}

/** Resolves when the exchange is over. `sent` is called when a tunnel has taken the request. `signal` ends the wait for one. */
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
      // The tunnel stays, unless a body was announced on it.
      if (waits) outgoing.destroy();
      else answer.resume();
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
