/** WebSocket clients for tests: clients of `ws`, and handshakes written by hand, which no library would send. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import { z } from 'zod';

const closeSchema = z.tuple([z.number(), z.instanceof(Buffer)]);

export class SocketClient {
  readonly websocket: WebSocket;
  /** The text frames so far; `<binary>` stands for a binary frame. */
  readonly texts: string[] = [];
  /** The binary frames so far, as one text. A listener that is added after `open` may miss the first frame. */
  binary = '';
  readonly closed: Promise<{ code: number; reason: string }>;
  #connection: Socket | undefined;

  private constructor(websocket: WebSocket) {
    this.websocket = websocket;
    websocket.on('message', (data, isBinary) => {
      this.texts.push(isBinary ? '<binary>' : data.toString());
      if (isBinary) this.binary += data.toString();
    });
    websocket.once('upgrade', ({ socket }) => {
      this.#connection = socket;
    });
    websocket.on('error', () => {});
    this.closed = once(websocket, 'close').then((event) => {
      const [code, reason] = closeSchema.parse(event);
      return { code, reason: reason.toString() };
    });
  }

  /** Opens a socket. Rejects with status and body when the server refuses it. */
  static async open(url: string, options: SocketOptions = {}): Promise<SocketClient> {
    const websocket = connect(url, options);
    const client = new SocketClient(websocket);
    const refused = once(websocket, 'unexpected-response').then(async (event: unknown[]) => {
      throw new Error(JSON.stringify(await readRefusal(event)));
    });
    await Promise.race([once(websocket, 'open'), refused]);
    refused.catch(() => {});
    return client;
  }

  /** The HTTP answer to a handshake that the server must refuse. */
  static async refusal(url: string, options: SocketOptions = {}): Promise<Refusal> {
    const websocket = connect(url, options);
    websocket.on('error', () => {});
    const opened = once(websocket, 'open').then(() => {
      websocket.terminate();
      throw new Error('the socket opened');
    });
    opened.catch(() => {});
    return Promise.race([once(websocket, 'unexpected-response').then(readRefusal), opened]);
  }

  /** The TCP connection below the socket. */
  get connection(): Socket {
    if (this.#connection === undefined) throw new Error('the socket is not open');
    return this.#connection;
  }

  send(text: string): void {
    this.websocket.send(text);
  }

  async close(): Promise<void> {
    this.websocket.close();
    await this.closed;
  }
}

export interface SocketOptions {
  readonly token?: string;
  readonly protocols?: readonly string[];
  readonly client?: ClientOptions;
}

export interface Refusal {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

function connect(url: string, { token, protocols = [], client = {} }: SocketOptions): WebSocket {
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...client.headers };
  return new WebSocket(url.replace(/^http/, 'ws'), [...protocols], { ...client, headers });
}

async function readRefusal(event: unknown[]): Promise<Refusal> {
  const [, response] = event;
  if (!isResponse(response)) throw new Error('no answer');
  const chunks: string[] = [];
  response.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  await once(response, 'end');
  return { status: response.statusCode ?? 0, headers: response.headers, body: chunks.join('') };
}

function isResponse(value: unknown): value is IncomingMessage {
  return value !== null && typeof value === 'object' && 'statusCode' in value;
}
