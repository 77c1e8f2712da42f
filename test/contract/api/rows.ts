/**
 * Runs the rows of the API contract: one real daemon for each file of rows, requests that are checked against
 * `manifests/openapi.json`, and WebSockets. Each row has a test, whose name quotes it: `GET /ping: 200 {status,
 * ...}`.
 */
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { WebSocket } from 'ws';
import { OpenApiCheck } from '../../support/api/openapi-check.js';
import { DaemonWorld } from '../../support/daemon/daemon.js';

/** Long enough for a slow machine: after this the daemon hangs. */
const REQUEST_TIMEOUT_MS = 120_000;

interface RowRequest {
  readonly method: string;
  /** Below `/api`, sent as it is. */
  readonly path: string;
  /** An object is sent as JSON; bytes and text are sent as they are. */
  readonly body?: unknown;
  readonly headers?: OutgoingHttpHeaders;
  /** Default: the admin key. Null: no key. */
  readonly token?: string | null;
}

interface RowAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** The parsed body, when it is JSON. */
  readonly json: unknown;
}

interface RowSocket {
  readonly socket: WebSocket;
  /** The text frames so far; a binary one as `<binary>`. */
  readonly frames: string[];
  /** Code and reason of the close frame. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** A daemon whose API the rows call. */
export class RowWorld {
  readonly daemon: DaemonWorld;
  readonly #check = OpenApiCheck.load();
  readonly #sockets: WebSocket[] = [];

  private constructor(daemon: DaemonWorld) {
    this.daemon = daemon;
  }

  /** Starts a daemon. `prepare` fills its root before that. */
  static async start(prepare: (daemon: DaemonWorld) => void = () => {}): Promise<RowWorld> {
    const world = new RowWorld(await DaemonWorld.create());
    prepare(world.daemon);
    await world.daemon.start();
    return world;
  }

  /** Ends the daemon and its instances, and removes the root. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    await this.daemon.finish({ isFailed: false });
  }

  get adminKey(): string {
    return readFileSync(this.daemon.paths.adminKey, 'utf8').trim();
  }

  /** Sends a request that is given as one text, such as `POST /instances`. */
  call(row: string, options: Omit<RowRequest, 'method' | 'path'> = {}): Promise<RowAnswer> {
    const [method = '', path = ''] = row.split(' ');
    return this.send({ ...options, method, path });
  }

  /** Sends a request. Rejects when the answer is not as the API's description says. */
  async send({ method, path, body, headers, token = this.adminKey }: RowRequest): Promise<RowAnswer> {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    const payload = body === undefined || isRaw ? (body ?? '') : JSON.stringify(body);
    const answer = await this.#exchange(payload, {
      method,
      path: `/api${path}`,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(!isRaw && body !== undefined && { 'content-type': 'application/json' }),
        'content-length': Buffer.byteLength(payload),
        ...headers,
      },
    });
    const contentType = answer.headers['content-type'];
    const text = contentType?.startsWith('application/json') === true ? answer.bytes.toString() : '';
    const seen = { method, url: `/api${path}`, status: answer.status, contentType, body: text };
    const problem = this.#check.problemOf(seen);
    if (problem !== undefined) throw new Error(problem);
    return { ...answer, json: text === '' ? undefined : JSON.parse(text) };
  }

  /** Opens a WebSocket. Rejects with `Unexpected server response: <status>` when it is refused. */
  open(
    path: string,
    options: { readonly token?: string | null; readonly protocols?: string[] } = {},
  ): Promise<RowSocket> {
    const { token = this.adminKey, protocols = [] } = options;
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`ws://127.0.0.1:${this.daemon.apiPort}/api${path}`, protocols, { headers });
    this.#sockets.push(socket);
    const frames: string[] = [];
    socket.on('message', (data, isBinary) => frames.push(isBinary ? '<binary>' : String(data)));
    const closed = new Promise<{ code: number; reason: string }>((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('open', () => resolve({ socket, frames, closed }));
    });
  }

  #exchange(
    payload: string | Buffer,
    options: { method: string; path: string; headers: OutgoingHttpHeaders },
  ): Promise<Omit<RowAnswer, 'json'>> {
    const to = {
      host: '127.0.0.1',
      port: this.daemon.apiPort,
      agent: false as const,
      timeout: REQUEST_TIMEOUT_MS,
    };
    return new Promise((resolve, reject) => {
      const call = request({ ...to, ...options }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, bytes: Buffer.concat(chunks) });
        });
      });
      call.on('timeout', () => call.destroy(new Error(`${options.method} ${options.path}: no answer`)));
      call.on('error', reject);
      call.end(payload);
    });
  }
}
