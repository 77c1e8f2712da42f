/** `/instances/{id}/live-log` over a real socket; the nodes' logs are in memory. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { instanceRecord } from '../../support/api/api-world.js';
import { ID, LiveLogWorld, lines } from '../../support/api/live-log-world.js';
import type { SocketClient } from '../../support/api/socket-client.js';

let world: LiveLogWorld;
beforeEach(async () => {
  world = await new LiveLogWorld().start();
});
afterEach(() => world.stop());

const shows = (client: SocketClient, texts: readonly string[]): Promise<void> =>
  world.until(() => expect(client.texts).toEqual(texts));
const AWAY = '[drover] node n1 is not connected: the log goes on when it is back';
const MOVED = `[drover] the log of instance ${ID} is on node n2 now, where it begins anew`;

describe('where it begins', () => {
  it('shows the last 100 lines and then what is written', async () => {
    world.logs.write('n1', ...lines(1, 250));
    const client = await world.open();
    await shows(client, lines(151, 250));
    world.logs.write('n1', 'new');
    await shows(client, [...lines(151, 250), 'new']);
  });

  it('shows as many of the last lines as asked for, also none', async () => {
    world.logs.write('n1', ...lines(1, 1500));
    const [none, three, most] = [
      await world.open('?tail=0'),
      await world.open('?tail=3'),
      await world.open('?tail=1000'),
    ];
    await shows(three, lines(1498, 1500));
    await shows(most, lines(501, 1500));
    world.logs.write('n1', 'new');
    await shows(none, ['new']);
  });

  it('resumes at a line number without loss or repetition', async () => {
    world.logs.write('n1', ...lines(1, 3000));
    const client = await world.open('?since=2');
    await shows(client, lines(2, 3000));
    const next = await world.open('?since=3001');
    world.logs.write('n1', ...lines(3001, 3002));
    await shows(next, lines(3001, 3002));
    await shows(client, lines(2, 3002));
  });

  it('says in one line which lines are no longer kept, but not to who asked for the last ones', async () => {
    world.logs.write('n1', ...lines(1, 500));
    world.logs.rotate('n1', 481);
    const [since, tail] = [await world.open('?since=120'), await world.open('?tail=200')];
    await shows(since, ['[drover] lines 120 to 480 are no longer kept', ...lines(481, 500)]);
    await shows(tail, lines(481, 500));
  });

  it('shows a log from its first line to who resumes at one that is not there', async () => {
    world.logs.write('n1', ...lines(1, 3));
    const said = '[drover] line 5000 is not there: the log ends at line 3, it is shown from its first';
    await shows(await world.open('?since=5000'), [said, ...lines(1, 3)]);
  });

  it('refuses before the upgrade what is no number, out of range, or both', async () => {
    for (const query of ['?tail=-1', '?tail=1001', '?tail=x', '?since=0', '?since=1.5', '?ansi=maybe']) {
      expect([query, (await world.refusal(query)).status]).toEqual([query, 400]);
    }
    expect((await world.refusal('?tail=5&since=5')).body).toContain('since');
  });

  it('is 404 before the upgrade for an instance that there is not, or that is being removed', async () => {
    expect((await world.refusal('', 'zzzzzz')).status).toBe(404);
    await world.api.putInstance(instanceRecord({ id: ID, desired: { goal: 'remove', restartToken: 0 } }));
    expect((await world.refusal('')).status).toBe(404);
  });
});

describe('the form of its lines', () => {
  it('is plain, or as written, with or without the number', async () => {
    world.logs.write('n1', '\x1b[31mred\x1b[0m\r', 'grüße 💥', '');
    const plain = ['red', 'grüße 💥', ''];
    const written = ['\x1b[31mred\x1b[0m\r', 'grüße 💥', ''];
    const numbered = (texts: string[]): string[] => texts.map((text, index) => `${index + 1} ${text}`);
    await shows(await world.open(), plain);
    await shows(await world.open('?ansi=true'), written);
    await shows(await world.open('?numbered=true'), numbered(plain));
    await shows(await world.open('?numbered=true&ansi=true'), numbered(written));
  });

  it('has no number where Drover itself speaks', async () => {
    world.logs.write('n1', ...lines(1, 3));
    world.logs.rotate('n1', 3);
    const client = await world.open('?since=1&numbered=true');
    await shows(client, ['[drover] lines 1 to 2 are no longer kept', '3 line 3']);
  });
});

describe('times', () => {
  const stamp = (second: number): string => `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;

  it('stand before each line when asked for, and are asked for once for all clients', async () => {
    const { second } = world.logs;
    world.logs.write('n1', 'one');
    world.logs.second += 5;
    world.logs.write('n1', 'two');
    const clients = [
      await world.open('?timestamps=true'),
      await world.open('?timestamps=true&numbered=true'),
      await world.open(),
    ];
    const [timed, numbered, plain] = clients;
    if (timed === undefined || numbered === undefined || plain === undefined) throw new Error('no client');
    const stamps = [stamp(second), stamp(second + 5)];
    await shows(timed, [`${stamps[0]} one`, `${stamps[1]} two`]);
    await shows(numbered, [`1 ${stamps[0]} one`, `2 ${stamps[1]} two`]);
    await shows(plain, ['one', 'two']);
    const asked = world.logs.timesAsked;
    world.logs.write('n1', 'three');
    await shows(timed, [`${stamps[0]} one`, `${stamps[1]} two`, `${stamps[1]} three`]);
    await shows(numbered, [`1 ${stamps[0]} one`, `2 ${stamps[1]} two`, `3 ${stamps[1]} three`]);
    expect(world.logs.timesAsked).toBe(asked + 1);
  });

  it('choose where it begins, and then it is live', async () => {
    world.logs.write('n1', ...lines(1, 5));
    world.logs.second += 60;
    world.logs.write('n1', ...lines(6, 8));
    const [age, time, none] = [
      await world.open('?since=30s'),
      await world.open(`?since=${stamp(world.logs.second - 30)}`),
      await world.open(`?since=${stamp(world.logs.second + 30)}`),
    ];
    await shows(age, lines(6, 8));
    world.logs.write('n1', 'new');
    for (const client of [age, time]) await shows(client, [...lines(6, 8), 'new']);
    await shows(none, ['new']);
  });

  it('and line numbers choose where it ends: it closes with 1000 then', async () => {
    world.logs.write('n1', ...lines(1, 300));
    const end = stamp(world.logs.second);
    world.logs.second += 60;
    world.logs.write('n1', ...lines(301, 400));
    const all = await world.open(`?until=${end}&tail=1000`);
    expect(await all.closed).toMatchObject({ code: 1000 });
    expect(all.texts).toEqual(lines(1, 300));
    const last = await world.open(`?until=${end}&tail=2`);
    expect(await last.closed).toMatchObject({ code: 1000 });
    expect(last.texts).toEqual(lines(299, 300));
    const part = await world.open('?since=150&until=350');
    expect(await part.closed).toMatchObject({ code: 1000 });
    expect(part.texts).toEqual(lines(150, 350));
    const empty = await world.open('?since=10s&until=5s');
    expect(await empty.closed).toMatchObject({ code: 1000 });
  });

  it('are refused before the upgrade when they make no sense, or the node is too old or away', async () => {
    for (const query of [
      '?since=yesterday',
      '?since=2026-01-31T12:00:00',
      '?until=0',
      '?since=5m&until=10m',
    ]) {
      expect([query, (await world.refusal(query)).status]).toEqual([query, 400]);
    }
    expect((await world.refusal('?since=2026-01-31T12:00:00')).body).toContain('Z for UTC');
    world.logs.write('n1', ...lines(1, 3));
    await shows(await world.open('?since=2'), lines(2, 3));
    world.logs.disconnect('n1');
    expect((await world.refusal('?since=10m')).status).toBe(503);
  });
});

describe('a log whose instance or node comes and goes', () => {
  it('waits for an instance that has no node yet', async () => {
    await world.place(null);
    const client = await world.open();
    world.logs.write('n1', 'first');
    await world.place('n1');
    await shows(client, ['first']);
  });

  it('says once that the node is away, and goes on without loss or repetition', async () => {
    world.logs.write('n1', ...lines(1, 3));
    const [client, late] = [await world.open(), await world.open('?tail=1')];
    await shows(client, lines(1, 3));
    world.logs.disconnect('n1');
    await shows(client, [...lines(1, 3), AWAY]);
    await shows(late, ['line 3', AWAY]);
    world.logs.write('n1', ...lines(4, 9));
    await world.api.clock.advance(60_000);
    world.logs.connect('n1');
    await shows(client, [...lines(1, 3), AWAY, ...lines(4, 9)]);
    await shows(late, ['line 3', AWAY, ...lines(4, 9)]);
  });

  it('opens while the node is away, says so, and shows the log when it is back', async () => {
    world.logs.write('n1', ...lines(1, 200));
    world.logs.disconnect('n1');
    const client = await world.open();
    await shows(client, [AWAY]);
    world.logs.connect('n1');
    await world.api.addNode('n1', { condition: 'returning' });
    await shows(client, [AWAY, ...lines(101, 200)]);
  });

  it('says that a node is lost whose connection still stands', async () => {
    world.logs.write('n1', 'one');
    const client = await world.open();
    await shows(client, ['one']);
    await world.api.addNode('n1', { condition: 'lost' });
    await shows(client, ['one', AWAY]);
    await world.api.addNode('n1');
    world.logs.write('n1', 'two');
    await shows(client, ['one', AWAY, 'two']);
  });

  it('follows the instance to another node, where its lines count from 1', async () => {
    world.logs.write('n1', ...lines(1, 150));
    const client = await world.open('?numbered=true&tail=2');
    await shows(client, ['149 line 149', '150 line 150']);
    world.logs.write('n1', 'last');
    await world.place('n2');
    world.logs.write('n2', 'a', 'b');
    await shows(client, ['149 line 149', '150 line 150', '151 last', MOVED, '1 a', '2 b']);
  });

  it('goes on where it stopped when the instance comes back to a node', async () => {
    world.logs.write('n1', ...lines(1, 3));
    const client = await world.open();
    await shows(client, lines(1, 3));
    await world.place('n2');
    await shows(client, [...lines(1, 3), MOVED]);
    world.logs.write('n1', 'four');
    await world.place('n1');
    await shows(client, [...lines(1, 3), MOVED, MOVED.replace('n2', 'n1'), 'four']);
  });

  it('moves on from a node that is away', async () => {
    world.logs.write('n1', 'one');
    const client = await world.open();
    await shows(client, ['one']);
    world.logs.disconnect('n1');
    await shows(client, ['one', AWAY]);
    world.logs.write('n2', 'two');
    await world.place('n2');
    await shows(client, ['one', AWAY, MOVED, 'two']);
  });

  it('begins anew when the log itself did', async () => {
    world.logs.write('n1', ...lines(1, 5));
    const client = await world.open();
    await shows(client, lines(1, 5));
    world.logs.disconnect('n1');
    await shows(client, [...lines(1, 5), AWAY]);
    world.logs.on('n1').lines.splice(0, 5, 'other');
    world.logs.connect('n1');
    const anew = `[drover] the log of instance ${ID} begins anew`;
    await shows(client, [...lines(1, 5), AWAY, anew, 'other']);
  });

  it('closes with 1000 and a reason when the instance is gone, after its last line', async () => {
    world.logs.write('n1', ...lines(1, 50));
    const client = await world.open('?since=1');
    await world.remove();
    world.logs.write('n1', ...lines(51, 5000));
    world.logs.on('n1').unfinished = 'Segmentation fau';
    await world.api.dropInstance(ID);
    let closed: unknown;
    void client.closed.then((how) => {
      closed = how;
    });
    await world.until(() => expect(closed).toEqual({ code: 1000, reason: `instance ${ID} was removed` }));
    expect(client.texts).toEqual([...lines(1, 5000), 'Segmentation fau']);
  });

  it('closes when the node of an instance that is being removed is away, for its record may stay for days', async () => {
    world.logs.write('n1', 'one');
    const client = await world.open();
    await shows(client, ['one']);
    world.logs.disconnect('n1');
    await world.api.addNode('n1', { condition: 'lost' });
    await shows(client, ['one', AWAY]);
    await world.remove();
    expect(await client.closed).toMatchObject({ code: 1000 });
  });

  it('closes after 15 s when an instance that is being removed does not end, after what it wrote until then', async () => {
    world.logs.write('n1', 'one');
    const client = await world.open();
    await shows(client, ['one']);
    await world.remove();
    world.logs.write('n1', 'I stay');
    await shows(client, ['one', 'I stay']);
    await world.api.clock.advance(15_000);
    let closed: unknown;
    void client.closed.then((how) => {
      closed = how;
    });
    await world.until(() => expect(closed).toMatchObject({ code: 1000 }));
  });

  it('closes also when the node of a removed instance is away, or when it never had one', async () => {
    const client = await world.open();
    world.logs.disconnect('n1');
    await shows(client, [AWAY]);
    await world.api.dropInstance(ID);
    expect(await client.closed).toMatchObject({ code: 1000 });
    await world.place(null);
    const waiting = await world.open();
    await world.api.dropInstance(ID);
    expect(await waiting.closed).toMatchObject({ code: 1000 });
  });
});

describe('its clients', () => {
  it('share one stream, and let go of it when the last has left', async () => {
    world.logs.write('n1', ...lines(1, 500));
    const clients = await Promise.all(Array.from({ length: 20 }, () => world.open()));
    for (const client of clients) await shows(client, lines(401, 500));
    expect(world.logs.mostOpen).toBe(1);
    for (const client of clients) await client.close();
    await world.until(() => expect(world.logs.open).toBe(0));
  });

  it('send nothing that anybody hears', async () => {
    const [client, other] = [await world.open(), await world.open()];
    client.send('hello');
    world.logs.write('n1', 'one');
    await shows(client, ['one']);
    await shows(other, ['one']);
  });

  it('are told that something failed, without its words, and served again', async () => {
    world.logs.write('n1', 'one');
    const { followLogs } = world.logs;
    let isBroken = true;
    world.api.nodeLogs = {
      readLogs: world.logs.readLogs,
      readLogRange: world.logs.readLogRange,
      readLogTimes: world.logs.readLogTimes,
      followLogs: (...given) => {
        if (isBroken) throw new Error('EIO /secret/path');
        return followLogs.apply(world.logs, given);
      },
    };
    const client = await world.open();
    const said = '[drover] the log cannot be read on node n1 now: it goes on when it can';
    await world.until(() => expect(client.texts).toContain(said));
    isBroken = false;
    await world.until(() => expect(client.texts).toContain('one'));
    expect(client.texts).toEqual([said, 'one']);
  });
});
