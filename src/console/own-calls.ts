/** The calls of one typed line: the API of this process answers them, with the rights of who typed it. */
import type { Access } from '../access/access.js';
import type { Method } from '../api/http/route.js';
import type { OwnAnswer, OwnRequest } from '../api/server.js';
import type { ApiCalls, CallOptions } from '../command-tree/runs/api-calls.js';
import {
  apiFailureOf,
  ClientError,
  exitCodeOf,
  isEndpointMissing,
} from '../command-tree/runs/client-error.js';

/** See `ApiServer.ask`. */
export type Ask = (caller: Access, request: OwnRequest) => Promise<OwnAnswer>;

export interface OwnCallsOptions {
  readonly ask: Ask;
  readonly caller: Access;
  /** The address of the client; null: the node's own terminal. */
  readonly address: string | null;
  /** Once it aborts, nothing more is asked: its reason is thrown. */
  readonly signal: AbortSignal;
}

export class OwnCalls implements ApiCalls {
  readonly #options: OwnCallsOptions;

  constructor(options: OwnCallsOptions) {
    this.#options = options;
  }

  get<T>(path: string): Promise<T> {
    return this.send('GET', path);
  }

  async find<T>(path: string): Promise<T | undefined> {
    const { status, body } = await this.#ask('GET', path);
    if (status === 404 && !isEndpointMissing(status, body)) return undefined;
    return accept<T>({ status, body });
  }

  async send<T>(method: Method, path: string, body?: object, options?: CallOptions): Promise<T> {
    return accept<T>(await this.#ask(method, path, body, options));
  }

  #ask(method: Method, path: string, body?: object, { headers }: CallOptions = {}): Promise<OwnAnswer> {
    const { ask, caller, address, signal } = this.#options;
    signal.throwIfAborted();
    return ask(caller, {
      method,
      path,
      address,
      ...(body !== undefined && { body }),
      ...(headers !== undefined && { headers }),
    });
  }
}

function accept<T>({ status, body }: OwnAnswer): T {
  if (status < 400) return body as T;
  const { error = `the API answers with status ${status}`, code } = apiFailureOf(body) ?? {};
  throw new ClientError(exitCodeOf(status), error, { code });
}
