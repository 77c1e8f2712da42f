/**
 * Connects a node to its master: TLS to the cluster port, then a request to join or the channel's WebSocket. It checks
 * the master's certificate before it sends anything. membership.ts keeps the keys and the trust.
 */
import type { X509Certificate } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import type { Clock } from '../../loop/clock.js';
import { withDeadline } from '../../loop/deadline.js';
import { channelClosed, DroverError, type ErrorCode, messageOf } from '../../model/errors.js';
import { hostPort, parseHostPort } from '../../model/plain/host-port.js';
import type { Transport } from '../protocol/transport.js';
import { WebSocketTransport } from '../protocol/websocket-transport.js';
import type { KeyPair } from '../trust/certificates.js';
import { CHANNEL_PATH, DESK_PATH, type JoinQuestion } from '../trust/join-messages.js';
import { fingerprintOf, isIssuedBy, nodeIdOf } from '../trust/peer-certificate.js';
import { ask, askForTunnel, ElsewhereError, readBody, reasonOf, refusalOf } from './join-question.js';

/** The limit for TCP, TLS and the first answer: long enough to outlast a master that hangs for a moment. */
const DIAL_MS = 10_000;
/** The limit for TCP, TLS and the first answer when there are other masters to ask. */
const DIAL_ONE_OF_MANY_MS = 3000;
const SWITCHED = 101;
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;
/** How many masters may redirect a question, one after the other, before it fails. */
const MOST_HOPS = 3;
const MB = 1024 * 1024;
/** The largest message of a master. A channel brings a snapshot of everything that this node should hold. */
const MOST_BYTES = { [CHANNEL_PATH]: 256 * MB, [DESK_PATH]: 16 * MB } as const;

/**
 * Checks the certificates of the other side. Throws DRV_JOIN_REFUSED or DRV_CHANNEL_CLOSED when they are not the
 * master's.
 */
type TrustCheck = (leaf: X509Certificate, issuer: X509Certificate | undefined) => void;

/** Another master of this cluster, and the certificate that this master shows to it. */
interface FellowMaster {
  readonly nodeId: string;
  readonly credential: KeyPair;
  /** The authority of the cluster. */
  readonly authority: X509Certificate;
}

interface Answered<T> {
  readonly answer: T;
  readonly authority: X509Certificate;
  /** The address of this machine that reached the master. */
  readonly localAddress: string;
}

interface MasterDialerOptions {
  readonly host: string;
  readonly port: number;
  /** A connection that brings nothing for this long is closed. */
  readonly silenceMs: number;
  readonly clock: Clock;
  /** False: another master may be asked, so this master gets less time. Default true. */
  readonly isOnly?: boolean;
}

export class MasterDialer {
  readonly #options: MasterDialerOptions;

  constructor(options: MasterDialerOptions) {
    this.#options = options;
  }

  /** The address of the master as an operator writes it. */
  get address(): string {
    const { host, port } = this.#options;
    return hostPort(host, port);
  }

  /** Opens the channel as a member. Throws DRV_JOIN_REFUSED, DRV_CHANNEL_CLOSED. */
  async open(credential: KeyPair, authority: X509Certificate, signal: AbortSignal): Promise<Transport> {
    const check: TrustCheck = (leaf) => {
      // Throw an error that is retried: the address may lead to another program only for a while.
      if (!isIssuedBy(leaf, authority, 'server'))
        throw this.#stranger('DRV_CHANNEL_CLOSED', "this node's", 'check masterAddress and masterPort');
    };
    return this.#on(check, credential, signal, (socket, inner) => this.#upgrade(socket, CHANNEL_PATH, inner));
  }

