/** Clients of a live log that read slowly or not at all: nobody waits for them, and they lose nothing that is kept. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AcceptedSockets } from '../../support/api/accepted-sockets.js';
import { LiveLogWorld } from '../../support/api/live-log-world.js';
import type { SocketClient } from '../../support/api/socket-client.js';

const KIB = 1024;
/** What a client may have waiting: the bound, and the chunk that went over it. */
const MOST_BUFFERED_BYTES = (512 + 2 * 64) * KIB;
const ROUNDS = 40;
/** 1 KiB each: the buffers of the system hold a small part of all of them. */
const LINES = Array.from({ length: 1000 }, () => 'x'.repeat(KIB));
const ALL = ROUNDS * LINES.length;

let world: LiveLogWorld;
let accepted: AcceptedSockets;
beforeEach(async () => {
  accepted = new AcceptedSockets();
  world = await new LiveLogWorld().start();
});
afterEach(async () => {
  accepted.stop();
  await world.stop();
});

/** Writes 40 MB; resolves when `reader` has all of it. Returns the most that ever waited for `slow`. */
async function writeAll(reader: SocketClient, slow: SocketClient): Promise<number> {
  const waiting = accepted.of(slow.connection);
  let most = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    world.logs.write('n1', ...LINES);
    await world.until(() => {
      most = Math.max(most, waiting.writableLength);
      expect(reader.texts).toHaveLength(round * LINES.length);
    });
  }
  return most;
}

it('holds up nobody, and holds little in memory, for one that does not read', async () => {
  const [reader, deaf] = [await world.open(), await world.open('?numbered=true')];
  deaf.websocket.pause();
  const most = await writeAll(reader, deaf);
  expect(most).toBeGreaterThan(256 * KIB);
  expect(most).toBeLessThan(MOST_BUFFERED_BYTES);
  // It reads from disk now, but stands still: it gives its place away.
  await world.until(() => expect(world.logs.open).toBe(1));
  expect(deaf.websocket.readyState).toBe(deaf.websocket.OPEN);
});

it('serves one that was slow from disk, then with the others again, without loss or repetition', async () => {
  const [reader, slow] = [await world.open(), await world.open('?numbered=true')];
  slow.websocket.pause();
  await writeAll(reader, slow);
  slow.websocket.resume();
  await world.until(() => expect(slow.texts).toHaveLength(ALL));
  const numbers = slow.texts.map((text) => Number(text.slice(0, text.indexOf(' '))));
  expect(numbers).toEqual(Array.from({ length: ALL }, (_, index) => index + 1));
  await world.until(() => expect(world.logs.open).toBe(1));
  const { length } = world.logs.opened;
  world.logs.write('n1', 'all have this');
  await world.until(() => expect(slow.texts.at(-1)).toBe(`${ALL + 1} all have this`));
  await world.until(() => expect(reader.texts.at(-1)).toBe('all have this'));
  expect(world.logs.opened).toHaveLength(length);
});

it('tells one that was slow which lines were rotated away meanwhile', async () => {
  const [reader, slow] = [await world.open(), await world.open('?numbered=true')];
  slow.websocket.pause();
  await writeAll(reader, slow);
  const kept = ALL - 5000;
  world.logs.rotate('n1', kept);
  slow.websocket.resume();
  await world.until(() => expect(slow.texts.at(-1)).toMatch(new RegExp(`^${ALL} `)));
  const at = slow.texts.findIndex((text) => text.startsWith('[drover] '));
  expect(slow.texts[at]).toBe(`[drover] lines ${at + 1} to ${kept - 1} are no longer kept`);
  expect(slow.texts[at + 1]).toMatch(new RegExp(`^${kept} `));
  expect(slow.texts).toHaveLength(at + 1 + ALL - kept + 1);
});

it('serves many that resume far back, few of them at once', async () => {
  for (let round = 0; round < 10; round++) world.logs.write('n1', ...LINES);
  const keys = await Promise.all(['a', 'b'].map((label) => world.api.addKey(label, 'ALL')));
  const opening = keys.flatMap((key) => Array.from({ length: 50 }, () => world.open('?since=9000', key)));
  const clients = await Promise.all(opening);
  for (const client of clients) await world.until(() => expect(client.texts).toHaveLength(1001));
  expect(world.logs.mostOpen).toBeLessThanOrEqual(65);
  await world.until(() => expect(world.logs.open).toBe(1));
});
