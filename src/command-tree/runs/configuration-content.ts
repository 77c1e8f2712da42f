/** Reads and writes contents of configurations over the API, without overwriting what others changed meanwhile. */

import type { ConfigurationContent } from '../../operations/configuration-content.js';
import { type ApiCalls, type CallOptions, pathPart } from './api-calls.js';

/** Throws a ClientError. */
export function readContent(api: ApiCalls, name: string): Promise<ConfigurationContent> {
  return api.get(`/configurations/${pathPart(name)}/file`);
}

/** Only if the configuration still has this revision; null: only if there is none. */
export function ifMatch(revision: string | null): CallOptions {
  return { headers: revision === null ? { 'if-none-match': '*' } : { 'if-match': `"${revision}"` } };
}
