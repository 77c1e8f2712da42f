/**
 * Holds every answer that an API server in this process gives to the API's description, whoever asked and however: it
 * looks over the server's shoulder by Node's diagnostics channel. ApiWorld uses it; what it found fails the test.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { OpenApiCheck } from './openapi-check.js';

const CHANNEL = 'http.server.request.start';
/** A server under test listens on a port of the system's choice, and its configuration says so with 0. */
const PORT_ZERO = 'the body does not match: data/apiPort must be >= 1;';
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const messageSchema = z.object({
  request: z.instanceof(IncomingMessage),
  response: z.instanceof(ServerResponse),
});

const headTypeSchema = z.looseObject({ 'content-type': z.string().optional() });

export class AnswerWatch {
  /** Set by a test that breaks the server on purpose: what it says then is no problem. */
  tolerates: (problem: string) => boolean = () => false;
  readonly #check = OpenApiCheck.load();
  readonly #port: () => number | undefined;
  readonly #problems: string[] = [];

  /** `port`: of the server to watch, once it listens. */
  constructor(port: () => number | undefined) {
    this.#port = port;
  }

  start(): void {
    subscribe(CHANNEL, this.#onRequest);
  }

  /** Idempotent. Throws what was found. */
  stop(): void {
    unsubscribe(CHANNEL, this.#onRequest);
    const [first, ...more] = this.#problems.splice(0);
    if (first === undefined) return;
    throw new Error(`${more.length + 1} answers are not as manifests/openapi.json says, the first: ${first}`);
  }

  readonly #onRequest = (message: unknown): void => {
    const { request, response } = messageSchema.parse(message);
    if (request.socket.localPort !== this.#port()) return;
    const seen = new SeenAnswer(response);
    response.once('finish', () => this.#look(request, seen));
  };

  #look({ method = '', url = '' }: IncomingMessage, { status, contentType, body }: SeenAnswer): void {
    const problem = this.#check.problemOf({ method, url, status, contentType, body });
    if (problem === undefined || problem.includes(PORT_ZERO) || this.tolerates(problem)) return;
    this.#problems.push(problem);
  }
}

/** What goes out through a response: Fastify hands head and body to `writeHead`, `write` and `end`. */
class SeenAnswer {
  readonly #response: ServerResponse;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #headType: string | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
    this.#before('writeHead', (_status, ...headers) => this.#keepType(headers.at(-1)));
    this.#before('write', (chunk) => this.#keep(chunk));
    this.#before('end', (chunk) => this.#keep(chunk));
  }

  /** Fastify gives whole bodies their headers by `writeHead`, and sets those of streams before. */
  get contentType(): string | undefined {
    return this.#headType ?? this.#response.getHeader('content-type')?.toString();
  }

  get status(): number {
    return this.#response.statusCode;
  }

  /** Undefined when it is no JSON, or long. */
  get body(): string | undefined {
    const body = Buffer.concat(this.#chunks);
    return body.length === this.#bytes ? body.toString('utf8') : undefined;
  }

  #before(name: 'writeHead' | 'write' | 'end', look: (...args: unknown[]) => void): void {
    const original = this.#response[name];
    Object.assign(this.#response, {
      [name]: (...args: unknown[]): unknown => {
        look(...args);
        return Reflect.apply(original, this.#response, args);
      },
    });
  }

  #keepType(headers: unknown): void {
    this.#headType = headTypeSchema.safeParse(headers).data?.['content-type'];
  }

  #keep(chunk: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const piece = Buffer.from(chunk);
    this.#bytes += piece.length;
    if (this.contentType?.startsWith('application/json') === true && this.#bytes <= MAX_BODY_BYTES) {
      this.#chunks.push(piece);
    }
  }
}
