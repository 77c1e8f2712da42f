/**
 * A question of a node that has no channel yet: one request over HTTP inside TLS, its answer, and the meaning of a
 * refusal.
 */
import { type IncomingMessage, request } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { z } from 'zod';
import type { MasterPeer } from '../../leadership/leadership.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { systemReason } from '../../model/words.js';
import {
  ELSEWHERE,
  MAX_JOIN_BYTES,
  refusalSchema,
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
} from '../trust/join-messages.js';

/** Asks the master one question on a connection of its own. Throws DRV_CHANNEL_CLOSED when the master hangs up. */
export function ask(
  socket: TLSSocket,
  path: string,
  question: object,
): Promise<{ readonly status: number; readonly body: string }> {
  const text = JSON.stringify(question);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      createConnection: () => socket,
      method: 'POST',
      path,
      headers: {
        Host: 'master',
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
        Connection: 'close',
      },
    });
    outgoing.on('error', (error) => reject(new DroverError('DRV_CHANNEL_CLOSED', reasonOf(error))));
    outgoing.on('response', (response) => {
      readBody(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    outgoing.end(text);
  });
}

/**
 * Asks the master to forward this connection to its API. After status 101 the connection leads to the API. Throws like
 * `ask`.
 */
export function askForTunnel(socket: TLSSocket): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      createConnection: () => socket,
      path: TUNNEL_PATH,
      headers: { Host: 'master', Connection: 'Upgrade', Upgrade: TUNNEL_PROTOCOL },
    });
    outgoing.on('error', (error) => reject(new DroverError('DRV_CHANNEL_CLOSED', reasonOf(error))));
    outgoing.on('upgrade', ({ statusCode: status = 0 }) => resolve({ status, body: '' }));
    outgoing.on('response', (response) => {
      readBody(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    outgoing.end();
  });
}

export async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const part: Buffer = chunk;
    bytes += part.length;
    if (bytes > MAX_JOIN_BYTES) throw new Error('the answer is too long');
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Thrown when the asked master does not lead and did nothing, so that the caller asks another master. */
export class ElsewhereError extends DroverError {
  /** The leader; null: no master leads now. */
  readonly leader: MasterPeer | null;

  constructor(message: string, leader: MasterPeer | null) {
    super('DRV_CHANNEL_CLOSED', message);
    this.name = 'ElsewhereError';
    this.leader = leader;
  }
}

/** The error for a master's answer: a 403 is a refusal; any other status is a fault of the master, which may pass. */
export function refusalOf(status: number, body: string, address: string): DroverError {
  const said = parseJsonSafely(body);
  if (said === undefined)
    return new DroverError(
      'DRV_CHANNEL_CLOSED',
      `${address} answers with ${status} and is no master of Drover`,
    );
  const { error, leader } = said;
  if (status === ELSEWHERE) return new ElsewhereError(error, leader ?? null);
  return new DroverError(status === 403 ? 'DRV_JOIN_REFUSED' : 'DRV_CHANNEL_CLOSED', error);
}

function parseJsonSafely(body: string): z.output<typeof refusalSchema> | undefined {
  try {
    return parseJson(refusalSchema, body);
  } catch {
    return undefined;
  }
}

export function parseJson<T>(schema: z.ZodType<T>, body: string): T {
  return schema.parse(JSON.parse(body));
}

/**
 * The reason of a failed connection. A host name with several addresses fails with an error for each address, under an
 * empty message.
 */
export function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  if (first instanceof Error && 'code' in first && first.code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it does not speak TLS, so it is no cluster port';
  return systemReason(first) ?? messageOf(first);
}
