/**
 * The master's door for nodes: TLS with the cluster's own authority on the cluster port. A peer that shows no
 * certificate of the authority can only ask to join (POST /join). A node that shows its certificate opens the channel
 * under its own name.
 */
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContextOptions, TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Leadership } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';
import type { Part } from '../../loop/lifecycle.js';
import type { AuditTrail } from '../../model/audit.js';
import { channelClosed, DroverError, requestTooLarge } from '../../model/errors.js';
import { attempt } from '../../model/plain/attempt.js';
import { publicMessage } from '../../model/public-message.js';
import type { Logger } from '../../telemetry/logger.js';
import { MOST_QUESTION_BYTES } from '../protocol/frame-codec.js';
import type { Transport } from '../protocol/transport.js';
import { WebSocketTransport } from '../protocol/websocket-transport.js';
import type { Admission } from '../trust/admission.js';
import type { Authority } from '../trust/authority.js';
import { DoorRefusal } from '../trust/door-refusal.js';
import {
  CHANNEL_PATH,
  DESK_PATH,
  ELSEWHERE,
  JOIN_CHECK_PATH,
  JOIN_MASTER_PATH,
  JOIN_PATH,
  MAX_JOIN_BYTES,
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
} from '../trust/join-messages.js';
import type { ClusterMembers, Peer } from '../trust/members.js';
import { ClusterPort, type ClusterPortOptions, httpAnswer, wrongDoor } from './cluster-port.js';
import { elsewhere, pointElsewhere } from './elsewhere.js';
import { type PortRefusal, PortRefusals } from './port-refusals.js';

/** The size limit for one message of a node: reports travel in batches, logs in chunks. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';
const HANDSHAKE_MS = 5000;
const HEADERS_MS = 5000;
const REQUEST_MS = 10_000;
/** The interval of TCP keep-alive probes, so that the connections of a master that is cut off end. */
const TUNNEL_KEEP_ALIVE_MS = 10_000;
const UPGRADES: ReadonlySet<string> = new Set([CHANNEL_PATH, TUNNEL_PATH, DESK_PATH]);

/** Makes the connection of a request into a WebSocket. */
type Upgrade = (use: (webSocket: WebSocket) => void) => void;

interface ClusterServerOptions extends Omit<ClusterPortOptions, 'onTls'> {
  readonly authority: Authority;
  readonly admission: Admission;
  readonly members: ClusterMembers;
  readonly audit: Pick<AuditTrail, 'record'>;
  /** Takes the connection of a node. */
  readonly accept: (transport: Transport, peer: Peer) => void;
  /** Tells who leads. Absent: this is the only master. */
  readonly leadership?: Pick<Leadership, 'leader' | 'isLeader' | 'masters'>;
  /** Takes a connection of another master to the API. Absent: there are no other masters. */
  readonly takeTunnel?: (connection: TLSSocket) => void;
  /** Takes a connection of another master to the desk. Absent: there are no other masters. */
  readonly takeDesk?: (connection: Transport, nodeId: string) => void;
  /** A connection that brings nothing for this long is closed. */
  readonly silenceMs: number;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

export class ClusterServer implements Part {
  readonly #options: ClusterServerOptions;
  readonly #port: ClusterPort;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
  readonly #refusals: PortRefusals;
  #server: Promise<Server> | undefined;
  #isOpen = false;

  constructor(options: ClusterServerOptions) {
    this.#options = options;
    this.#port = new ClusterPort({ ...options, onTls: (socket) => void this.#onTls(socket) });
    this.#refusals = new PortRefusals(options);
  }

  /** The port that the server listens on; undefined while the server does not listen. */
  get port(): number | undefined {
    return this.#port.port;
  }

  /** Begins to listen. Throws DRV_NODE_PORT_IN_USE or DRV_NODE_CONFIG_INVALID. */
  async start(): Promise<void> {
    await this.#port.start();
  }

  /**
   * Lets nodes in from now on, because the master's state is loaded. Before that, nodes are disconnected and dial
   * again.
   */
  open(): void {
    this.#isOpen = true;
  }

  /** Lets no further node in; connected nodes stay. */
  shut(): void {
    this.#isOpen = false;
  }

