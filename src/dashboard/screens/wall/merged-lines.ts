/** The lines of several logs as one, by time. Pure. */
import type { LogLine, LogWindow } from '../instance/log/log-window.js';

export interface MergedLine {
  readonly id: string;
  readonly line: LogLine;
}

/** The newest `most` lines of all logs, the oldest first. A line without a time stays behind the one before it. */
export function mergedLines(
  logs: readonly { readonly id: string; readonly feed: { readonly window: Pick<LogWindow, 'pages'> } }[],
  most: number,
): MergedLine[] {
  const timed = logs.flatMap(({ id, feed }) => {
    let at = '';
    const lines = feed.window.pages.flatMap(({ items }) => items).filter((item) => item.kind === 'line');
    return lines.slice(-most).map((line) => {
      at = line.time ?? at;
      return { id, line, at };
    });
  });
  return timed.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(-most);
}
