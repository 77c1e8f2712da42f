/** One HTTP request to the engine on its Unix socket, on a connection of its own. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { refusalOf } from './engine-error.js';

export interface EngineRequest {
  /** The method of the request. Default: `GET`. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/**
 * Resolves when the engine accepts the request; the caller reads the answer's body to its end. Rejects with
 * EngineRefusal, or with the error of the connection. `signal` ends the request and the body.
 */
export function ask(socketPath: string, asked: EngineRequest, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const body = asked.body === undefined ? '' : JSON.stringify(asked.body);
    const attempt = open(socketPath, asked, signal, {
      ...(asked.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(asked.method === 'POST' && { 'Content-Length': Buffer.byteLength(body) }),
    });
    attempt.on('error', reject);
    attempt.on('response', (answer) => {
      const { statusCode = 0 } = answer;
      if (statusCode >= 200 && statusCode < 300) resolve(answer);
      else refuse(answer, reject);
    });
    attempt.end(body);
  });
}

/**
 * Resolves with the connection that the request becomes. Rejects as `ask` does. Sends no body, because Podman would
 * pass the body to the program as input.
 */
export function upgrade(socketPath: string, asked: EngineRequest, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const headers = { Connection: 'Upgrade', Upgrade: 'tcp', 'Content-Length': 0 };
    const attempt = open(socketPath, asked, signal, headers);
    attempt.on('error', reject);
    attempt.on('response', (answer) => refuse(answer, reject));
    attempt.on('upgrade', (_answer, connection) => resolve(connection));
    attempt.end();
  });
}

function open(
  socketPath: string,
  { method = 'GET', path, query = {} }: EngineRequest,
  signal: AbortSignal,
  headers: Record<string, string | number>,
): ClientRequest {
  const search = new URLSearchParams(query).toString();
  // Use a new connection: a kept one breaks when the engine restarts, at the first request that could notice the
  // restart.
  const agent = false;
  return request({ socketPath, agent, method, path: search ? `${path}?${search}` : path, headers, signal });
}

function refuse(answer: IncomingMessage, reject: (error: unknown) => void): void {
  text(answer).then((words) => reject(refusalOf(answer.statusCode ?? 0, words)), reject);
}
