/** Shows something again when the change stream says that it has changed, at most so often. */
import { setTimeout as pause } from 'node:timers/promises';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import { type EntryMessage, isEntryMessage } from '../../watch-client/messages.js';
import type { ApiClient } from '../api-client.js';
import { WatchStream } from '../connection/watch-stream.js';

/** The longest that a timer can wait: 24 days. */
const NEVER_MS = 2 ** 31 - 1;

export interface LiveView {
  /** Topics of the change stream, each with the rest of its message. */
  readonly topics: Readonly<Record<string, object>>;
  /** The least time from one to the next. */
  readonly everyMs: number;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  take(message: EntryMessage): void;
  /** It is shown again after this time without changes; undefined: only after changes. */
  readonly refreshMs?: number | undefined;
  /** Called once all topics are known. False: that was the last time. Throws a ClientError. */
  show(isChanged: boolean): Promise<boolean>;
  /** Says what happens to the connection. */
  say(line: string): void;
}

/** Resolves after the last time. Throws a ClientError. */
export async function runView(api: ApiClient, view: LiveView): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, view.signal]);
  const news = new News();
  const reading = read(api, view, signal, news);
  try {
    await Promise.race([reading, showAll(view, signal, news)]);
  } finally {
    ending.abort();
    await reading;
  }
}

async function read(api: ApiClient, view: LiveView, signal: AbortSignal, news: News): Promise<void> {
  const unknown = new Set(Object.keys(view.topics));
  const say = (line: string): void => {
    view.say(line);
    if (unknown.size === 0) news.bring();
  };
  const watch = new WatchStream(api.connection, { say });
  for (const [topic, rest] of Object.entries(view.topics)) watch.subscribe(topic, () => rest);
  for await (const message of watch.messages(signal)) {
    if (message.type === 'error') throw new ClientError(EXIT.failed, message.error);
    if (!isEntryMessage(message)) continue;
    view.take(message);
    if (message.type === 'snapshot' && message.isLast) unknown.delete(message.topic);
    if (unknown.size === 0) news.bring();
  }
}

async function showAll(view: LiveView, signal: AbortSignal, news: News): Promise<void> {
  while (!signal.aborted) {
    const isChanged = await news.wait(signal, view.refreshMs);
    if (signal.aborted || !(await view.show(isChanged))) return;
    await pause(view.everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Whether something has changed since it was shown. */
class News {
  #isThere = false;
  #hasBegun = false;
  #wake: (() => void) | undefined;

  bring(): void {
    this.#isThere = true;
    this.#hasBegun = true;
    this.#wake?.();
  }

  /** Resolves when there is some, when `signal` aborts, and after `limitMs` once there was some. */
  async wait(signal: AbortSignal, limitMs: number | undefined): Promise<boolean> {
    if (!this.#isThere && !signal.aborted) {
      const over = new AbortController();
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const end = (): void => over.abort();
      // Not AbortSignal.any: `signal` would keep something of each wait for as long as the view is shown.
      signal.addEventListener('abort', end);
      const limit = this.#hasBegun ? (limitMs ?? NEVER_MS) : NEVER_MS;
      await Promise.race([woken, pause(limit, undefined, { signal: over.signal }).catch(() => undefined)]);
      signal.removeEventListener('abort', end);
      end();
    }
    const isChanged = this.#isThere;
    this.#isThere = false;
    return isChanged;
  }
}