  async stop(): Promise<void> {
    this.shut();
    await this.#port.stop();
    (await this.#server)?.close();
  }

  /** Takes a renewed certificate into use. Connections stay. */
  async renewServer(): Promise<void> {
    const context = await this.#secureContext();
    (await this.#server)?.setSecureContext(context);
  }

  async #onTls(socket: Socket): Promise<void> {
    try {
      if (this.#isOpen) this.#server ??= this.#buildServer();
      const server = await this.#server;
      if (this.#isOpen && server !== undefined) {
        server.emit('connection', socket);
        return;
      }
    } catch (error) {
      // Drop the server that was not built, for example because the disk is full: the next connection builds the
      // server anew.
      this.#server = undefined;
      this.#options.logger.error({ err: error }, 'the cluster port has no certificate to show');
    }
    // Excuse the peer, which may be a node: it is not to blame when this master has no certificate.
    this.#port.excuse(socket);
    socket.destroy();
  }

  /**
   * Returns the complete context, because `setSecureContext` forgets each option that is left out, such as the minimum
   * version.
   */
  async #secureContext(): Promise<SecureContextOptions> {
    const { key, certificate } = await this.#options.authority.serverCredential();
    return { key, cert: certificate, minVersion: 'TLSv1.3' };
  }

  async #buildServer(): Promise<Server> {
    const server = createServer(
      {
        ...(await this.#secureContext()),
        requestCert: true,
        // members.ts checks the certificates instead: it also knows the members, and uses the master's clock.
        rejectUnauthorized: false,
        handshakeTimeout: HANDSHAKE_MS,
        headersTimeout: HEADERS_MS,
        requestTimeout: REQUEST_MS,
        maxHeaderSize: 16 * 1024,
      },
      (request, response) => void this.#onRequest(request, response),
    );
    // Allow one request for each connection; otherwise a stranger could send thousands.
    server.maxRequestsPerSocket = 1;
    server.on('upgrade', (request, socket, head) => void this.#onUpgrade(request, socket, head));
    server.on('tlsClientError', (error, socket) => {
      // A peer that hangs up during the handshake was not refused: `drover join` does so when it has seen the
      // certificate.
      if ('code' in error && error.code === 'ECONNRESET') return;
      this.#refusals.say({
        cause: 'handshake',
        message: 'the TLS handshake failed',
        address: socket.remoteAddress,
        what: 'handshake',
        nodeId: null,
      });
    });
    server.on('clientError', (_error, socket) => socket.destroy());
    return server;
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Connection', 'close');
    const { method, url, socket } = request;
    const answerTo = this.#joining(url);
    if (method !== 'POST' || answerTo === undefined) {
      response.writeHead(400, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(wrongDoor(this.#options.api));
      return;
    }
    try {
      const body = await readJson(request);
      if (!this.#leads) {
        this.#port.excuse(socket);
        sendJson(response, ELSEWHERE, elsewhere(this.#options.leadership));
        return;
      }
      const answer = await answerTo(body, socket.remoteAddress ?? '');
      this.#port.excuse(socket);
      sendJson(response, 200, answer);
    } catch (error) {
      if (error instanceof DroverError) this.#refuse(error, 'join', socket.remoteAddress);
      else this.#options.logger.error({ err: error }, 'a node could not join');
      sendJson(response, error instanceof DroverError ? error.status : 500, { error: publicMessage(error) });
    }
  }

  /** The function that answers a request to join at this path. */
  #joining(path: string | undefined): ((body: unknown, address: string) => Promise<object>) | undefined {
    const { admission } = this.#options;
    switch (path) {
      case JOIN_PATH:
        return async (body, address) => ({ certificate: await admission.admit(body, address) });
      case JOIN_CHECK_PATH:
        return (body) => admission.check(body);
      case JOIN_MASTER_PATH:
        return (body, address) => admission.admitMaster(body, address);
      default:
        return undefined;
    }
  }

  async #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => {});
    try {
      const { url = '' } = request;
      if (!UPGRADES.has(url) || !(socket instanceof TLSSocket))
        throw new DoorRefusal('protocol', 'there is no such channel: run the same Drover version on both');
      const certificate = socket.getPeerX509Certificate();
      if (certificate === undefined)
        throw new DoorRefusal('no-certificate', 'a node without a certificate must join first');
      if (url === TUNNEL_PATH) return await this.#openTunnel(socket, certificate);
      const upgrade = (use: (webSocket: WebSocket) => void): void =>
        this.#webSockets.handleUpgrade(request, socket, head, use);
      if (url === DESK_PATH) await this.#openDesk(socket, certificate, upgrade);
      else await this.#openChannel(socket, certificate, upgrade);
    } catch (error) {
      if (error instanceof DroverError) this.#refuse(error, 'channel', request.socket.remoteAddress);
      else this.#options.logger.error({ err: error }, 'a node could not be let in');
      const isFinal = DroverError.is(error, 'DRV_JOIN_REFUSED');
      const status = isFinal ? '403 Forbidden' : '503 Service Unavailable';
      socket.end(httpAnswer(status, JSON_TYPE, JSON.stringify({ error: publicMessage(error) })));
    }
  }

  get #leads(): boolean {
    return this.#options.leadership?.isLeader() ?? true;
  }

  /** Hands the connection of another master to the API. The certificate shows that the peer is a master. */
  async #openTunnel(socket: TLSSocket, certificate: X509Certificate): Promise<void> {
    const { takeTunnel } = this.#options;
    const { nodeId } = await this.#masterOf(certificate);
    if (takeTunnel === undefined) throw noMaster(nodeId);
    this.#port.letIn(socket);
    socket.setNoDelay(true).setKeepAlive(true, TUNNEL_KEEP_ALIVE_MS);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${TUNNEL_PROTOCOL}\r\n\r\n`,
    );
    takeTunnel(socket);
  }

  /** Hands the connection of another master to the desk, which also answers at masters that do not lead. */
  async #openDesk(socket: TLSSocket, certificate: X509Certificate, upgrade: Upgrade): Promise<void> {
    const { takeDesk } = this.#options;
    const peer = await this.#masterOf(certificate);
    if (takeDesk === undefined) throw noMaster(peer.nodeId);
    upgrade((webSocket) => takeDesk(this.#open(webSocket, socket, peer, MOST_QUESTION_BYTES), peer.nodeId));
  }

  /** The master that shows this certificate. Throws DoorRefusal for any other node. */
  async #masterOf(certificate: X509Certificate): Promise<Peer> {
    const peer = await this.#options.members.identify(certificate);
    if (peer.isMaster === true) return peer;
    throw noMaster(peer.nodeId);
  }

  async #openChannel(socket: TLSSocket, certificate: X509Certificate, upgrade: Upgrade): Promise<void> {
    const { members, accept } = this.#options;
    // A master that does not lead checks the certificate without reading any state, and then tells the node who leads.
    const isLeader = this.#leads;
    const peer = await (isLeader ? members.authenticate(certificate) : members.identify(certificate));
    upgrade((webSocket) => {
      const transport = this.#open(webSocket, socket, peer);
      if (isLeader) accept(transport, peer);
      else pointElsewhere(transport, this.#options.leadership);
      // The operator may have forgotten the node after its authentication, when there was no connection to end yet:
      // end it now.
      if (isLeader && peer.isMaster !== true) this.#endIfForgotten(transport, peer);
    });
  }

  #open(webSocket: WebSocket, socket: TLSSocket, peer: Peer, mostCallBytes?: number): Transport {
    const { clock, silenceMs } = this.#options;
    this.#port.letIn(socket);
    socket.setNoDelay(true);
    return new WebSocketTransport({
      webSocket,
      socket,
      silenceMs,
      peer: `node ${peer.nodeId}`,
      clock,
      ...(mostCallBytes !== undefined && { mostCallBytes }),
      mostFeedBytes: 0,
    });
  }

  #endIfForgotten(transport: Transport, { nodeId }: Peer): void {
    this.#options.members.get(nodeId).then(
      (member) => {
        if (member === undefined) transport.close('the node was forgotten');
      },
      () => transport.close('the master cannot read its state'),
    );
  }

  #refuse(error: DroverError, what: PortRefusal['what'], address: string | undefined): void {
    const { message } = error;
    const { reason: cause, nodeId } =
      error instanceof DoorRefusal ? error : { reason: error.code, nodeId: null };
    this.#refusals.say({ cause, message, address, what, nodeId });
  }
}

function noMaster(nodeId: string): DoorRefusal {
  return new DoorRefusal('no-master', 'only the masters of a cluster ask each other', { nodeId });
}

/**
 * Reads a JSON body. It throws away the rest of a body that is too long, so that the peer can still read the answer.
 */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_JOIN_BYTES) chunks.push(chunk);
      else reject(requestTooLarge(`a join request is ${MAX_JOIN_BYTES} bytes at most`));
    });
    request.on('end', resolve);
    request.on('close', () => reject(channelClosed('the joining node hung up')));
  });
  return attempt(() => JSON.parse(Buffer.concat(chunks).toString('utf8')));
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': JSON_TYPE });
  response.end(JSON.stringify(value));
}
