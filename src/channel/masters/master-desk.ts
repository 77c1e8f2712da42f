/**
 * Answers the questions of the other masters of the cluster, on connections that the cluster port has checked: only
 * masters have the certificate for them. Questions of clients go through the API instead.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DroverError } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import type { Logger } from '../../telemetry/logger.js';

/** A configuration is 1 MiB at most; as a string inside JSON it grows. */
const MAX_QUESTION_BYTES = 4 * 1024 * 1024;

/** Answers a question of the master `from` with a value that is sent as JSON. */
export type Answer = (question: unknown, from: string) => unknown;
/** Answers with bytes. An error before the first byte becomes the answer. */
export type ByteAnswer = (question: unknown, from: string) => AsyncIterable<Buffer>;

export interface MasterDeskOptions {
  readonly logger: Pick<Logger, 'debug'>;
}

export class MasterDesk {
  readonly #options: MasterDeskOptions;
  readonly #answers = new Map<string, Answer>();
  readonly #byteAnswers = new Map<string, ByteAnswer>();
  readonly #peers = new WeakMap<Duplex, string>();
  readonly #connections = new Set<Duplex>();
  readonly #server: Server;

  constructor(options: MasterDeskOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Answers questions at `/name` with `answer` from now on. */
  on(name: string, answer: Answer): void {
    this.#answers.set(`/${name}`, answer);
  }

  onBytes(name: string, answer: ByteAnswer): void {
    this.#byteAnswers.set(`/${name}`, answer);
  }

  /** Takes a connection of the master `nodeId`. */
  take(connection: Duplex, nodeId: string): void {
    this.#peers.set(connection, nodeId);
    this.#connections.add(connection);
    connection.on('error', () => connection.destroy());
    connection.once('close', () => this.#connections.delete(connection));
    this.#server.emit('connection', connection);
  }

  /** Ends all connections. Idempotent. */
  stop(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Connection', 'close');
    try {
      const from = this.#peers.get(request.socket);
      const { url = '' } = request;
      const answer = this.#answers.get(url);
      const bytes = this.#byteAnswers.get(url);
      if (from === undefined || request.method !== 'POST' || (answer ?? bytes) === undefined)
        throw new DroverError(
          'DRV_NOT_IMPLEMENTED',
          `this master does not know ${url}: it runs another version`,
        );
      const question = await readQuestion(request);
      if (bytes !== undefined) return await sendBytes(response, bytes(question, from));
      sendJson(response, 200, (await answer?.(question, from)) ?? null);
    } catch (error) {
      this.#options.logger.debug({ err: error, url: request.url }, 'a question of another master failed');
      if (response.headersSent) response.destroy();
      else sendError(response, error);
    }
  }
}

async function readQuestion(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_QUESTION_BYTES)
      throw new DroverError('DRV_REQUEST_TOO_LARGE', 'the question of a master is too long');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new DroverError('DRV_REQUEST_INVALID', 'the question of a master is no JSON');
  }
}

async function sendBytes(response: ServerResponse, bytes: AsyncIterable<Buffer>): Promise<void> {
  const reading = bytes[Symbol.asyncIterator]();
  const first = await reading.next();
  response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
  await pipeline(async function* () {
    if (first.done !== true) yield first.value;
    yield* { [Symbol.asyncIterator]: () => reading };
  }, response);
}

function sendError(response: ServerResponse, error: unknown): void {
  const { status, code } = error instanceof DroverError ? error : { status: 500, code: 'DRV_INTERNAL' };
  sendJson(response, status, { code, error: publicMessage(error) });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}
