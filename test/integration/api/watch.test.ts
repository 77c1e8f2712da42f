/** `/watch`: what is there, then each change, over a WebSocket and as lines. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { StoredStatus } from '../../../src/model/instance.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { instanceRecord, placedOn, withStatus } from '../../support/control-plane/records.js';
import { until } from '../../support/until.js';

const ROUND_MS = 100;
const BEAT_MS = 10_000;

const messageSchema = z.looseObject({
  type: z.string(),
  topic: z.string().optional(),
  epoch: z.string().optional(),
  revision: z.number().optional(),
  put: z.array(z.looseObject({})).optional(),
  gone: z.array(z.string()).optional(),
  reason: z.string().optional(),
  error: z.string().optional(),
});
type Message = z.output<typeof messageSchema>;

let world: ApiWorld;
const clients: SocketClient[] = [];
const ending = new Set<AbortController>();

beforeEach(async () => {
  world = await new ApiWorld({ limits: { sockets: { perCaller: 4, total: 6 } } }).start();
  await world.server.start();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.websocket.terminate();
  for (const end of ending) end.abort();
  ending.clear();
  await world.stop();
});

async function open(query = '', token = world.admin): Promise<SocketClient> {
  const client = await SocketClient.open(`${world.url}/watch${query}`, { token });
  clients.push(client);
  return client;
}

const messagesOf = (client: SocketClient): Message[] =>
  client.texts.flatMap((text) => z.array(messageSchema).parse(JSON.parse(text)));

/** Moves the time on until the client has so many messages, and returns the last one. */
async function message(client: SocketClient, count: number): Promise<Message> {
  return until(async () => {
    await world.clock.advance(ROUND_MS);
    const messages = messagesOf(client);
    expect(messages.length).toBeGreaterThanOrEqual(count);
    return messages[count - 1] ?? { type: 'none' };
  });
}

const subscribe = (client: SocketClient, topic: string, more = {}): void =>
  client.send(JSON.stringify({ subscribe: topic, ...more }));

/** The messages of a plain GET, as they come. */
async function lines(query: string): Promise<Message[]> {
  const end = new AbortController();
  ending.add(end);
  const response = await fetch(`${world.url}/watch${query}`, {
    headers: { authorization: `Bearer ${world.admin}` },
    signal: end.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/x-ndjson; charset=utf-8',
  ]);
  const messages: Message[] = [];
  if (response.body === null) throw new Error('no body');
  const reader = createInterface({ input: Readable.fromWeb(response.body) });
  reader.on('line', (line) => messages.push(messageSchema.parse(JSON.parse(line))));
  reader.on('error', () => undefined);
  reader.once('close', () => messages.push({ type: 'end' }));
  return messages;
}

