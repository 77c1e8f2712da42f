/**
 * The master's door for nodes: TLS with the cluster's own authority on the cluster port. A peer without a certificate
 * of the authority can only ask to join (POST /join). A node with one opens the channel under its own name.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../loop/clock.js';
import type { Part } from '../../loop/lifecycle.js';
import { DroverError } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import type { Logger } from '../../telemetry/logger.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import type { Transport } from '../protocol/transport.js';
import { WebSocketTransport } from '../protocol/websocket-transport.js';
import type { Authority } from '../trust/authority.js';
import { CHANNEL_PATH, JOIN_PATH, joinRequestSchema, MAX_JOIN_BYTES } from '../trust/join-messages.js';
import type { Members, Peer } from '../trust/members.js';
import { ClusterPort, type ClusterPortOptions, wrongDoor } from './cluster-port.js';

/** The largest message of a node: reports travel in batches, logs in chunks. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const HANDSHAKE_MS = 5000;
const HEADERS_MS = 5000;
const REQUEST_MS = 10_000;

export interface ClusterServerOptions extends Omit<ClusterPortOptions, 'onTls'> {
  readonly authority: Authority;
  readonly members: Members;
  /** Takes the connection of a node. */
  readonly accept: (transport: Transport, peer: Peer) => void;
  /** A connection on which nothing came for so long is given up. */
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
  readonly #refusals: RepeatedLog;
  #server: Promise<Server> | undefined;
  #isOpen = false;

  constructor(options: ClusterServerOptions) {
    this.#options = options;
    this.#port = new ClusterPort({ ...options, onTls: (socket) => void this.#onTls(socket) });
    this.#refusals = new RepeatedLog(options.logger, () => options.clock.monotonic());
  }

  /** The port it really listens on; undefined while it does not. */
  get port(): number | undefined {
    return this.#port.port;
  }

  /** Throws DRV_NODE_PORT_IN_USE or DRV_NODE_CONFIG_INVALID. */
  async start(): Promise<void> {
    await this.#port.start();
  }

  /**
   * Lets nodes in from now on, because the master's state is there. Until then they are disconnected and come again.
   */
  open(): void {
    this.#isOpen = true;
  }

  /** Lets no further node in; connected ones stay. */
  shut(): void {
    this.#isOpen = false;
  }

  async stop(): Promise<void> {
    this.shut();
    await this.#port.stop();
    (await this.#server)?.close();
  }

  /** Takes up a renewed certificate. Connections stay. */
  async renewServer(): Promise<void> {
    const credential = await this.#options.authority.serverCredential();
    (await this.#server)?.setSecureContext({ key: credential.key, cert: credential.certificate });
  }

  async #onTls(socket: Socket): Promise<void> {
    try {
      if (this.#isOpen) this.#server ??= this.#buildServer();
      const server = await this.#server;
      if (this.#isOpen && server !== undefined) server.emit('connection', socket);
      else socket.destroy();
    } catch (error) {
      // A full disk, perhaps: the next connection tries again.
      this.#server = undefined;
      this.#options.logger.error({ err: error }, 'the cluster port has no certificate to show');
      socket.destroy();
    }
  }

  async #buildServer(): Promise<Server> {
    const { key, certificate } = await this.#options.authority.serverCredential();
    const server = createServer(
      {
        key,
        cert: certificate,
        minVersion: 'TLSv1.3',
        requestCert: true,
        // members.ts decides instead: it knows more than signatures, and uses the master's clock.
        rejectUnauthorized: false,
        handshakeTimeout: HANDSHAKE_MS,
        headersTimeout: HEADERS_MS,
        requestTimeout: REQUEST_MS,
        maxHeaderSize: 16 * 1024,
      },
      (request, response) => void this.#onRequest(request, response),
    );
    server.on('upgrade', (request, socket, head) => void this.#onUpgrade(request, socket, head));
    server.on('tlsClientError', (error, socket) => {
      // A peer that hangs up in mid-handshake was not refused: `drover join` does so when it has seen enough.
      if ('code' in error && error.code === 'ECONNRESET') return;
      this.#refuse(`handshake ${error.message}`, socket.remoteAddress, 'the TLS handshake failed');
    });
    server.on('clientError', (_error, socket) => socket.destroy());
    return server;
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Connection', 'close');
    const address = request.socket.remoteAddress ?? '';
    if (request.method !== 'POST' || request.url !== JOIN_PATH) {
      response.writeHead(400, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(wrongDoor(this.#options.api));
      return;
    }
    try {
      const certificate = await this.#join(request, address);
      sendJson(response, 200, { certificate });
    } catch (error) {
      const refusal = error instanceof DroverError ? error : undefined;
      if (refusal === undefined) this.#options.logger.error({ err: error }, 'a node could not join');
      else this.#refuse(refusal.message, address, refusal.message);
      sendJson(response, refusal?.status ?? 500, { error: publicMessage(error) });
    }
  }

  async #join(request: IncomingMessage, address: string): Promise<string> {
    const parsed = joinRequestSchema.safeParse(await readJson(request));
    if (!parsed.success)
      throw new DroverError(
        'DRV_JOIN_REFUSED',
        `the join request is malformed (${parsed.error.issues[0]?.path.join('.') ?? ''}): run the same Drover version on both`,
      );
    return this.#options.members.admit(parsed.data, address);
  }

  async #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => {});
    const { members } = this.#options;
    try {
      if (request.url !== CHANNEL_PATH || !(socket instanceof TLSSocket))
        throw new DroverError(
          'DRV_JOIN_REFUSED',
          'there is no such channel: run the same Drover version on both',
        );
      const certificate = socket.getPeerX509Certificate();
      if (certificate === undefined)
        throw new DroverError('DRV_JOIN_REFUSED', 'a node without a certificate must join first');
      const peer = await members.authenticate(certificate);
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#open(webSocket, socket, peer),
      );
    } catch (error) {
      const message = publicMessage(error);
      this.#refuse(message, request.socket.remoteAddress, message);
      refuseUpgrade(
        socket,
        DroverError.is(error, 'DRV_JOIN_REFUSED') ? '403 Forbidden' : '503 Service Unavailable',
        message,
      );
    }
  }

  #open(webSocket: WebSocket, socket: TLSSocket, peer: Peer): void {
    const { clock, silenceMs, accept, members } = this.#options;
    this.#port.letIn(socket);
    socket.setNoDelay(true);
    const transport = new WebSocketTransport({
      webSocket,
      socket,
      silenceMs,
      peer: `node ${peer.nodeId}`,
      clock,
    });
    accept(transport, peer);
    // The node may have been forgotten since it was authenticated, when there was no connection to end yet.
    members.get(peer.nodeId).then(
      (member) => {
        if (member === undefined) transport.close('the node was forgotten');
      },
      () => transport.close('the master cannot read its state'),
    );
  }

  /** Logs one line per cause, not per try. */
  #refuse(cause: string, address: string | undefined, reason: string): void {
    this.#refusals.warn(
      cause,
      `refused a connection to the cluster port from ${address ?? 'somebody'}: ${reason}`,
      {
        address,
      },
    );
  }
}

/** Throws away the rest of a body that is too long, so that the peer can still read the answer. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_JOIN_BYTES) chunks.push(chunk);
      else
        reject(new DroverError('DRV_REQUEST_TOO_LARGE', `a join request is ${MAX_JOIN_BYTES} bytes at most`));
    });
    request.on('end', resolve);
    request.on('close', () => reject(new DroverError('DRV_CHANNEL_CLOSED', 'the joining node hung up')));
  });
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}

function refuseUpgrade(socket: Duplex, status: string, error: string): void {
  const body = JSON.stringify({ error });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
