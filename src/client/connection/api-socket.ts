/** Opens one API WebSocket. `boundConnect` limits how long any request waits for its connection. */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { ConnectionOptions } from 'node:tls';
import type { WebSocket } from 'ws';
import type { ClientError } from '../../command-tree/runs/client-error.js';
import { NotTakenError, readAnswer, refusalOf, refuseForeign, retryAfterOf } from './answers.js';
import { lateAnswer, unreachable } from './failures.js';
import type { Target } from './target.js';

interface SocketCall {
  readonly target: Target;
  /** The path, relative to `/api`. */
  readonly path: string;
  readonly tls: ConnectionOptions;
  readonly headers: OutgoingHttpHeaders;
  /** The time limit for the connection with its handshake. */
  readonly connectMs: number;
  /** The time limit for the answer. The master may first have to reach a node, as for an attached terminal. */
  readonly answerMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Resolves with an open socket. Throws a ClientError, or the error of the connection. Once `signal` aborts, it may
 * throw any error.
 */
export async function openApiSocket(call: SocketCall): Promise<WebSocket> {
  const { target, path, tls, headers, connectMs, answerMs, signal } = call;
  const { WebSocket: Socket } = await import('ws');
  const socket = new Socket(`${target.url.replace(/^http/, 'ws')}/api${path}`, {
    ...tls,
    headers,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: answerMs,
    finishRequest: (request) => {
      boundConnect(request, target, connectMs);
      request.end();
    },
  });
  const end = (): void => socket.terminate();
  signal?.addEventListener('abort', end);
  try {
    return await opened(socket, target);
  } catch (error) {
    const isLate = error instanceof Error && error.message === 'Opening handshake has timed out';
    throw isLate ? lateAnswer(target, answerMs) : error;
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

function opened(socket: WebSocket, target: Target): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.off('error', reject);
      // Pause until the caller has added listeners: otherwise a message that arrived with the answer would be lost.
      socket.pause();
      setImmediate(() => socket.resume());
      resolve(socket);
    });
    socket.on('error', reject);
    socket.once('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
      refused(target, response).then(reject, reject);
      response.once('close', () => request.destroy());
    });
  });
}

async function refused(target: Target, response: IncomingMessage): Promise<ClientError> {
  refuseForeign(target, response);
  const answer = await readAnswer(target, response);
  const refusal = refusalOf(target, answer);
  const retryAfterMs = retryAfterOf(response);
  if (refusal !== undefined && retryAfterMs !== undefined) return new NotTakenError(refusal, retryAfterMs);
  return (
    refusal ??
    unreachable(
      target,
      `it opens no WebSocket (status ${answer.status}): a proxy before it must let them pass`,
    )
  );
}

/** Ends the request with a ClientError when the connection and its handshake take too long. */
export function boundConnect(request: ClientRequest, target: Target, limitMs: number): void {
  const problem = `it takes no connection within ${limitMs / 1000} s: check host and port, and firewalls on the way`;
  const timer = setTimeout(() => request.destroy(unreachable(target, problem)), limitMs);
  const clear = (): void => clearTimeout(timer);
  request.once('close', clear);
  request.once('socket', (socket) => {
    if (!socket.connecting && request.reusedSocket) clear();
    else socket.once(target.url.startsWith('https:') ? 'secureConnect' : 'connect', clear);
  });
}
