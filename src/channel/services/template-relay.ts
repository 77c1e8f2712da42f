/**
 * Template trees over the channel. A wrapper asks for a digest; the master answers with a tar stream of the whole tree,
 * or of the files of its manifest that the wrapper lacks. The master may also make a wrapper fetch trees before they
 * are needed, which changes no desired state.
 */
import { z } from 'zod';
import { channelClosed } from '../../model/errors.js';
import { type FileRange, MAX_FILE_RANGES, type TreeResult, treeResultSchema } from '../../model/template.js';
import type { CallPeer, Services } from '../protocol/calls.js';

const TEMPLATE_BUNDLE = 'template-bundle';
const TEMPLATE_MANIFEST = 'template-manifest';
const TEMPLATE_FILES = 'template-files';
const FETCH_TEMPLATES = 'fetch-templates';
/** The most trees in a call; more trees take several calls. */
const MAX_DIGESTS = 1000;

const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);
const bundleSchema = z.object({ digest: digestSchema });
const filesSchema = z.object({
  digest: digestSchema,
  ranges: z.array(z.tuple([z.int().min(0), z.int().min(1)])).max(MAX_FILE_RANGES),
});
const fetchSchema = z.object({ digests: z.array(digestSchema).max(MAX_DIGESTS) });

/** The master's trees. All methods throw DRV_TEMPLATE_UNKNOWN when no template has this digest any more. */
export interface TreeServer {
  openBundle(digest: string): AsyncIterable<Buffer>;
  /** The list of a tree's files, and the content of single files. */
  readonly parts: {
    manifest(digest: string): AsyncIterable<Buffer>;
    files(digest: string, ranges: readonly FileRange[]): AsyncIterable<Buffer>;
  };
}

/** The master's half: answers the requests below. */
export function templateServices(server: TreeServer): Services {
  return {
    [TEMPLATE_BUNDLE]: (parameters) => server.openBundle(bundleSchema.parse(parameters).digest),
    [TEMPLATE_MANIFEST]: (parameters) => server.parts.manifest(bundleSchema.parse(parameters).digest),
    [TEMPLATE_FILES]: (parameters) => {
      const { digest, ranges } = filesSchema.parse(parameters);
      return server.parts.files(digest, ranges);
    },
  };
}

/** The wrapper's half: asks for the tar stream of a whole tree. Throws DRV_CHANNEL_CLOSED while the master is away. */
export function requestBundle(
  calls: CallPeer | undefined,
  digest: string,
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  return connected(calls).stream(TEMPLATE_BUNDLE, { digest }, signal);
}

/**
 * The wrapper's half: asks for the list of a tree's files, or for single files. Throws DRV_CHANNEL_CLOSED while the
 * master is away.
 */
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
  throw channelClosed('the master is not connected, so a template cannot be fetched yet');
}

/**
 * The wrapper's half: answers `requestFetch`. `fetch` fetches the trees that the node lacks, and yields the result for
 * each digest in turn.
 */
export function prefetchServices(fetch: (digests: readonly string[]) => AsyncIterable<TreeResult>): Services {
  return {
    [FETCH_TEMPLATES]: async function* (parameters) {
      for await (const result of fetch(fetchSchema.parse(parameters).digests))
        yield Buffer.from(JSON.stringify(result));
    },
  };
}

/** The master's half: makes the node fetch the trees that it lacks, and yields the result for each. */
export async function* requestFetch(
  calls: CallPeer,
  digests: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<TreeResult> {
  for (let start = 0; start < digests.length; start += MAX_DIGESTS) {
    const some = digests.slice(start, start + MAX_DIGESTS);
    for await (const chunk of calls.stream(FETCH_TEMPLATES, { digests: some }, signal))
      yield treeResultSchema.parse(JSON.parse(chunk.toString()));
  }
}
