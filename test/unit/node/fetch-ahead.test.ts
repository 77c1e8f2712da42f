/** Which trees a node fetches before its instances need them, and when. */
import { beforeEach, expect, it } from 'vitest';
import type { Assignment } from '../../../src/channel/protocol/messages.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import { FetchAhead } from '../../../src/node/fetch-ahead.js';
import { desired } from '../../support/control-plane/wrapper-facts.js';
import { FakeClock } from '../../support/fake-clock.js';

let clock: FakeClock;
let wanted: Map<string, Desired>;
let cached: Set<string>;
let fetched: string[];
let failing: Set<string>;
let isConnected: boolean;
/** Called just before a fetch ends. */
let onEnd: () => void;
let ahead: FetchAhead;

beforeEach(() => {
  clock = new FakeClock();
  wanted = new Map();
  cached = new Set();
  fetched = [];
  failing = new Set();
  isConnected = true;
  onEnd = () => {};
  ahead = new FetchAhead({
    desired: { ids: () => wanted.keys(), get: (id) => wanted.get(id) },
    installation: { isCached: (digest) => cached.has(digest) },
    calls: () => (isConnected ? {} : undefined),
    prefetch: {
      fetchOne: async (digest) => {
        fetched.push(digest);
        if (!failing.has(digest)) cached.add(digest);
        onEnd();
        const outcome = failing.has(digest) ? 'failed' : 'fetched';
        return { digest, outcome, bytes: 0, files: 0, problem: null };
      },
    },
    clock,
    random: () => 1,
  });
});

function want(id: string, digests: readonly (string | null)[], goal: Assignment['goal'] = 'run'): void {
  const templates = digests.map((digest, index) => ({ group: 'g', name: `t${index}`, priority: 0, digest }));
  wanted.set(id, desired({ id, templates, goal }));
  ahead.changed(id);
}

it('fetches each tree once that is missing for something that is to run', async () => {
  cached.add('here');
  want('a', ['one', 'here', null]);
  want('b', ['one', 'two']);
  want('c', ['three'], 'stop');
  await clock.advance(100);
  expect(fetched).toEqual(['one', 'two']);
});

it('leaves out what nothing wants by then', async () => {
  want('a', ['old']);
  want('a', ['new']);
  await clock.advance(100);
  expect(fetched).toEqual(['new']);
});

it('waits for the connection, and then begins at once', async () => {
  isConnected = false;
  want('a', ['one']);
  await clock.advance(60_000);
  expect([fetched, clock.pending]).toEqual([[], 0]);
  isConnected = true;
  ahead.connected();
  await clock.advance(100);
  expect(fetched).toEqual(['one']);
});

it('tries what failed later and later, at once with a new connection, and not when nothing wants it', async () => {
  failing.add('one');
  want('a', ['one']);
  await clock.advance(100);
  await clock.advance(999);
  expect(fetched).toHaveLength(1);
  await clock.advance(200);
  expect(fetched).toHaveLength(2);
  await clock.advance(1900);
  expect(fetched).toHaveLength(2);
  ahead.connected();
  await clock.advance(100);
  expect(fetched).toHaveLength(3);
  wanted.clear();
  await clock.advance(600_000);
  expect(fetched).toHaveLength(3);
});

it('forgets nothing that comes in the moment in which a fetch ends', async () => {
  for (let depth = 0; depth < 8; depth++) {
    const last = `last ${depth}`;
    onEnd = () => {
      onEnd = () => {};
      const later = (left: number): void =>
        left === 0 ? want('b', [last]) : queueMicrotask(() => later(left - 1));
      later(depth);
    };
    want('a', [`first ${depth}`]);
    await clock.advance(300);
    expect(fetched.slice(-2)).toEqual([`first ${depth}`, last]);
  }
});

it('waits after a failure also for what was named again meanwhile', async () => {
  failing.add('one');
  onEnd = () => want('b', ['one']);
  want('a', ['one']);
  await clock.advance(500);
  expect(fetched).toEqual(['one']);
});

it('begins nothing after its stop', async () => {
  want('a', ['one']);
  await ahead.stop();
  want('b', ['two']);
  ahead.connected();
  await clock.advance(1000);
  expect([fetched, clock.pending]).toEqual([[], 0]);
});
