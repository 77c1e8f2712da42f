/** How a command reaches a master. The client sends the calls over the network, the console into its own process. */
import type { Method } from '../../api/http/route.js';

export interface CallOptions {
  /** Time for the whole answer. Default: 60 s. */
  readonly timeoutMs?: number;
  /** Its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Headers beside those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every call takes a path below `/api`, with its query, and throws a ClientError when it is refused. */
export interface ApiCalls {
  get<T>(path: string): Promise<T>;
  /** The answer to a GET; undefined where there is no such thing. */
  find<T>(path: string): Promise<T | undefined>;
  send<T>(method: Method, path: string, body?: object, options?: CallOptions): Promise<T>;
}

/** A part of a path, such as a name that was typed. */
export function pathPart(text: string): string {
  return encodeURIComponent(text);
}