  /** Opens a tunnel to the API of another master of this cluster. Throws DRV_JOIN_REFUSED, DRV_CHANNEL_CLOSED. */
  async tunnel(fellow: FellowMaster, signal: AbortSignal): Promise<TLSSocket> {
    return this.#on(this.#checkOf(fellow), fellow.credential, signal, async (socket) => {
      const { status, body } = await askForTunnel(socket);
      if (status !== SWITCHED) throw refusalOf(status, body, this.address);
      return socket;
    });
  }

  /** Opens a connection to the desk of another master of this cluster. Throws like `tunnel`. */
  async openDesk(fellow: FellowMaster, signal: AbortSignal): Promise<Transport> {
    return this.#on(this.#checkOf(fellow), fellow.credential, signal, (socket, inner) =>
      this.#upgrade(socket, DESK_PATH, inner),
    );
  }

  #checkOf({ nodeId, authority }: FellowMaster): TrustCheck {
    return (leaf) => {
      if (!isIssuedBy(leaf, authority, 'server') || nodeIdOf(leaf) !== nodeId)
        throw this.#stranger('DRV_CHANNEL_CLOSED', "this master's", `it is not ${nodeId}`);
    };
  }

  #on<T>(
    check: TrustCheck,
    credential: KeyPair,
    signal: AbortSignal,
    use: (socket: TLSSocket, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#within(signal, async (inner) => {
      const socket = await this.#dial(check, inner, credential);
      const end = (): void => {
        socket.destroy();
      };
      inner.addEventListener('abort', end, { once: true });
      try {
        return await use(socket, inner);
      } catch (error) {
        socket.destroy();
        throw error;
      } finally {
        inner.removeEventListener('abort', end);
      }
    });
  }

  /**
   * Connects to the master whose authority has this fingerprint, asks the question, and hangs up after the answer.
   * `hops`: how many masters have redirected the question. Throws DRV_CHANNEL_CLOSED when no master can answer now, and
   * DRV_JOIN_REFUSED when the master refuses or belongs to another cluster.
   */
  async ask<T>(
    fingerprint: string,
    question: JoinQuestion<T>,
    signal: AbortSignal,
    hops = 0,
  ): Promise<Answered<T>> {
    try {
      return await this.#within(signal, async (inner) => {
        const { socket, authority } = await this.#dialFor(fingerprint, inner).catch((error: unknown) => {
          // The named leader may be dead: other masters name it until its lease ends. Ask another master then.
          const mayHaveDied = hops > 0 && DroverError.is(error, 'DRV_CHANNEL_CLOSED');
          throw mayHaveDied ? new ElsewhereError(messageOf(error), null) : error;
        });
        try {
          const localAddress = (socket.localAddress ?? '').replace(IPV4_IN_IPV6, '');
          const { status, body } = await ask(socket, question.path, question.content);
          if (status !== 200) throw refusalOf(status, body, this.address);
          return { answer: question.schema.parse(JSON.parse(body)), authority, localAddress };
        } finally {
          socket.destroy();
        }
      });
    } catch (error) {
      const named = error instanceof ElsewhereError ? error.leader : null;
      const leader = named === null ? undefined : parseHostPort(named.clusterAddress);
      if (leader === undefined || hops === MOST_HOPS) throw error;
      return new MasterDialer({ ...this.#options, ...leader }).ask(fingerprint, question, signal, hops + 1);
    }
  }

  async #dialFor(fingerprint: string, signal: AbortSignal) {
    const stranger = (): DroverError =>
      this.#stranger(
        'DRV_JOIN_REFUSED',
        "the join token's",
        'check masterAddress and masterPort, and that the token is of that master',
      );
    let authority: X509Certificate | undefined;
    const socket = await this.#dial((leaf, issuer) => {
      authority = issuer;
      const isTrusted =
        issuer !== undefined && fingerprintOf(issuer) === fingerprint && isIssuedBy(leaf, issuer, 'server');
      if (!isTrusted) throw stranger();
    }, signal);
    if (authority === undefined) throw stranger();
    return { socket, authority };
  }

  #stranger(code: ErrorCode, whose: string, advice: string): DroverError {
    return new DroverError(
      code,
      `what answers at ${this.address} is not the master of ${whose} cluster (its certificate has another authority): ${advice}`,
    );
  }

  #dial(check: TrustCheck, signal: AbortSignal, credential?: KeyPair): Promise<TLSSocket> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      const socket = connect({
        host,
        port,
        minVersion: 'TLSv1.3',
        // Skip Node's own check: the check below trusts only the cluster's authority, and ignores the clock of this
        // machine.
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
          const leaf = socket.getPeerX509Certificate();
          if (leaf === undefined) throw channelClosed('the other side shows no certificate');
          check(leaf, leaf.issuerCertificate);
          socket.setNoDelay(true);
          resolve(socket);
        } catch (error) {
          socket.destroy();
          reject(error);
        }
      });
    });
  }

  #upgrade(socket: TLSSocket, path: keyof typeof MOST_BYTES, signal: AbortSignal): Promise<Transport> {
    const { silenceMs, clock } = this.#options;
    return new Promise((resolve, reject) => {
      const webSocket = new WebSocket(`ws://master${path}`, {
        createConnection: () => socket,
        perMessageDeflate: false,
        maxPayload: MOST_BYTES[path],
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
    const limitMs = this.#options.isOnly === false ? DIAL_ONE_OF_MANY_MS : DIAL_MS;
    const expired = (): DroverError =>
      this.#unreachable(new Error(`it did not answer in ${limitMs / 1000} s`));
    return withDeadline({ limitMs, clock: this.#options.clock, signal, expired }, work);
  }

  #unreachable(cause: unknown): DroverError {
    return channelClosed(`${this.address} cannot be used: ${reasonOf(cause)}`, { cause });
  }
}