describe('a subscription', () => {
  it('gets what is there, then what changes and what ends, in the form of the reads', async () => {
    await world.putInstance(instanceRecord('aaaaaa'));
    const client = await open();
    subscribe(client, 'instances');
    const snapshot = await message(client, 1);
    const one = await (await world.call('GET', '/instances/aaaaaa')).json();
    expect(snapshot).toMatchObject({
      type: 'snapshot',
      topic: 'instances',
      first: true,
      last: true,
      put: [one],
    });
    await world.putInstance(instanceRecord('bbbbbb', { placement: placedOn('alpha') }));
    await world.dropInstance('aaaaaa');
    const changes = await message(client, 2);
    expect(changes).toMatchObject({ type: 'changes', put: [{ id: 'bbbbbb' }], gone: ['aaaaaa'] });
    expect(changes.epoch).toBe(snapshot.epoch);
    expect(changes.revision).toBeGreaterThan(snapshot.revision ?? 0);
  });

  it('gets the health of each configuration, also of a broken file that was never in force, as it changes', async () => {
    await world.addConfiguration('lobby');
    const record = instanceRecord('aaaaaa', { placement: placedOn('alpha') });
    const as = (fields: Partial<StoredStatus>) => ({ ...record, status: withStatus(record.status, fields) });
    await world.putInstance(as({ state: 'ONLINE', pid: 42 }));
    world.fileErrors.push({ file: 'new.json', line: 1, column: 2, field: null, message: 'no comma' });
    const client = await open('?subscribe=health');
    expect((await message(client, 1)).put).toMatchObject([
      { name: 'lobby', online: 1, instances: 1, health: { state: 'healthy', text: 'Healthy', detail: null } },
      { name: 'new', online: 0, health: { state: 'broken-file', detail: 'new.json, line 1:2: no comma' } },
    ]);
    // A sign of life is no change of the health; a crash loop is.
    await world.putInstance(as({ state: 'ONLINE', pid: 42, players: 3 }));
    await world.putInstance(as({ state: 'OFFLINE', reason: 'exited', keepsFailing: true, exitCode: 2 }));
    expect(await message(client, 2)).toMatchObject({
      put: [{ name: 'lobby', online: 0, health: { state: 'failing', instance: 'aaaaaa' } }],
    });
    world.fileErrors.pop();
    world.tellFiles();
    expect(await message(client, 3)).toMatchObject({ put: [], gone: ['new'] });
    const list = await (await world.call('GET', '/cluster/configurations')).json();
    expect(list).toMatchObject([{ name: 'lobby', health: { state: 'failing', text: 'Failing' } }]);
  });

  it('gathers the changes of 100 ms in one frame, with the newest value of each entry', async () => {
    const client = await open('?subscribe=instances');
    await message(client, 1);
    for (let restarts = 1; restarts <= 20; restarts++) {
      const record = instanceRecord('aaaaaa');
      await world.putInstance({ ...record, status: { ...record.status, restarts, players: restarts } });
    }
    const changes = await message(client, 2);
    expect(changes.put).toEqual([expect.objectContaining({ id: 'aaaaaa', players: 20 })]);
    expect(client.texts).toHaveLength(2);
  });

  it('goes by configuration, node and state, and tells what leaves the filter', async () => {
    const at = (node: string) => ({ placement: placedOn(node) });
    await world.putInstance(instanceRecord('aaaaaa', { ...at('alpha'), configurationName: 'lobby-eu' }));
    await world.putInstance(instanceRecord('bbbbbb', { ...at('beta'), configurationName: 'lobby-us' }));
    await world.putInstance(instanceRecord('cccccc', { ...at('alpha'), configurationName: 'bed' }));
    const client = await open();
    subscribe(client, 'instances', { filter: { configuration: ['lobby*'], node: ['alpha'] } });
    expect((await message(client, 1)).put).toEqual([expect.objectContaining({ id: 'aaaaaa' })]);
    await world.putInstance(instanceRecord('aaaaaa', { ...at('beta'), configurationName: 'lobby-eu' }));
    await world.putInstance(instanceRecord('cccccc', { ...at('beta'), configurationName: 'bed' }));
    expect(await message(client, 2)).toMatchObject({ put: [], gone: ['aaaaaa'] });
  });

  it('resumes behind the last message, and begins anew with the reason when it cannot', async () => {
    await world.putInstance(instanceRecord('aaaaaa'));
    await world.putInstance(instanceRecord('bbbbbb'));
    const first = await open('?subscribe=instances');
    const { epoch, revision } = await message(first, 1);
    await first.close();
    await world.dropInstance('aaaaaa');
    const second = await open();
    subscribe(second, 'instances', { resume: { epoch, revision } });
    expect(await message(second, 1)).toMatchObject({ type: 'changes', put: [], gone: ['aaaaaa'] });
    const third = await open(`?subscribe=instances@${epoch}:${revision}`);
    expect(await message(third, 1)).toMatchObject({ type: 'changes', gone: ['aaaaaa'] });
    await third.close();
    const other = await open('?subscribe=instances@another:1');
    expect(await message(other, 1)).toMatchObject({
      type: 'snapshot',
      reason: 'the master has started anew since that revision',
      put: [{ id: 'bbbbbb' }],
    });
  });

  it('of nodes follows what is given out on them; of configurations, templates and usage their entries', async () => {
    await world.addNode('alpha');
    await world.addConfiguration('lobby');
    world.usageBook.take('alpha', [['aaaaaa', 1, 50, 1000, 2]], () => 'lobby');
    const client = await open();
    for (const topic of ['nodes', 'configurations', 'usage', 'templates']) subscribe(client, topic);
    await message(client, 4);
    const byTopic = new Map(messagesOf(client).map((each) => [each.topic, each]));
    const {
      instances: _instances,
      lastBeat: _lastBeat,
      usage: _usage,
      ...state
    } = z
      .looseObject({ instances: z.unknown(), lastBeat: z.unknown(), usage: z.unknown() })
      .parse(await (await world.call('GET', '/cluster/nodes/alpha')).json());
    expect(byTopic.get('nodes')?.put).toEqual([state]);
    expect(byTopic.get('configurations')?.put).toEqual([
      expect.objectContaining({ name: 'lobby', file: 'lobby.json', configuration: expect.anything() }),
    ]);
    expect(byTopic.get('usage')?.put).toEqual([
      {
        instance: 'aaaaaa',
        configuration: 'lobby',
        node: 'alpha',
        cpuSeconds: 1,
        cpuPercent: 50,
        memoryBytes: 1000,
        processes: 2,
      },
    ]);
    await world.putInstance(instanceRecord('aaaaaa', { placement: placedOn('alpha') }));
    expect(await message(client, 5)).toMatchObject({ topic: 'nodes', put: [{ nodeId: 'alpha' }] });
    world.usageBook.forget('alpha');
    expect(await message(client, 6)).toMatchObject({ topic: 'usage', gone: ['aaaaaa'] });
  });

  it('of a key that is restricted to configurations has only these', async () => {
    const token = await world.addKey('eu', 'READ', { configurations: ['lobby*'] });
    await world.putInstance(instanceRecord('aaaaaa', { configurationName: 'lobby-eu' }));
    await world.putInstance(instanceRecord('bbbbbb', { configurationName: 'bed' }));
    const client = await open('?subscribe=instances', token);
    expect((await message(client, 1)).put).toEqual([expect.objectContaining({ id: 'aaaaaa' })]);
    subscribe(client, 'instances', { filter: { configuration: ['bed', 'lobby*'] } });
    expect((await message(client, 2)).put).toEqual([expect.objectContaining({ id: 'aaaaaa' })]);
    subscribe(client, 'templates');
    expect((await message(client, 3)).error).toBe(
      'templates are not for a key that is restricted to configurations',
    );
  });

  it('ends with unsubscribe', async () => {
    const client = await open('?subscribe=instances,nodes');
    await message(client, 2);
    client.send('{"unsubscribe": "instances"}');
    client.send('nonsense');
    await message(client, 3);
    await world.putInstance(instanceRecord('aaaaaa'));
    await world.addNode('alpha');
    expect(await message(client, 4)).toMatchObject({ topic: 'nodes' });
  });

  it('that is wrong is answered with what is wrong, and the others go on', async () => {
    const client = await open();
    client.send('nonsense');
    subscribe(client, 'cats');
    subscribe(client, 'nodes', { filter: { configuration: ['lobby'] } });
    subscribe(client, 'nodes', { filter: { node: 'alpha' } });
    client.send('{"unsubscribe": 3}');
    await message(client, 5);
    expect(messagesOf(client).map(({ type, error }) => [type, error])).toEqual([
      ['error', expect.stringMatching(/^this is no JSON/)],
      [
        'error',
        'there is no topic cats: there are instances, configurations, health, nodes, templates, rollouts, events, exits, usage, log:ID',
      ],
      ['error', 'nodes cannot be filtered by configuration: it takes node, state'],
      ['error', expect.stringContaining('filter.node: must be a list')],
      ['error', expect.stringContaining('unsubscribe: must be a text')],
    ]);
    subscribe(client, 'nodes');
    expect(await message(client, 6)).toMatchObject({ type: 'snapshot', topic: 'nodes' });
  });
});

