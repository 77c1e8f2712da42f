/**
 * Template trees over the channel: a wrapper asks for a digest, the master answers with a tar stream. And the master
 * may tell a wrapper which trees to fetch ahead of need: a hint, which changes nothing that is desired.
 */
import { z } from 'zod';
import { DroverError } from '../model/errors.js';
import type { CallPeer, Service } from './calls.js';

const TEMPLATE_BUNDLE = 'template-bundle';
const PREFETCH_TEMPLATES = 'prefetch-templates';
/** Trees in one hint; more travel in several. */
const MAX_DIGESTS = 1000;

const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);
const bundleSchema = z.object({ digest: digestSchema });
const prefetchSchema = z.object({ digests: z.array(digestSchema).max(MAX_DIGESTS) });
const prefetchAnswer = z.object({ missing: z.int() });

/** The master's half. `openBundle` throws DRV_TEMPLATE_UNKNOWN when no template has this digest any more. */
export function templateServices(
  openBundle: (digest: string) => AsyncIterable<Buffer>,
): ReadonlyMap<string, Service> {
  return new Map<string, Service>([
    [TEMPLATE_BUNDLE, (parameters) => openBundle(bundleSchema.parse(parameters).digest)],
  ]);
}

/** The wrapper's half: the tar stream of a digest. Throws DRV_CHANNEL_CLOSED while the master is away. */
export function requestBundle(
  calls: CallPeer | undefined,
  digest: string,
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  if (calls === undefined)
    throw new DroverError(
      'DRV_CHANNEL_CLOSED',
      'the master is not connected, so a template cannot be fetched yet',
    );
  return calls.stream(TEMPLATE_BUNDLE, { digest }, signal);
}

/** The wrapper's half of the hint. `take` answers at once with how many of the trees it lacks, and fetches those. */
export function prefetchServices(take: (digests: readonly string[]) => number): ReadonlyMap<string, Service> {
  return new Map<string, Service>([
    [PREFETCH_TEMPLATES, async (parameters) => ({ missing: take(prefetchSchema.parse(parameters).digests) })],
  ]);
}

/** The master's half of the hint: resolves with the number of trees that the node lacks and now fetches. */
export async function requestPrefetch(
  calls: CallPeer,
  digests: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  let missing = 0;
  for (let start = 0; start < digests.length; start += MAX_DIGESTS) {
    const some = digests.slice(start, start + MAX_DIGESTS);
    missing += prefetchAnswer.parse(
      await calls.call(PREFETCH_TEMPLATES, { digests: some }, { signal }),
    ).missing;
  }
  return missing;
}
