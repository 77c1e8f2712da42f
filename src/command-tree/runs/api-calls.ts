/** How a command reaches a master. The client sends the calls over the network, the console into its own process. */
import type { Method } from '../../api/http/route.js';
import type { ConfigurationContent } from '../../operations/configuration-content.js';
import { ClientError, EXIT } from './client-error.js';

export interface CallOptions {
  /** Time for the whole answer. Default: 60 s. */
  readonly timeoutMs?: number;
  /** Ends the call when it aborts; the call then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** More headers than every request has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every call takes a path below `/api`, with its query, and throws a ClientError when it is refused. */
export interface ApiCalls {
  get<T>(path: string): Promise<T>;
  send<T>(method: Method, path: string, body?: object, options?: CallOptions): Promise<T>;
}

/** Encodes a part of a path, such as a typed name. */
export function pathPart(text: string): string {
  return encodeURIComponent(text);
}

/** The query with those fields that are set, so that an older master need not know the others. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value));
  return query;
}

/** The answer to a GET; undefined when the master answers that the path does not exist. Throws a ClientError. */
export async function find<T>(api: ApiCalls, path: string): Promise<T | undefined> {
  return api.get<T>(path).catch((error: unknown) => {
    if (error instanceof ClientError && error.exitCode === EXIT.notFound) return undefined;
    throw error;
  });
}

/** The content of a configuration, with the revision to write it by. Throws a ClientError. */
export function readContent(api: ApiCalls, name: string): Promise<ConfigurationContent> {
  return api.get(`/configurations/${pathPart(name)}/file`);
}

/**
 * The options of a call that works only while the configuration has this revision, so that the call overwrites no
 * change of others. Null: only while the configuration does not exist.
 */
export function ifMatch(revision: string | null): CallOptions {
  return { headers: revision === null ? { 'if-none-match': '*' } : { 'if-match': `"${revision}"` } };
}

/** Undefined: the master knows neither. Throws a ClientError. */
export async function kindOf(api: ApiCalls, name: string): Promise<'instance' | 'config' | undefined> {
  if ((await find(api, `/instances/${pathPart(name)}`)) !== undefined) return 'instance';
  return (await find(api, `/configurations/${pathPart(name)}`)) === undefined ? undefined : 'config';
}
