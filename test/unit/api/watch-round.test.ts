/** What a round keeps for later readers, whatever they ask for. */
import { expect, it } from 'vitest';
import { Topic } from '../../../src/api/watch/topic.js';
import { WatchRound } from '../../../src/api/watch/watch-round.js';
import { Watcher } from '../../../src/api/watch/watcher.js';

const MIB = 1024 * 1024;
const EPOCH = 'e';
const EVERYTHING = { configurations: null, sees: () => true };
const ENTRY = JSON.stringify('x'.repeat(200_000));
const sink = {
  outlet: {
    signal: new AbortController().signal,
    bufferedBytes: 0,
    whenDrained: async () => undefined,
  },
  send: () => undefined,
  fail: () => undefined,
};

it('keeps a bounded amount while nothing changes, however many filters are asked for', () => {
  const source = {
    filters: ['configuration'] as const,
    textOf: () => ENTRY,
    follow: ({ put }: { put(id: string, traits: object): void }) => {
      put('one', { configuration: 'lobby' });
      return () => undefined;
    },
  };
  const topic = new Topic('instances', source, () => undefined);
  topic.open();
  const round = new WatchRound(EPOCH, [topic]);
  for (let reader = 0; reader < 200; reader++) {
    const watcher = new Watcher(sink, EVERYTHING, EPOCH);
    watcher.subscribe(topic, { filter: { configuration: ['lobby', `other${reader}`] } });
    expect(watcher.take(round)?.lines.toString()).toContain(ENTRY);
    expect(round.keptChars).toBeLessThanOrEqual(16 * MIB);
  }
});
