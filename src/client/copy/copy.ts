/** `drover cp`: copies files into and out of templates. */
import type { Shown } from '../../command-tree/commands.js';
import { failedError } from '../../command-tree/runs/client-error.js';
import { countText } from '../../model/words.js';
import type { ApiClient } from '../api-client.js';
import { type Copy, type CopyStreams, placeText } from './copy-places.js';
import { download, downloadTo } from './download.js';
import { bytesText } from './progress.js';
import { upload } from './upload.js';

/** The signals that end the program after a copy has cleaned up. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Resolves with the text to print; undefined: the file was written to stdout. Throws a ClientError or a DroverError.
 */
export async function copy(
  api: ApiClient,
  { to, local, place }: Copy,
  streams: CopyStreams,
  signal: AbortSignal,
): Promise<Shown | undefined> {
  if (to === 'local' && local.kind === 'stream') {
    await downloadTo(api, place, streams.stdout, signal);
    return undefined;
  }
  const { files, bytes } =
    to === 'local' && local.kind === 'path'
      ? await download(api, place, local.path, { ...streams, signal })
      : await upload(api, local, place, { ...streams, signal });
  const { group, name, path } = place;
  const here = local.kind === 'path' ? local.path : 'standard input';
  const [from, target] = to === 'local' ? [placeText(place), here] : [here, placeText(place)];
  return {
    json: () => ({ group, name, path, files, bytes }),
    text: () => `copied ${from} to ${target}: ${countText(files, 'file')}, ${bytesText(bytes)}`,
    names: undefined,
  };
}

/** Runs `work`. At a signal, aborts it, waits for its end, and then ends the process by that signal. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupt = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    received = signal;
    interrupt.abort(failedError('interrupted: nothing was copied'));
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await work(interrupt.signal);
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
    if (received !== undefined) process.kill(process.pid, received);
  }
}
