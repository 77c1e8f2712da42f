/**
 * How the commands of the client talk to a master. `open-connection.ts` creates the connection; `http-connection.ts`
 * implements it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import type { CallOptions } from '../../command-tree/runs/api-calls.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, or the text of another content type; undefined: the answer has no body. */
  readonly body: unknown;
}

export interface StreamedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Fails with a ClientError when the connection is lost. The caller reads the body to its end or destroys it. */
  readonly body: Readable;
}

export interface StreamOptions {
  /** The stream to send. Its own error is thrown unchanged. */
  readonly body?: Readable;
  /** The content type of `body`. Default: `application/octet-stream`. */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/**
 * Calls may overlap. Each call fails with a one-line ClientError. Its exit code is 7 for an unreachable master and 6
 * for a late answer. A key that cannot be read has other exit codes. Redirects are not followed, because the address
 * in a redirect would receive the key.
 */
export interface ApiConnection {
  /** The person's name for the master: a context, a root, or an address. */
  readonly name: string;
  /** The address of the master, without `/api`. */
  readonly url: string;
  /** True: the key comes from a command, so the first call may ask a person for a password. */
  readonly mayAskPerson: boolean;
  /** `path` is relative to `/api` and includes the query. Any status of the API is an answer: see `refusalOf`. */
  request(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Resolves when the head of the answer has arrived. */
  stream(method: string, path: string, options?: StreamOptions): Promise<StreamedAnswer>;
  /**
   * Resolves when the socket is open. Add listeners right after the `await`: messages begin in the next turn of the
   * event loop. Throws the errors of `refusalOf`, or the reason of `signal` when it aborts first. `sayWaits`: called
   * with a line when the request waits for the masters to elect a leader. Default: the `sayWaits` of the connection.
   */
  openSocket(path: string, signal?: AbortSignal, sayWaits?: (line: string) => void): Promise<WebSocket>;
}
