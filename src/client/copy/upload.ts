/**
 * Copies into a template. The master accepts the one zip whole or not at all. Files of the same path are replaced;
 * others stay.
 */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { find, pathPart } from '../../command-tree/runs/api-calls.js';
import { conflictError, notFoundError, usageError } from '../../command-tree/runs/client-error.js';
import { isMissing } from '../../files/system-error.js';
import { packContent, packZip } from '../../templates/library/pack-zip.js';
import { bytesOf } from '../../templates/tree/byte-stream.js';
import {
  TreeChanged,
  type TreeEntry,
  type TreePlace,
  walkFile,
  walkTree,
} from '../../templates/tree/tree.js';
import type { ApiClient } from '../api-client.js';
import { systemFailure } from '../connection/private-text.js';
import {
  type CopyStreams,
  checkPath,
  type LocalPlace,
  placeText,
  type TemplatePlace,
} from './copy-places.js';
import { withProgress } from './progress.js';

type UploadOptions = Omit<CopyStreams, 'stdout'> & { readonly signal: AbortSignal };

export interface Copied {
  readonly files: number;
  readonly bytes: number;
}

/** Throws a ClientError, or the DroverError of an entry that no template can hold. The template is then unchanged. */
export async function upload(
  api: ApiClient,
  from: LocalPlace,
  to: TemplatePlace,
  options: UploadOptions,
): Promise<Copied> {
  const zip =
    from.kind === 'stream'
      ? packStream(to, options.stdin)
      : await packPath(api, from.path, to, options.signal);
  const counted = withProgress(bytesOf(zip), placeText(to), options.stderr);
  const body = Readable.from(counted, { objectMode: false });
  try {
    return await api.sendStream('POST', `${templatePath(to)}/import`, {
      body,
      contentType: 'application/zip',
      signal: options.signal,
    });
  } catch (error) {
    if (error instanceof TreeChanged) throw conflictError(`${error.message}: copy it again`);
    throw error;
  } finally {
    zip.destroy();
  }
}

/** Returns the template's API path, relative to `/api`. */
export function templatePath({ group, name }: Pick<TemplatePlace, 'group' | 'name'>): string {
  return `/templates/${pathPart(group)}/${pathPart(name)}`;
}

function packStream(to: TemplatePlace, stdin: Readable): Readable {
  if (to.isDirectory) throw usageError(`say which file standard input becomes: ${to.group}/${to.name}:PATH`);
  return packContent(stdin, to.path);
}

async function packPath(
  api: ApiClient,
  typed: string,
  to: TemplatePlace,
  signal: AbortSignal,
): Promise<Readable> {
  const path = await realpath(typed).catch(unreadable(typed));
  const status = await stat(path).catch(unreadable(typed));
  if (status.isDirectory()) {
    const place = { root: path, label: typed };
    const entries = await walkTree(place, signal).catch(unreadable(typed));
    if (entries.length === 0) throw usageError(`${typed} is empty: there is nothing to copy`);
    return pack(place, entries, (name) => (to.path === '' ? name : `${to.path}/${name}`));
  }
  if (!status.isFile()) throw usageError(`${typed} is no file and no directory; a pipe is copied from -`);
  const place = { root: dirname(path), label: typed };
  const entry = await walkFile(place, basename(path)).catch(unreadable(typed));
  const isInto = to.isDirectory || (await isDirectoryThere(api, to));
  const target = isInto ? [to.path, basename(typed)].filter((part) => part !== '').join('/') : to.path;
  return pack(place, [entry], () => target);
}

function pack(place: TreePlace, entries: readonly TreeEntry[], nameIn: (path: string) => string): Readable {
  for (const { path } of entries) checkPath(nameIn(path), `${place.label}: ${path}`);
  return packZip(place, entries, nameIn);
}

async function isDirectoryThere(api: ApiClient, to: TemplatePlace): Promise<boolean> {
  const found = await find<{ readonly files: readonly string[] }>(api, `${templatePath(to)}/files`);
  return found?.files.some((file) => file.startsWith(`${to.path}/`)) === true;
}

function unreadable(path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof TreeChanged) throw conflictError(`${error.message}: copy it again`);
    // A DroverError already explains what a template cannot hold.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    if (isMissing(error)) throw notFoundError(`there is no ${path}`);
    throw systemFailure(`${path} cannot be read`, error);
  };
}
