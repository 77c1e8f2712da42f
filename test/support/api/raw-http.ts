/** Sends HTTP as bytes on a socket, for tests of requests that no client library would send. */
import { connect, type Socket } from 'node:net';

/**
 * Sends `text` and resolves with everything that came back, when the server has closed. `text` should say `Connection:
 * close`.
 */
export function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(port);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.write(text, 'latin1');
  });
}

/** Opens a connection for a test to write to. */
export function openSocket(port: number): Socket {
  return connect({ port, host: '127.0.0.1' });
}

/** The status code of a raw answer. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
}

/** The parsed JSON body of a raw answer. */
export function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}
