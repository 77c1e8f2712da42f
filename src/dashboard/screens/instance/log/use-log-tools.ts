/** The menu of a log: how the lines are shown, copying, and the download of the whole log. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { InstanceLog } from '../../../../api/routes/instances/log-routes.js';
import { apiPath } from '../../../api/api-client.js';
import { openSocket } from '../../../live/live.js';
import { copyText } from '../../../parts/copy-button.js';
import type { MenuItem } from '../../../parts/menu.js';
import { saveFile } from '../../../parts/save-file.js';
import { useServices } from '../../../services/services.js';
import type { Session } from '../../../session/session.js';
import { text } from '../text.js';
import { plainOf } from './ansi.js';
import type { LogFeed } from './log-feed.js';
import type { LogLine } from './log-window.js';

interface LogToolsOptions {
  readonly feed: LogFeed;
  readonly id: string;
  readonly isWrapped: boolean;
  readonly hasTimes: boolean;
  /** True when a search distinguishes capital letters from small ones. */
  readonly hasCapitals: boolean;
  /** True when the instance is gone, so that only its node has the log. */
  readonly isOver: boolean;
}

export function useLogTools(options: LogToolsOptions): readonly MenuItem[] {
  const { feed, id, isWrapped, hasTimes, hasCapitals, isOver } = options;
  const { session, router, toasts } = useServices();
  /** The share of a running download, from 0 to 1; null: no download runs. */
  const share = useSignal<number | null>(null);
  const running = useMemo(() => ({ calls: new AbortController() }), []);
  useEffect(() => () => running.calls.abort(), [running]);
  const download = async (): Promise<void> => {
    const { signal } = running.calls;
    share.value = 0;
    try {
      await downloadLog(session, id, {
        signal,
        onProgress: (done) => {
          share.value = done;
        },
      });
    } catch (error) {
      if (!signal.aborted) toasts.failed(error);
    } finally {
      share.value = null;
    }
  };
  const stop = (): void => {
    running.calls.abort();
    running.calls = new AbortController();
  };
  const copy = async (): Promise<number> => {
    const lines = loadedLines(feed);
    await copyText(lines.join('\n'));
    return lines.length;
  };
  const loadedFile = (): Blob => new Blob([`${loadedLines(feed).join('\n')}\n`], { type: 'text/plain' });
  return [
    {
      label: text.log.wrap,
      isChecked: isWrapped,
      onPress: () => router.set({ wrap: isWrapped ? 'no' : undefined }),
    },
    {
      label: text.log.times,
      isChecked: hasTimes,
      onPress: () => router.set({ times: hasTimes ? 'no' : 'yes' }),
    },
    ...(isOver
      ? []
      : [
          {
            label: text.search.capitals,
            isChecked: hasCapitals,
            onPress: () => router.set({ capitals: hasCapitals ? undefined : 'yes' }),
          },
        ]),
    { label: text.log.copy, onPress: () => void toasts.run(copy(), text.log.copied) },
    isOver
      ? { label: text.log.saveLoaded, onPress: () => saveFile(loadedFile(), `${id}.log`) }
      : share.value === null
        ? { label: text.log.download, onPress: () => void download() }
        : { label: text.log.stopDownload(share.value), onPress: stop },
  ];
}

function loadedLines(feed: LogFeed): string[] {
  const items = feed.window.pages.flatMap((page) => page.items);
  return items.filter((item): item is LogLine => item.kind === 'line').map((line) => plainOf(line.text));
}

/** How many lines are one part of the file: about a megabyte. A browser may keep the parts on disk. */
const LINES_A_PART = 10_000;

/**
 * Loads all lines that the node keeps of a log, and hands them to the browser as a file. `onProgress` gets a share from
 * 0 to 1. Throws ApiFailure, and an Error when the connection was cut: no file is saved then.
 */
async function downloadLog(
  session: Session,
  id: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (share: number) => void },
): Promise<void> {
  const { range } = await session.api.get<InstanceLog>(apiPath('instances', id, 'logs'), {
    query: { since: 1, lines: 1 },
    signal,
  });
  if (range === undefined || range.last < range.first) throw new Error(text.log.nothingToDownload);
  // Use the live log: it sends all lines over one socket, without a call for each part.
  const query = { since: range.first, until: range.last, timestamps: 'true' };
  const socket = openSocket(session, apiPath('instances', id, 'live-log'), query);
  const parts = await collect(socket, signal, (count) => onProgress(count / (range.last - range.first + 1)));
  saveFile(new Blob(parts, { type: 'text/plain' }), `${id}.log`);
}

function collect(socket: WebSocket, signal: AbortSignal, onLines: (count: number) => void): Promise<Blob[]> {
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
