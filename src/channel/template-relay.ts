/** Template trees over the channel: a wrapper asks for a digest, the master answers with a tar stream. */
import { z } from 'zod';
import { DroverError } from '../model/errors.js';
import type { CallPeer, Service } from './calls.js';

const TEMPLATE_BUNDLE = 'template-bundle';
const bundleSchema = z.object({ digest: z.string().regex(/^[0-9a-f]{64}$/) });

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