describe('a client', () => {
  it('that does not read costs no queue: it gets the newest value of each entry when it reads again', async () => {
    const ids = Array.from({ length: 400 }, (_, index) => `i${String(index).padStart(5, '0')}`);
    const pad = 'x'.repeat(2000);
    const write = async (message: string): Promise<void> => {
      for (const id of ids) {
        const record = instanceRecord(id);
        await world.putInstance({ ...record, status: { ...record.status, message: message + pad } });
      }
    };
    await write('0 ');
    const client = await open();
    const { connection } = client;
    connection.pause();
    subscribe(client, 'instances');
    for (let pass = 1; pass <= 12; pass++) {
      await write(`${pass} `);
      await world.clock.advance(ROUND_MS);
    }
    connection.resume();
    await until(async () => {
      await world.clock.advance(ROUND_MS);
      const latest = new Map<unknown, unknown>();
      for (const { put = [] } of messagesOf(client))
        for (const each of put) latest.set(each.id, each.message);
      expect([...latest.values()].filter((text) => text === `12 ${pad}`)).toHaveLength(ids.length);
    });
    const sent = messagesOf(client).reduce((sum, { put = [] }) => sum + put.length, 0);
    // Thirteen times all of them, had each change been kept.
    expect(sent).toBeLessThan(13 * ids.length);
  });

  it('that cannot be served is closed with 1011, and the next one is served', async () => {
    await world.addNode('alpha');
    const client = await open('?subscribe=nodes');
    await message(client, 1);
    await world.addNode('beta');
    const faulty = vi.spyOn(JSON, 'stringify').mockImplementationOnce(() => {
      throw new Error('a fault');
    });
    await world.clock.advance(ROUND_MS);
    expect((await client.closed).code).toBe(1011);
    faulty.mockRestore();
    expect(await message(await open('?subscribe=nodes'), 1)).toMatchObject({ type: 'snapshot' });
  });

  it('gets a beat when nothing changes', async () => {
    const client = await open('?subscribe=instances');
    await message(client, 1);
    await world.clock.advance(2 * BEAT_MS);
    expect((await message(client, 2)).type).toBe('beat');
  });

  it.each([0, 1000, 4999])(
    'hears a beat well within 20 s, whenever the last message came (%i ms)',
    async (at) => {
      const client = await open('?subscribe=nodes');
      await message(client, 1);
      await world.clock.advance(30_000 + at);
      await world.addNode('beta');
      await world.clock.advance(ROUND_MS);
      const quiet = messagesOf(client).length;
      await world.clock.advance(15_000);
      await until(() => expect(messagesOf(client).length).toBeGreaterThan(quiet));
    },
  );

  it('whose key ends is closed at once, a stream of lines too', async () => {
    const token = await world.addKey('gone', 'ALL');
    const client = await open('?subscribe=instances', token);
    const socket = connect(world.server.address?.port ?? 0, '127.0.0.1');
    socket.write(
      `GET /api/watch?subscribe=instances HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
    await once(socket, 'data');
    const ended = once(socket, 'close');
    socket.on('error', () => undefined);
    await world.removeKey('gone');
    await Promise.all([client.closed, ended]);
  });
});

describe('lines over a plain GET', () => {
  it('are the same messages, and count among the sockets of the key', async () => {
    await world.putInstance(instanceRecord('aaaaaa'));
    const messages = await lines('?subscribe=instances,nodes&configuration=lobby');
    await until(() => expect(messages).toHaveLength(2));
    expect(messages[0]).toMatchObject({ type: 'snapshot', topic: 'instances', put: [{ id: 'aaaaaa' }] });
    await world.putInstance(instanceRecord('bbbbbb'));
    await until(async () => {
      await world.clock.advance(ROUND_MS);
      expect(messages[2]).toMatchObject({ type: 'changes', put: [{ id: 'bbbbbb' }] });
    });
    for (let more = 1; more < 4; more++) await lines('?subscribe=nodes');
    const refused = await world.call('GET', '/watch?subscribe=nodes');
    expect([refused.status, await refused.json()]).toEqual([
      429,
      expect.objectContaining(refusal(expect.stringContaining('key boss holds 4 sockets'))),
    ]);
  });

  it('are one stream for each connection: requests behind the first one take no place', async () => {
    const [host = '', port = ''] = new URL(world.url).host.split(':');
    const connection = connect(Number(port), host);
    const request = `GET /api/watch?subscribe=nodes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${world.admin}\r\n\r\n`;
    connection.write(request.repeat(4));
    await once(connection, 'data');
    for (let more = 1; more < 4; more++) await lines('?subscribe=nodes');
    expect((await world.call('GET', '/watch?subscribe=nodes')).status).toBe(429);
    connection.destroy();
  });

  it('need a topic, and filters that one of them takes', async () => {
    const refusals = [
      '',
      '?subscribe=',
      '?subscribe=cats',
      '?subscribe=nodes&configuration=a',
      '?subscribe=nodes&node=',
      '?subscribe=log:aaaaaa',
    ];
    const answers = await Promise.all(refusals.map((query) => world.call('GET', `/watch${query}`)));
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400]);
    const errors = await Promise.all(answers.map((answer) => answer.json()));
    expect(errors[0]).toEqual({
      code: 'DRV_REQUEST_INVALID',
      error:
        'query field subscribe: name what to follow: instances, configurations, health, nodes, templates, rollouts, events, exits, usage',
    });
    expect(errors[3]).toEqual({
      code: 'DRV_REQUEST_INVALID',
      error: 'query field configuration: none of the topics of subscribe can be filtered by it',
    });
    expect(errors[5]).toEqual({
      code: 'DRV_REQUEST_INVALID',
      error:
        'query field subscribe: logs are followed by messages over the WebSocket: {"subscribe": "log:ID"}',
    });
  });

  it('end when the server stops', async () => {
    const messages = await lines('?subscribe=nodes');
    await until(() => expect(messages).toHaveLength(1));
    await world.server.stop();
    await until(() => expect(messages.at(-1)?.type).toBe('end'));
  });
});
