/** Logs as topics of the change stream; the nodes' logs are in memory. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ID, LiveLogWorld, lines } from '../../support/api/live-log-world.js';
import type { SocketClient } from '../../support/api/socket-client.js';

const TOPIC = `log:${ID}`;
const MOST_LOGS = 16;

const messagesSchema = z.array(z.looseObject({ type: z.string(), lines: z.array(z.string()).optional() }));

let world: LiveLogWorld;
beforeEach(async () => {
  world = await new LiveLogWorld().start();
});
afterEach(() => world.stop());

const messagesOf = (client: SocketClient) =>
  client.texts.flatMap((text) => messagesSchema.parse(JSON.parse(text)));
const linesOf = (client: SocketClient): string[] =>
  messagesOf(client).flatMap(({ lines: written = [] }) => written);
const log = (more = {}) => ({ subscribe: TOPIC, log: more });

describe('a log in the change stream', () => {
  it('begins with the last lines or at a number, and goes on with what is written', async () => {
    world.logs.write('n1', ...lines(1, 250));
    const [last, two, since] = [
      await world.watch({ subscribe: TOPIC }),
      await world.watch(log({ tail: 2 })),
      await world.watch(log({ since: 249 })),
    ];
    await world.until(() => expect(linesOf(last)).toEqual(lines(151, 250)));
    await world.until(() => expect(linesOf(since)).toEqual(lines(249, 250)));
    world.logs.write('n1', '\x1b[31mred\x1b[0m');
    await world.until(() => expect(linesOf(two)).toEqual([...lines(249, 250), 'red']));
    await world.until(() =>
      expect(messagesOf(since).at(-1)).toEqual({ type: 'lines', topic: TOPIC, first: 251, lines: ['red'] }),
    );
  });

  it('says what is no longer kept, that its node is away, and when it ends', async () => {
    world.logs.write('n1', ...lines(1, 500));
    world.logs.rotate('n1', 481);
    const client = await world.watch(log({ since: 120 }));
    await world.until(() => expect(linesOf(client)).toEqual(lines(481, 500)));
    expect(messagesOf(client).slice(0, 2)).toEqual([
      { type: 'log', topic: TOPIC, node: 'n1', next: 120 },
      { type: 'gap', topic: TOPIC, first: 120, last: 480 },
    ]);
    await world.api.addNode('n1', { condition: 'lost' });
    await world.until(() =>
      expect(messagesOf(client)).toContainEqual({
        type: 'note',
        topic: TOPIC,
        text: '[drover] node n1 is not connected: the log goes on when it is back',
      }),
    );
    await world.api.dropInstance(ID);
    await world.until(() =>
      expect(messagesOf(client)).toContainEqual({
        type: 'end',
        topic: TOPIC,
        reason: `instance ${ID} was removed`,
      }),
    );
  });

  it('goes on at a number on the node that it names, and on another one with the first line', async () => {
    world.logs.write('n1', ...lines(1, 5));
    world.logs.write('n2', 'a', 'b', 'c', 'd');
    const same = await world.watch(log({ since: 4, node: 'n1' }));
    await world.until(() => expect(linesOf(same)).toEqual(lines(4, 5)));
    await world.place('n2');
    await world.until(() => expect(linesOf(same)).toEqual([...lines(4, 5), 'a', 'b', 'c', 'd']));
    expect(messagesOf(same).filter(({ type }) => type === 'log')).toEqual([
      { type: 'log', topic: TOPIC, node: 'n1', next: 4 },
      { type: 'log', topic: TOPIC, node: 'n2', next: 1 },
    ]);
    const moved = await world.watch(log({ since: 3, node: 'n1' }));
    await world.until(() => expect(linesOf(moved)).toEqual(['a', 'b', 'c', 'd']));
    expect(messagesOf(moved)[0]).toEqual({
      type: 'note',
      topic: TOPIC,
      text: `[drover] the log of instance ${ID} is on node n2 now, where it begins anew`,
    });
  });

  it('stands beside other topics, and ends with unsubscribe', async () => {
    const client = await world.watch({ subscribe: 'nodes' }, { subscribe: TOPIC });
    world.logs.write('n1', 'one');
    await world.until(() => expect(linesOf(client)).toEqual(['one']));
    client.send(JSON.stringify({ unsubscribe: TOPIC }));
    client.send('nonsense');
    await world.until(() => expect(messagesOf(client).at(-1)?.type).toBe('error'));
    world.logs.write('n1', 'two');
    await world.api.addNode('n3');
    await world.until(() =>
      expect(messagesOf(client).at(-1)).toMatchObject({ type: 'changes', topic: 'nodes' }),
    );
    expect(linesOf(client)).toEqual(['one']);
  });

  it('is refused where there is no such instance, with what a log does not take, and above so many', async () => {
    const client = await world.watch(
      { subscribe: 'log:zzzzzz' },
      { subscribe: TOPIC, filter: { node: ['n1'] } },
      { subscribe: 'nodes', log: { tail: 1 } },
      log({ tail: 1, since: 1 }),
      log({ node: 'n1' }),
      log({ tail: -1 }),
    );
    await world.until(() => expect(messagesOf(client)).toHaveLength(6));
    expect(messagesOf(client).map(({ error }) => error)).toEqual([
      'there is no instance zzzzzz',
      expect.stringContaining('takes no filter and no resume'),
      '"log" is for topics log:ID',
      'give one of tail and since',
      expect.stringMatching(/^node is for since/),
      expect.stringContaining('log.tail: must be a whole number from 0 to 1000, is -1'),
    ]);
  });

  it('is followed by one client for so many instances at most', async () => {
    const ids = Array.from({ length: MOST_LOGS + 1 }, (_, index) => `b${String(index).padStart(5, '0')}`);
    for (const id of ids) await world.place('n1', id);
    const client = await world.watch(...ids.map((id) => ({ subscribe: `log:${id}` })));
    await world.until(() =>
      expect(messagesOf(client).filter(({ type }) => type === 'error')).toEqual([
        {
          type: 'error',
          topic: `log:${ids.at(-1)}`,
          error: 'a client follows 16 logs at most: unsubscribe from one',
          code: 'DRV_REQUEST_INVALID',
        },
      ]),
    );
  });
});
