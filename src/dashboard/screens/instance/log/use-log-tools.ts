/** The menu of a log: how the lines are shown, copying, and the download of the whole log. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { apiPath } from '../../../api/api-client.js';
import { openSocket } from '../../../live/live.js';
import { copyText } from '../../../parts/copy-button.js';
import type { MenuItem } from '../../../parts/menu.js';
import { saveFile } from '../../../parts/save-file.js';
import { useServices } from '../../../services/services.js';
import { text } from '../text.js';
import { plainOf } from './ansi.js';
import { downloadLog } from './download.js';
import type { LogFeed } from './log-feed.js';
import type { LogLine } from './log-window.js';

interface LogToolsOptions {
  readonly feed: LogFeed;
  readonly id: string;
  readonly isWrapped: boolean;
  readonly hasTimes: boolean;
  /** True when searches tell capital letters from small ones. */
  readonly hasCapitals: boolean;
  /** True when the instance is gone, and only its node has the log. */
  readonly isOver: boolean;
}

export function useLogTools(options: LogToolsOptions): readonly MenuItem[] {
  const { feed, id, isWrapped, hasTimes, hasCapitals, isOver } = options;
  const { api, session, router, toasts } = useServices();
  /** The share of a running download, from 0 to 1; null: no download runs. */
  const share = useSignal<number | null>(null);
  const running = useMemo(() => ({ calls: new AbortController() }), []);
  useEffect(() => () => running.calls.abort(), [running]);
  const download = async (): Promise<void> => {
    const { signal } = running.calls;
    share.value = 0;
    try {
      await downloadLog({
        api,
        id,
        signal,
        open: (query) => openSocket(session, apiPath('instances', id, 'live-log'), query),
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
    ...(share.value === null || isOver
      ? []
      : [{ label: text.log.downloading(share.value), isDisabled: true, onPress: () => undefined }]),
    isOver
      ? { label: text.log.saveLoaded, onPress: () => saveFile(loadedFile(), `${id}.log`) }
      : share.value === null
        ? { label: text.log.download, onPress: () => void download() }
        : { label: text.log.stopDownload, onPress: stop },
  ];
}

function loadedLines(feed: LogFeed): string[] {
  const items = feed.window.pages.flatMap((page) => page.items);
  return items.filter((item): item is LogLine => item.kind === 'line').map((line) => plainOf(line.text));
}
