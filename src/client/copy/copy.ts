/** `drover cp`: copies files into and out of templates. */
import type { Readable, Writable } from 'node:stream';
import type { Shown } from '../../command-tree/commands.js';
import { countText } from '../../model/words.js';
import type { ApiClient } from '../api-client.js';
import { type Copy, placeText } from './copy-places.js';
import { download, downloadTo } from './download.js';
import { bytesText } from './progress.js';
import { upload } from './upload.js';

export interface CopyStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: NodeJS.WritableStream;
}

/** Resolves with what to print; undefined: stdout has the file. Throws a ClientError or a DroverError. */
export async function copy(
  api: ApiClient,
  { to, local, place }: Copy,
  { stdin, stdout, stderr }: CopyStreams,
  signal: AbortSignal,
): Promise<Shown | undefined> {
  if (to === 'local' && local.kind === 'stream') {
    await downloadTo(api, place, stdout, signal);
    return undefined;
  }
  const { files, bytes } =
    to === 'local' && local.kind === 'path'
      ? await download(api, place, local.path, { stderr, signal })
      : await upload(api, local, place, { stdin, stderr, signal });
  const { group, name, path } = place;
  const here = local.kind === 'path' ? local.path : 'standard input';
  const [from, target] = to === 'local' ? [placeText(place), here] : [here, placeText(place)];
  return {
    json: () => ({ group, name, path, files, bytes }),
    text: () => `copied ${from} to ${target}: ${countText(files, 'file')}, ${bytesText(bytes)}`,
    names: undefined,
  };
}
