/**
 * Answers plain HTTP on the API's port with TLS, one request for each connection. A browser that wants a page is sent
 * on to https. Every other client gets an error: if it were sent on, it would send its key in clear again each time,
 * without a person noticing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressBlockOf } from '../../loop/address-block.js';
import type { ErrorCode } from '../../model/errors.js';
import type { RepeatedLog } from '../../telemetry/repeated-log.js';
import { HOSTLESS, ignoreExpectations } from '../http/bare-requests.js';
import { answerSocketError } from '../http/error-reply.js';

/** A host name or an address in brackets, with or without a port. Any other Host header is never repeated. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
/** An absolute path of visible characters. It must not begin with `//`, because some clients read a host in it. */
const PATH = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]{0,2048}$/;

const TLS_REQUIRED: ErrorCode = 'DRV_TLS_REQUIRED';
const HTTPS_ONLY = 'this port speaks HTTPS: use https:// in the place of http://';
const KEY_IN_CLEAR =
  'This request carried a key in clear, so others on the network may have read it: replace the key';

/**
 * The function that answers the request of a connection. Its caller closes the connection when that takes too long.
 */
export function plainRequests(maxHeaderSize: number, log: RepeatedLog): (connection: Socket) => void {
  // This server never listens: it parses the requests of connections that are handed over.
  const server = createServer({ ...HOSTLESS, maxHeaderSize }, (request, response) =>
    answer(request, response, log),
  );
  // Answer a request with `Expect: 100-continue` in the same way; otherwise Node would ask for its body first.
  server.on('checkContinue', (request, response) => answer(request, response, log));
  ignoreExpectations(server);
  server.on('clientError', answerSocketError);
  return (connection) => {
    server.emit('connection', connection);
    connection.resume();
  };
}

function answer(request: IncomingMessage, response: ServerResponse, log: RepeatedLog): void {
  const hasKey = showsKey(request);
  if (hasKey) warn(request.socket.remoteAddress ?? '', log);
  const target = hasKey ? undefined : pageOf(request);
  // The rest of the request is read and thrown away: closing the connection over unread bytes could lose the answer.
  request.resume();
  response.setHeader('Connection', 'close');
  response.setHeader('Cache-Control', 'no-store');
  if (target === undefined) {
    const error = hasKey ? `${HTTPS_ONLY}. ${KEY_IN_CLEAR}` : HTTPS_ONLY;
    endWith(response, 400, 'application/json', JSON.stringify({ error, code: TLS_REQUIRED }));
    return;
  }
  response.setHeader('Location', target);
  // Not a permanent redirect, because browsers would remember it when TLS is off again.
  endWith(response, 307, 'text/plain', `${HTTPS_ONLY}\n`);
}

function warn(address: string, log: RepeatedLog): void {
  const block = addressBlockOf(address);
  const message = `a client at ${block} sent a key in clear to the API, which speaks HTTPS: let it use https, and replace the key`;
  log.say(`key in clear from ${block}`, message, { address: block });
}

function endWith(response: ServerResponse, status: number, type: string, text: string): void {
  const headers = { 'Content-Type': `${type}; charset=utf-8`, 'Content-Length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}

function showsKey({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined || headers['sec-websocket-protocol'] !== undefined;
}

/** The https address for a browser that wants a page; undefined: the request is not for a page. */
function pageOf({ method, url = '', headers }: IncomingMessage): string | undefined {
  const { host = '', accept = '', upgrade } = headers;
  const isPage =
    (method === 'GET' || method === 'HEAD') && upgrade === undefined && accept.includes('text/html');
  return isPage && HOST.test(host) && PATH.test(url) ? `https://${host}${url}` : undefined;
}
