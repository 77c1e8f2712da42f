/**
 * Makes the API calls of one typed line. The API of this process answers them, with the rights of the person who
 * typed it.
 */
import type { Access } from '../access/access.js';
import type { Method } from '../api/http/route.js';
import type { OwnAnswer, OwnRequest } from '../api/server.js';
import type { ApiCalls, CallOptions } from '../command-tree/runs/api-calls.js';
import {
  apiFailureOf,
  ClientError,
  EXIT,
  exitCodeOf,
  isEndpointMissing,
} from '../command-tree/runs/client-error.js';

/** Answers a request in this process; see `ApiServer.ask`. */
export type Ask = (caller: Access, request: OwnRequest) => Promise<OwnAnswer>;

interface Caller {
  readonly access: Access;
  /** The address of the client; null: the node's own terminal. */
  readonly address: string | null;
  /** Once this signal aborts, no further call is made, and its reason is thrown. */
  readonly signal: AbortSignal;
}

export function ownCalls(ask: Ask, { access, address, signal }: Caller): ApiCalls {
  const send = async <T>(method: Method, path: string, body?: object, options?: CallOptions): Promise<T> => {
    signal.throwIfAborted();
    const { status, body: answer } = await ask(access, {
      method,
      path,
      address,
      ...(body !== undefined && { body }),
      ...(options?.headers !== undefined && { headers: options.headers }),
    });
    if (status < 400) return answer as T;
    const { error = `the API answers with status ${status}`, code } = apiFailureOf(answer) ?? {};
    throw new ClientError(isEndpointMissing(status, answer) ? EXIT.failed : exitCodeOf(status), error, {
      code,
    });
  };
  return { get: (path) => send('GET', path), send };
}
