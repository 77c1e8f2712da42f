/** Where the lines of the page come from: the stream, and the route for older ones. */
import { beforeEach, describe, expect, it } from 'vitest';
import { LogFeed } from '../../../../src/dashboard/screens/instance/log/log-feed.js';
import type { TopicMessage } from '../../../../src/watch-client/messages.js';
import type { Subscriber } from '../../../../src/watch-client/subscriptions.js';
import { until } from '../../../support/until.js';

const TOPIC = 'log:a1';

describe('LogFeed', () => {
  let subscriber: Subscriber | undefined;
  let asked: Readonly<Record<string, unknown>>[];
  /** Lines that the node keeps. */
  let kept: { first: number; last: number };
  let feed: LogFeed;
  const connection = {
    subscribe: (next: Subscriber) => {
      subscriber = next;
      return () => {
        subscriber = undefined;
      };
    },
  };
  const api = {
    get: async <T>(_path: string, { query = {} }: { query?: Readonly<Record<string, unknown>> } = {}) => {
      asked.push(query);
      const first = Math.max(kept.first, Number(query.since ?? 1));
      const last = Math.min(kept.last, Number(query.until ?? kept.last));
      const firstLine = Math.max(first, last - Number(query.lines) + 1);
      return JSON.parse(JSON.stringify({ ...part(firstLine, last), firstLine, range: { first, last } })) as T;
    },
  };
  const receive = (...messages: TopicMessage[]): void => {
    for (const message of messages) subscriber?.receive(message);
  };
  const log = (node: string, next: number): TopicMessage => ({ type: 'log', topic: TOPIC, node, next });
  const lines = (first: number, last: number): TopicMessage => ({
    type: 'lines',
    topic: TOPIC,
    times: undefined,
    ...part(first, last),
  });

  beforeEach(() => {
    asked = [];
    kept = { first: 1, last: 1_000 };
    feed = new LogFeed({ connection, api, id: 'a1' });
  });

  it('begins with the last lines, and goes on where it stopped after a lost connection', () => {
    feed.start(null);
    expect(subscriber?.request()).toEqual({
      subscribe: TOPIC,
      log: { tail: 500, timestamps: true, ansi: true },
    });
    receive(log('n1', 501), lines(501, 1_000));
    expect(subscriber?.request().log).toMatchObject({ since: 1_001, node: 'n1' });
    // Of the connection before.
    receive(lines(1_001, 1_001));
    expect(feed.window.last).toBe(1_000);
    receive(log('n1', 1_001), lines(1_001, 1_002));
    expect(feed.window.last).toBe(1_002);
  });

  it('loads older lines up to the first one that is kept, and then no more', async () => {
    kept.first = 101;
    feed.start(null);
    receive(log('n1', 501), lines(501, 1_000));
    await feed.older();
    expect([feed.window.first, feed.firstKept.value]).toEqual([101, 101]);
    await feed.older();
    expect(asked).toHaveLength(1);
  });

  it('begins around a line, counts what is new, and follows again from the end', async () => {
    feed.start(400);
    expect(asked).toEqual([]);
    expect(subscriber?.request().log).toMatchObject({ tail: 0 });
    receive(log('n1', 1_001));
    await until(() => expect(feed.window.has(400)).toBe(true));
    receive(lines(1_001, 1_005));
    expect([feed.window.last, feed.unseen]).toEqual([650, 5]);
    feed.toEnd();
    expect(subscriber?.request().log).toMatchObject({ tail: 500 });
    receive(log('n1', 506), lines(506, 1_005));
    expect([feed.window.first, feed.window.last, feed.unseen]).toEqual([506, 1_005, 0]);
  });

  it('says that a line is not kept, and shows the newest instead of nothing', async () => {
    kept.first = 900;
    feed.start(20);
    receive(log('n1', 1_001));
    await until(() => expect(feed.missing.value).toBe(20));
    expect(feed.isFollowing.value).toBe(true);
    expect(subscriber?.request().log).toMatchObject({ tail: 500 });
  });

  it('loads nothing more of an instance that is gone, and keeps what it has', async () => {
    feed.start(null);
    receive(log('n1', 501), lines(501, 1_000));
    feed.seal();
    receive(lines(1_001, 1_001), { type: 'end', topic: TOPIC, reason: 'instance a1 was removed' });
    await feed.older();
    expect(asked).toEqual([]);
    expect([feed.window.first, feed.window.last]).toEqual([501, 1_001]);
    expect(subscriber).toBeUndefined();
  });
});

function part(first: number, last: number): { readonly first: number; readonly lines: string[] } {
  const lines = Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => `line ${first + place}`);
  return { first, lines };
}
