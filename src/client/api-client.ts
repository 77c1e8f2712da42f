/**
 * Calls the API for commands: what is refused becomes a ClientError with the exit code of its kind. The data is taken as
 * it comes: the master may be older or newer than this client, and a schema would refuse it for that.
 */
import { ClientError, EXIT } from './client-error.js';
import { refusalOf } from './connection/answers.js';
import type { Answer, ApiConnection, RequestOptions } from './connection/connection.js';

/** What a master says of a route that it does not have. */
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

function isRouteMissing({ status, body }: Answer): boolean {
  return (
    status === 404 && typeof body === 'object' && body !== null && 'error' in body && body.error === NO_ROUTE
  );
}
