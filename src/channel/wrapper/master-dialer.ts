/**
 * Connects a node to its master: TLS to the cluster port, then a request to join or the channel's WebSocket. The
 * master's certificate is checked before anything is said. Keys and trust belong to membership.ts.
 */
import type { X509Certificate } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import type { z } from 'zod';
import type { Clock } from '../../loop/clock.js';
import { withDeadline } from '../../loop/deadline.js';
import { DroverError, messageOf } from '../../model/errors.js';
import { systemReason } from '../../model/public-message.js';
import type { Transport } from '../protocol/transport.js';
import { WebSocketTransport } from '../protocol/websocket-transport.js';
import type { KeyPair } from '../trust/certificates.js';
import {
  CHANNEL_PATH,
  JOIN_PATH,
  type JoinRequest,
  joinAnswerSchema,
  MAX_JOIN_BYTES,
  refusalSchema,
} from '../trust/join-messages.js';
import { fingerprintOf, isIssuedBy } from '../trust/peer-certificate.js';

/** For TCP, TLS and the first answer: long enough to outlast a master that hangs for a moment. */
const DIAL_MS = 10_000;
/** The largest message of a master: a snapshot of everything that this node should hold. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** Checks the certificates that the other side shows. Throws DRV_JOIN_REFUSED when it is not the master. */
export type TrustCheck = (leaf: X509Certificate, issuer: X509Certificate | undefined) => void;

export interface MasterDialerOptions {
  readonly host: string;
  readonly port: number;
  /** A connection on which nothing came for so long is given up. */
  readonly silenceMs: number;
  readonly clock: Clock;
}

export class MasterDialer {
  readonly #options: MasterDialerOptions;

  constructor(options: MasterDialerOptions) {
    this.#options = options;
  }

