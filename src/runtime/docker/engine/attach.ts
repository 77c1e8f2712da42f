/** Opens a stream to a container's standard input: a request that becomes a plain connection. */
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface AttachOptions {
  readonly socketPath: string;
  readonly containerId: string;
  /** Ends the attempt, not the stream. */
  readonly signal: AbortSignal;
}

/**
 * Resolves with the connection. Throws what the engine answers, with its `statusCode`. The request has no body: Podman
 * would give it to the program as input.
 */
export function attachStdin({ socketPath, containerId, signal }: AttachOptions): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const attempt = request({
      socketPath,
      method: 'POST',
      path: `/containers/${encodeURIComponent(containerId)}/attach?stream=true&stdin=true`,
      headers: { Connection: 'Upgrade', Upgrade: 'tcp', 'Content-Length': 0 },
    });
    const abort = (): void => void attempt.destroy(new Error('nobody waits for the connection any more'));
    signal.addEventListener('abort', abort, { once: true });
    attempt.on('close', () => signal.removeEventListener('abort', abort));
    attempt.on('upgrade', (_answer, connection) => {
      signal.removeEventListener('abort', abort);
      resolve(connection);
    });
    attempt.on('response', (answer) => {
      text(answer).then((said) => {
        const { statusCode } = answer;
        reject(Object.assign(new Error(`HTTP ${statusCode}: ${said.slice(0, 500)}`), { statusCode }));
      }, reject);
    });
    attempt.on('error', reject);
    attempt.end();
  });
}
