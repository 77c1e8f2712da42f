/**
 * Template trees over the channel: a wrapper asks for a digest, the master answers with a tar stream, of the whole tree
 * or of the files of its manifest that the wrapper lacks. And the master may tell a wrapper which trees to fetch ahead
 * of need, which changes nothing that is desired.
 */

import { z } from 'zod';
import { DroverError } from '../../model/errors.js';
import { type FileRange, MAX_FILE_RANGES, type TreeResult, treeResultSchema } from '../../model/template.js';
import type { CallPeer, Service } from '../protocol/calls.js';

const TEMPLATE_BUNDLE = 'template-bundle';
const TEMPLATE_MANIFEST = 'template-manifest';
const TEMPLATE_FILES = 'template-files';
/** Older masters ask so. */
const PREFETCH_TEMPLATES = 'prefetch-templates';
const FETCH_TEMPLATES = 'fetch-templates';
/** Trees in one hint; more travel in several. */
const MAX_DIGESTS = 1000;

const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);
const bundleSchema = z.object({ digest: digestSchema });
const filesSchema = z.object({
  digest: digestSchema,
  ranges: z.array(z.tuple([z.int().min(0), z.int().min(1)])).max(MAX_FILE_RANGES),
});
const prefetchSchema = z.object({ digests: z.array(digestSchema).max(MAX_DIGESTS) });

/** What a master gives of trees. All throw DRV_TEMPLATE_UNKNOWN when no template has this digest any more. */
export interface TreeServer {
  openBundle(digest: string): AsyncIterable<Buffer>;
  /** Single files; absent: there are only whole trees. */
  readonly parts?: {
    manifest(digest: string): AsyncIterable<Buffer>;
    files(digest: string, ranges: readonly FileRange[]): AsyncIterable<Buffer>;
  };
}

/** The master's half. */
export function templateServices(server: TreeServer): ReadonlyMap<string, Service> {
  const { parts } = server;
  const services = new Map<string, Service>([
    [TEMPLATE_BUNDLE, (parameters) => server.openBundle(bundleSchema.parse(parameters).digest)],
  ]);
  if (parts === undefined) return services;
  return services
    .set(TEMPLATE_MANIFEST, (parameters) => parts.manifest(bundleSchema.parse(parameters).digest))
    .set(TEMPLATE_FILES, (parameters) => {
      const { digest, ranges } = filesSchema.parse(parameters);
      return parts.files(digest, ranges);
    });
}

/** The wrapper's half: the tar stream of a digest. Throws DRV_CHANNEL_CLOSED while the master is away. */
export function requestBundle(
  calls: CallPeer | undefined,
  digest: string,
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  return connected(calls).stream(TEMPLATE_BUNDLE, { digest }, signal);
}

/** The wrapper's half, of the list and of single files. Throw DRV_CHANNEL_CALL_FAILED where the master has no such thing. */
export function requestParts(
  calls: CallPeer | undefined,
  digest: string,
  signal: AbortSignal,
): { manifest(): AsyncIterable<Buffer>; files(ranges: readonly FileRange[]): AsyncIterable<Buffer> } {
  return {
    manifest: () => connected(calls).stream(TEMPLATE_MANIFEST, { digest }, signal),
    files: (ranges) => connected(calls).stream(TEMPLATE_FILES, { digest, ranges }, signal),
  };
}

function connected(calls: CallPeer | undefined): CallPeer {
  if (calls !== undefined) return calls;
  throw new DroverError(
    'DRV_CHANNEL_CLOSED',
    'the master is not connected, so a template cannot be fetched yet',
  );
}

/** What a wrapper does ahead of need. */
export interface PrefetchServer {
  /** Answers at once with how many of the trees it lacks, and fetches those. */
  take(digests: readonly string[]): number;
  /** The same, with the result of each. */
  follow(digests: readonly string[]): AsyncIterable<TreeResult>;
}

/** The wrapper's half. */
export function prefetchServices(server: PrefetchServer): ReadonlyMap<string, Service> {
  return new Map<string, Service>([
    [
      PREFETCH_TEMPLATES,
      async (parameters) => ({ missing: server.take(prefetchSchema.parse(parameters).digests) }),
    ],
    [FETCH_TEMPLATES, (parameters) => encodeResults(server.follow(prefetchSchema.parse(parameters).digests))],
  ]);
}

/**
 * The master's half: has the node fetch what it lacks of these trees, and yields the result of each. A node of an older
 * version only takes the hint: of trees that it lacks then, nothing is yielded.
 */
export async function* requestFetch(
  calls: CallPeer,
  digests: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<TreeResult> {
  for (let start = 0; start < digests.length; start += MAX_DIGESTS) {
    const some = digests.slice(start, start + MAX_DIGESTS);
    let count = 0;
    try {
      for await (const chunk of calls.stream(FETCH_TEMPLATES, { digests: some }, signal)) {
        yield treeResultSchema.parse(JSON.parse(chunk.toString()));
        count++;
      }
    } catch (error) {
      if (count > 0 || signal.aborted || !DroverError.is(error, 'DRV_CHANNEL_CALL_FAILED')) throw error;
      await calls.call(PREFETCH_TEMPLATES, { digests: some }, { signal });
    }
  }
}

async function* encodeResults(results: AsyncIterable<TreeResult>): AsyncGenerator<Buffer> {
  for await (const result of results) yield Buffer.from(JSON.stringify(result));
}
