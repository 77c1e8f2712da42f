/**
 * Checks every answer of an API server in this process against the API's description, whoever made the request. It
 * watches through Node's diagnostics channel. ApiWorld uses it, and a wrong answer fails the test.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { OpenApiCheck } from './openapi-check.js';

const CHANNEL = 'http.server.request.start';
/** Tolerated: a server under test says port 0, so that the system chooses a port, but the description allows no 0. */
const PORT_ZERO = 'the body does not match: data/apiPort must be >= 1;';
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const messageSchema = z.object({
  request: z.instanceof(IncomingMessage),
  response: z.instanceof(ServerResponse),
});

const headTypeSchema = z.looseObject({ 'content-type': z.string().optional() });

export class AnswerWatch {
  /** True for problems that the test causes on purpose by breaking the server. */
  tolerates: (problem: string) => boolean = () => false;
  readonly #check = OpenApiCheck.load();
  readonly #port: () => number | undefined;
  readonly #problems: string[] = [];

  /** `port` returns the port of the server to watch; undefined until it listens. */
  constructor(port: () => number | undefined) {
    this.#port = port;
  }

  start(): void {
    subscribe(CHANNEL, this.#onRequest);
  }

  /** Stops watching. Throws when an answer was wrong. Idempotent. */
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

/** Records an answer as it is sent: Fastify passes head and body to `writeHead`, `write` and `end`. */
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

  /** For a whole body Fastify passes the headers to `writeHead`; for a stream it sets them before. */
  get contentType(): string | undefined {
    return this.#headType ?? this.#response.getHeader('content-type')?.toString();
  }

  get status(): number {
    return this.#response.statusCode;
  }

  /** The body as text; undefined when it is not JSON, or is long. */
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
