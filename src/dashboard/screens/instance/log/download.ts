/** Loads all lines that the node keeps of a log, and hands them to the browser as a file. */

import type { InstanceLog } from '../../../../api/routes/instances/log-routes.js';
import { type Api, apiPath } from '../../../api/api-client.js';
import { saveFile } from '../../../parts/save-file.js';
import { text } from '../text.js';
import { plainOf } from './ansi.js';

interface LogDownload {
  readonly api: Pick<Api, 'get'>;
  /** Opens the live log, which sends all lines without a call for each part. */
  readonly open: (query: Record<string, string | number>) => WebSocket;
  readonly id: string;
  readonly signal: AbortSignal;
  /** Gets a share from 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/** How many lines make one part of the file, about a megabyte. A browser may keep the parts on disk. */
const LINES_A_PART = 10_000;

/** Throws ApiFailure, and an Error when the connection was cut. No file is saved then. */
export async function downloadLog({ api, open, id, signal, onProgress }: LogDownload): Promise<void> {
  const { range } = await api.get<InstanceLog>(apiPath('instances', id, 'logs'), {
    query: { since: 1, lines: 1 },
    signal,
  });
  if (range === undefined || range.last < range.first) throw new Error(text.log.nothingToDownload);
  const socket = open({ since: range.first, until: range.last, timestamps: 'true' });
  const parts = await collect(socket, {
    signal,
    onLines: (count) => onProgress(count / (range.last - range.first + 1)),
  });
  saveFile(new Blob(parts, { type: 'text/plain' }), `${id}.log`);
}

interface Collecting {
  readonly signal: AbortSignal;
  readonly onLines: (count: number) => void;
}

function collect(socket: WebSocket, { signal, onLines }: Collecting): Promise<Blob[]> {
  return new Promise((resolve, reject) => {
    const parts: Blob[] = [];
    let lines: string[] = [];
    let count = 0;
    const cut = (): void => {
      if (lines.length > 0) parts.push(new Blob([`${lines.join('\n')}\n`]));
      lines = [];
    };
    signal.addEventListener('abort', () => socket.close(), { once: true });
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      lines.push(plainOf(data));
      count++;
      if (lines.length < LINES_A_PART) return;
      cut();
      onLines(count);
    };
    socket.onclose = ({ code }) => {
      if (signal.aborted) return reject(signal.reason);
      if (code !== 1000) return reject(new Error(text.log.cut));
      cut();
      resolve(parts);
    };
  });
}
