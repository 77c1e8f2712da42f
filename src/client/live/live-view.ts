/** Redraws a view after changes in its topics, at most once per `everyMs`. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RunCall } from '../../command-tree/commands.js';
import type { ApiClient } from '../api-client.js';
import { type FollowedTopics, followTopics, type WantedTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';
import { LiveScreen, type TerminalStream } from './live-screen.js';

/** Nearly the longest time that a timer can wait: 24 days. */
const NEVER_MS = 2 ** 31 - 1;

export interface LiveView {
  readonly topics: WantedTopics;
  /** The shortest time between two updates of the view. */
  readonly everyMs: number;
  /** On a terminal the view is redrawn after this time without changes; absent: only after changes. */
  readonly refreshMs?: number;
  /** Undefined: the view is printed instead of redrawn. */
  readonly terminal: TerminalStream | undefined;
  /** Runs after each change, before the view is shown. Throws a ClientError. */
  update?(followed: FollowedTopics): Promise<void>;
  /** Returns the text to draw over the terminal. */
  draw(followed: FollowedTopics): string | Promise<string>;
  /** Resolves with false to end the view. Throws a ClientError. */
  print(followed: FollowedTopics): Promise<boolean>;
}

/** Shows the view until it ends. Throws a ClientError. */
export async function runView(api: ApiClient, view: LiveView, output: LiveOutput): Promise<void> {
  const screen = view.terminal && new LiveScreen(output, view.terminal);
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, output.signal]);
  let followed: FollowedTopics | undefined;
  let isChanged = false;
  let waiting = new AbortController();
  signal.addEventListener('abort', () => waiting.abort(), { once: true });
  const bring = (): void => {
    isChanged = true;
    waiting.abort();
  };
  const say = (line: string): void => {
    if (screen === undefined) output.say(line);
    else screen.setStatus(line);
    if (followed !== undefined) bring();
  };
  const read = async (): Promise<void> => {
    for await (followed of followTopics(api.connection, view.topics, { say, signal })) {
      screen?.setStatus('');
      bring();
    }
  };
  const showAll = async (): Promise<void> => {
    while (!signal.aborted) {
      if (!isChanged) {
        waiting = new AbortController();
        const limitMs = (followed && screen && view.refreshMs) ?? NEVER_MS;
        await pause(limitMs, undefined, { signal: waiting.signal }).catch(() => undefined);
      }
      if (signal.aborted || followed === undefined) continue;
      if (isChanged) {
        isChanged = false;
        await view.update?.(followed);
      }
      const isRead = await (screen === undefined
        ? view.print(followed)
        : screen.draw(await view.draw(followed)));
      if (!isRead) return;
      await pause(view.everyMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const reading = read();
  try {
    await Promise.race([reading, showAll()]);
  } finally {
    ending.abort();
    await reading;
  }
}

/** The `RunCall` of a command that runs inside a view: it prints nothing, and every question counts as confirmed. */
export function quietCall(signal: AbortSignal): RunCall {
  return { signal, say: () => undefined, confirm: async () => undefined };
}
