/**
 * Copies out of a template. The zip is stored and unpacked beside its target, and moved into place only when it is
 * complete and checked. An incomplete copy never has the final name.
 */
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, mkdtemp } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ClientError, notFoundError, usageError } from '../../command-tree/runs/client-error.js';
import { unpackZip } from '../../templates/library/unpack-zip.js';
import { bytesOf } from '../../templates/tree/byte-stream.js';
import { removeTree } from '../../templates/tree/remove-tree.js';
import { TREE_LIMITS, walkFile, walkTree } from '../../templates/tree/tree.js';
import type { ApiClient } from '../api-client.js';
import { systemFailure } from '../connection/private-text.js';
import { isGone } from '../print.js';
import { type CopyStreams, placeText, type TemplatePlace } from './copy-places.js';
import { withProgress } from './progress.js';
import { kindOfTarget, putDirectory, putFile } from './put-in-place.js';
import { type Copied, templatePath } from './upload.js';

type DownloadOptions = Pick<CopyStreams, 'stderr'> & { readonly signal: AbortSignal };

/**
 * Throws a ClientError, or a DroverError for a zip that cannot be unpacked. After an error the target is unchanged,
 * unless a move into an existing directory failed halfway.
 */
export async function download(
  api: ApiClient,
  from: TemplatePlace,
  typed: string,
  options: DownloadOptions,
): Promise<Copied> {
  const target = resolve(typed);
  const isInto = (await kindOfTarget(target)) === 'directory';
  const staging = await mkdtemp(join(isInto ? target : dirname(target), '.drover-cp-')).catch(
    (error: unknown) => {
      throw systemFailure(`${typed} cannot be written`, error);
    },
  );
  try {
    const tree = join(staging, 'tree');
    await mkdir(tree);
    await fetchTree(api, from, { staging, tree, ...options });
    return await put(from, tree, typed);
  } finally {
    await removeTree(staging);
  }
}

/** Writes one file of a template to a stream. Throws a ClientError; the bytes written before it remain. */
export async function downloadTo(
  api: ApiClient,
  from: TemplatePlace,
  stdout: Writable,
  signal: AbortSignal,
): Promise<void> {
  if (from.isDirectory)
    throw usageError(`only one file can be written to standard output: name it after the :`);
  const path = from.path.split('/').map(encodeURIComponent).join('/');
  const content = await api.stream('GET', `${templatePath(from)}/files/${path}`, { signal });
  try {
    await pipeline(content, stdout, { end: false });
  } catch (error) {
    if (error instanceof ClientError) throw error;
    // A reader that closed the stream has what it wanted: that is no error.
    if (error instanceof Error && isGone(error)) return;
    throw systemFailure(`stdout cannot be written`, error);
  }
}

async function fetchTree(
  api: ApiClient,
  from: TemplatePlace,
  { staging, tree, stderr, signal }: DownloadOptions & { readonly staging: string; readonly tree: string },
): Promise<void> {
  const zip = join(staging, 'copy.zip');
  // An old master ignores `path` and sends the whole template. Only the wanted part is then used.
  const query = from.path === '' ? '' : `?${new URLSearchParams({ path: from.path })}`;
  const answer = await api.stream('POST', `${templatePath(from)}/export${query}`, { signal });
  const counted = withProgress(bytesOf(answer), placeText(from), stderr);
  await pipeline(Readable.from(counted, { objectMode: false }), createWriteStream(zip, { mode: 0o600 }));
  await unpackZip(zip, tree, TREE_LIMITS, signal);
}

async function put(from: TemplatePlace, tree: string, typed: string): Promise<Copied> {
  const source = join(tree, from.path);
  const status = await lstat(source).catch(() => undefined);
  if (status === undefined) throw notFoundError(`there is no ${placeText(from)}`);
  const { signal } = new AbortController();
  if (status.isFile()) {
    if (from.isDirectory) throw usageError(`${placeText(from)} is a file: leave out the / at its end`);
    const { size } = await walkFile(
      { root: dirname(source), label: typed },
      source.slice(dirname(source).length + 1),
    );
    await putFile(source, typed);
    return { files: 1, bytes: size };
  }
  const entries = await walkTree({ root: source, label: typed }, signal);
  await putDirectory(source, entries, typed);
  const files = entries.filter(({ kind }) => kind === 'file');
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}
