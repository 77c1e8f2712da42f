/**
 * Calls the API for commands. A refusal becomes a ClientError with the matching exit code.
 * Answers are not checked against a schema, because the master may be older or newer than this client.
 */
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { ApiCalls, CallOptions } from '../command-tree/runs/api-calls.js';
import { ENDPOINT_UNKNOWN, failedError, isEndpointMissing } from '../command-tree/runs/client-error.js';
import { refusalOf } from './connection/answers.js';
import type { Answer, ApiConnection, StreamOptions } from './connection/connection.js';

/** Makes the calls of a command. Several calls may run at once. */
export class ApiClient implements ApiCalls {
  readonly connection: ApiConnection;
  #now: number | undefined;

  constructor(connection: ApiConnection) {
    this.connection = connection;
  }

  /**
   * The master's clock in unix milliseconds, from its last answer. It is exact to a second. The local clock may be
   * wrong.
   */
  get now(): number {
    return this.#now ?? Date.now();
  }

  get<T>(path: string): Promise<T> {
    return this.send('GET', path);
  }

  async send<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T> {
    const answer = await this.connection.request(method, path, body, options);
    const now = Date.parse(answer.headers.date ?? '');
    if (!Number.isNaN(now)) this.#now = now;
    return this.#accept(answer);
  }

  /**
   * Resolves with the answer's body as a stream. The caller reads it to its end or destroys it. Throws a ClientError
   * for a refusal.
   */
  async stream(method: string, path: string, options?: StreamOptions): Promise<Readable> {
    const answer = await this.connection.stream(method, path, options);
    if (answer.status >= 400) this.#accept({ ...answer, body: await readJson(answer.body) });
    return answer.body;
  }

  /** Sends a stream as the body. Throws a ClientError, or the stream's own error. */
  async sendStream<T>(method: string, path: string, options: StreamOptions): Promise<T> {
    const answer = await this.connection.stream(method, path, options);
    return this.#accept({ ...answer, body: await readJson(answer.body) });
  }

  #accept<T>(answer: Answer): T {
    if (isEndpointMissing(answer.status, answer.body))
      throw failedError(
        `${this.connection.name} does not have what this command needs: its Drover is older than this client`,
        { code: ENDPOINT_UNKNOWN },
      );
    const refusal = refusalOf(this.connection, answer);
    if (refusal !== undefined) throw refusal;
    return answer.body as T;
  }
}

/** Reads a JSON body; undefined: the body is not JSON. */
function readJson(body: Readable): Promise<unknown> {
  return json(body).catch((error: unknown) => {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  });
}
