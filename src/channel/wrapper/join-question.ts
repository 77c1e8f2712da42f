/**
 * A question of a node that has no channel yet: one request over HTTP inside TLS, its answer, and the meaning of a
 * refusal.
 */
import { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, request } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { readWhole } from '../../files/read-whole.js';
import type { MasterPeer } from '../../leadership/leadership.js';
import { channelClosed, DroverError, messageOf } from '../../model/errors.js';
import { systemReason } from '../../model/words.js';
import {
  ELSEWHERE,
  MAX_JOIN_BYTES,
  refusalSchema,
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
} from '../trust/join-messages.js';

/** An answer; status 101: the connection leads to the API from now on. */
interface JoinAnswer {
  readonly status: number;
  readonly body: string;
}

/** Asks the master one question on a connection of its own. Throws DRV_CHANNEL_CLOSED when the master hangs up. */
export function ask(socket: TLSSocket, path: string, question: object): Promise<JoinAnswer> {
  const text = JSON.stringify(question);
  const about = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  return send(socket, { method: 'POST', path, headers: { ...about, Connection: 'close' } }, text);
}

/** Asks the master to forward this connection to its API. Throws like `ask`. */
export function askForTunnel(socket: TLSSocket): Promise<JoinAnswer> {
  const headers = { Connection: 'Upgrade', Upgrade: TUNNEL_PROTOCOL };
  return send(socket, { path: TUNNEL_PATH, headers });
}

function send(
  socket: TLSSocket,
  { headers, ...options }: RequestOptions & { readonly headers: OutgoingHttpHeaders },
  text?: string,
): Promise<JoinAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...options,
      createConnection: () => socket,
      headers: { Host: 'master', ...headers },
    });
    outgoing.on('error', (error) => reject(channelClosed(reasonOf(error))));
    outgoing.on('upgrade', ({ statusCode: status = 0 }) => resolve({ status, body: '' }));
    outgoing.on('response', (response) => {
      readBody(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    outgoing.end(text);
  });
}

export async function readBody(response: IncomingMessage): Promise<string> {
  return String(await readWhole(response, MAX_JOIN_BYTES, () => new Error('the answer is too long')));
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
  try {
    const { error, leader } = refusalSchema.parse(JSON.parse(body));
    if (status === ELSEWHERE) return new ElsewhereError(error, leader ?? null);
    return new DroverError(status === 403 ? 'DRV_JOIN_REFUSED' : 'DRV_CHANNEL_CLOSED', error);
  } catch {
    return channelClosed(`${address} answers with ${status} and is no master of Drover`);
  }
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
