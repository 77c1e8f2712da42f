/** Finds what a bare name means: an instance, or else a configuration. */
import { type ApiCalls, find, pathPart } from '../command-tree/runs/api-calls.js';

/** Undefined: the master knows neither. Throws a ClientError. */
export async function kindOf(api: ApiCalls, name: string): Promise<'instance' | 'config' | undefined> {
  if ((await find(api, `/instances/${pathPart(name)}`)) !== undefined) return 'instance';
  return (await find(api, `/configurations/${pathPart(name)}`)) === undefined ? undefined : 'config';
}