  /** The address as an operator writes it. */
  get address(): string {
    const { host, port } = this.#options;
    return `${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /**
   * Answers with the authority behind the master, if it has this fingerprint, and the address that reached it. Throws
   * DRV_CHANNEL_CLOSED when there is no master, DRV_JOIN_REFUSED when it is another.
   */
  async probe(
    fingerprint: string,
    signal: AbortSignal,
  ): Promise<{ readonly authority: X509Certificate; readonly localAddress: string }> {
    return this.#within(signal, async (inner) => {
      const { socket, authority } = await this.#dialFor(fingerprint, inner);
      const { localAddress = '' } = socket;
      socket.destroy();
      return { authority, localAddress };
    });
  }

  /** Asks to join. The request is made only after the other side has shown the authority with this fingerprint. */
  async join(
    fingerprint: string,
    joinRequest: JoinRequest,
    signal: AbortSignal,
  ): Promise<{ readonly certificate: string; readonly authority: string }> {
    return this.#within(signal, async (inner) => {
      const { socket, authority } = await this.#dialFor(fingerprint, inner);
      try {
        const { status, body } = await post(socket, JSON.stringify(joinRequest));
        if (status !== 200) throw refusalOf(status, body, this.address);
        return {
          certificate: parseJson(joinAnswerSchema, body).certificate,
          authority: authority.toString(),
        };
      } finally {
        socket.destroy();
      }
    });
  }

  /** Opens the channel as a member. Throws DRV_JOIN_REFUSED, DRV_CHANNEL_CLOSED. */
  async open(credential: KeyPair, authority: X509Certificate, signal: AbortSignal): Promise<Transport> {
    const check: TrustCheck = (leaf) => {
      if (!isIssuedBy(leaf, authority, 'server')) throw this.#stranger("this node's");
    };
    return this.#within(signal, async (inner) => {
      const socket = await this.#dial(check, inner, credential);
      try {
        return await this.#upgrade(socket, inner);
      } catch (error) {
        socket.destroy();
        throw error;
      }
    });
  }

  async #dialFor(
    fingerprint: string,
    signal: AbortSignal,
  ): Promise<{ readonly socket: TLSSocket; readonly authority: X509Certificate }> {
    let authority: X509Certificate | undefined;
    const socket = await this.#dial((leaf, issuer) => {
      authority = issuer;
      const isTrusted =
        issuer !== undefined && fingerprintOf(issuer) === fingerprint && isIssuedBy(leaf, issuer, 'server');
      if (!isTrusted) throw this.#stranger("the join token's");
    }, signal);
    if (authority === undefined) throw this.#stranger("the join token's");
    return { socket, authority };
  }

  #stranger(whose: string): DroverError {
    return new DroverError(
      'DRV_JOIN_REFUSED',
      `what answers at ${this.address} is not the master of ${whose} cluster (its certificate has another authority): check masterAddress and masterPort, and that the token is of that master`,
    );
  }

  #dial(check: TrustCheck, signal: AbortSignal, credential?: KeyPair): Promise<TLSSocket> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      const socket = connect({
        host,
        port,
        minVersion: 'TLSv1.3',
        // The check below uses the cluster's own authority alone, and ignores the clock of this machine.
        rejectUnauthorized: false,
        ...(credential !== undefined && { key: credential.key, cert: credential.certificate }),
      });
      const onAbort = (): void => {
        socket.destroy();
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      socket.on('error', (error) => reject(this.#unreachable(error)));
      socket.on('close', () => reject(this.#unreachable(new Error('it hung up'))));
      socket.once('secureConnect', () => {
        signal.removeEventListener('abort', onAbort);
        try {
          checkPeer(socket, check);
          socket.setNoDelay(true);
          resolve(socket);
        } catch (error) {
          socket.destroy();
          reject(error);
        }
      });
    });
  }

  #upgrade(socket: TLSSocket, signal: AbortSignal): Promise<Transport> {
    const { silenceMs, clock } = this.#options;
    return new Promise((resolve, reject) => {
      const webSocket = new WebSocket(`ws://master${CHANNEL_PATH}`, {
        createConnection: () => socket,
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE_BYTES,
        followRedirects: false,
      });
      const onAbort = (): void => webSocket.terminate();
      signal.addEventListener('abort', onAbort, { once: true });
      webSocket.on('error', (error) => reject(this.#unreachable(error)));
      webSocket.once('unexpected-response', (_request, response) => {
        readBody(response).then(
          (body) => reject(refusalOf(response.statusCode ?? 0, body, this.address)),
          (error: unknown) => reject(this.#unreachable(error)),
        );
      });
      webSocket.once('open', () => {
        signal.removeEventListener('abort', onAbort);
        resolve(new WebSocketTransport({ webSocket, socket, silenceMs, peer: 'the master', clock }));
      });
    });
  }

  async #within<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const expired = (): DroverError =>
      this.#unreachable(new Error(`it did not answer in ${DIAL_MS / 1000} s`));
    return withDeadline({ limitMs: DIAL_MS, clock: this.#options.clock, signal, expired }, work);
  }

  #unreachable(cause: unknown): DroverError {
    return new DroverError('DRV_CHANNEL_CLOSED', `${this.address} cannot be used: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

function checkPeer(socket: TLSSocket, check: TrustCheck): void {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) throw new DroverError('DRV_JOIN_REFUSED', 'the other side shows no certificate');
  check(leaf, leaf.issuerCertificate);
}

function post(socket: TLSSocket, text: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      createConnection: () => socket,
      method: 'POST',
      path: JOIN_PATH,
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

async function readBody(response: IncomingMessage): Promise<string> {
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

/**
 * Makes an error of the master's answer: a 403 is a refusal; anything else is the master's own trouble, and may pass.
 */
function refusalOf(status: number, body: string, address: string): DroverError {
  const said = parseJsonSafely(body);
  if (said === undefined)
    return new DroverError(
      'DRV_CHANNEL_CLOSED',
      `${address} answers with ${status} and is no master of Drover`,
    );
  return new DroverError(status === 403 ? 'DRV_JOIN_REFUSED' : 'DRV_CHANNEL_CLOSED', said);
}

function parseJsonSafely(body: string): string | undefined {
  try {
    return parseJson(refusalSchema, body).error;
  } catch {
    return undefined;
  }
}

function parseJson<T>(schema: z.ZodType<T>, body: string): T {
  return schema.parse(JSON.parse(body));
}

/**
 * The reason of a failed connection. A host name with several addresses fails with an error for each, under an empty
 * message.
 */
function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  if (first instanceof Error && 'code' in first && first.code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it does not speak TLS, so it is no cluster port';
  return systemReason(first) ?? messageOf(first);
}
