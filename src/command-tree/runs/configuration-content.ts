/** Reads and writes contents of configurations over the API, without overwriting what others changed meanwhile. */

import type { ConfigurationContent } from '../../operations/configuration-content.js';
import { type ApiCalls, type CallOptions, pathPart } from './api-calls.js';

/** Throws a ClientError. */
export function readContent(api: ApiCalls, name: string): Promise<ConfigurationContent> {
  return api.get(`/configurations/${pathPart(name)}/file`);
}

/**
 * The options of a call that works only while the configuration has this revision; null: only while the configuration
 * does not exist.
 */
export function ifMatch(revision: string | null): CallOptions {
  return { headers: revision === null ? { 'if-none-match': '*' } : { 'if-match': `"${revision}"` } };
}
