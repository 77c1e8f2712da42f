/**
 * Calls the API for commands: what is refused becomes a ClientError with the exit code of its kind. The data is taken as
 * it comes: the master may be older or newer than this client, and a schema would refuse it for that.
 */
import type { Readable } from 'node:stream';
import { bytesOf } from '../templates/tree/byte-stream.js';
import { ClientError, EXIT } from './client-error.js';
import { refusalOf } from './connection/answers.js';
import type { Answer, ApiConnection, RequestOptions, StreamOptions } from './connection/connection.js';

/** What a master says of a path that it does not have. A method of it that it does not have is a 405. */
const NO_ROUTE = 'there is no such endpoint';

/** May be used by several calls at once. */
export class ApiClient {
  readonly connection: ApiConnection;
  #now: number | undefined;

  constructor(connection: ApiConnection) {
    this.connection = connection;
  }

  /**
   * Unix milliseconds by the clock of the master, as its last answer says, exact to a second: the clock here may be
   * wrong.
   */
  get now(): number {
    return this.#now ?? Date.now();
  }

  /** Throws a ClientError. */
  get<T>(path: string): Promise<T> {
    return this.send('GET', path);
  }

  /** The answer to a GET; undefined where there is no such thing. Throws a ClientError for any other refusal. */
  async find<T>(path: string): Promise<T | undefined> {
    const answer = await this.#ask('GET', path);
    if (answer.status === 404 && !isRouteMissing(answer)) return undefined;
    return this.#accept(answer);
  }

  /** Throws a ClientError. */
  async send<T>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.#accept(await this.#ask(method, path, body, options));
  }

  /**
   * The body of an answer, as it comes. Whoever does not read it to its end destroys it. Throws a ClientError for a refusal.
   */
  async stream(method: string, path: string, options?: StreamOptions): Promise<Readable> {
    const { status, headers, body } = await this.connection.stream(method, path, options);
    if (status >= 400) this.#accept({ status, headers, body: await readJson(body) });
    return body;
  }

  /** Sends a body that is a stream. Throws a ClientError, or the failure of the stream. */
  async sendStream<T>(method: string, path: string, options: StreamOptions): Promise<T> {
    const { status, headers, body } = await this.connection.stream(method, path, options);
    return this.#accept({ status, headers, body: await readJson(body) });
  }

  async #ask(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer> {
    const answer = await this.connection.request(method, path, body, options);
    const now = Date.parse(answer.headers.date ?? '');
    if (!Number.isNaN(now)) this.#now = now;
    return answer;
  }

  #accept<T>(answer: Answer): T {
    if (isRouteMissing(answer))
      throw new ClientError(
        EXIT.failed,
        `${this.connection.name} does not have what this command needs: its Drover is older than this client`,
      );
    const refusal = refusalOf(this.connection, answer);
    if (refusal !== undefined) throw refusal;
    return answer.body as T;
  }
}

/** A part of a path, such as a name that was typed. */
export function pathPart(text: string): string {
  return encodeURIComponent(text);
}

/** Undefined: the body is no JSON. */
async function readJson(body: Readable): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(body)) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

function isRouteMissing({ status, body }: Answer): boolean {
  if (status === 405) return true;
  return (
    status === 404 && typeof body === 'object' && body !== null && 'error' in body && body.error === NO_ROUTE
  );
}
