/**
 * The master's end of the channel: which nodes it accepts, what it records, and when a new connection replaces an
 * old one.
 */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BeatBook } from '../../../src/channel/master/beat-book.js';
import type { Hub } from '../../../src/channel/master/hub.js';
import {
  type Message,
  type MessageOf,
  PROTOCOL_VERSION,
  type Report,
} from '../../../src/channel/protocol/messages.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import type { Peer } from '../../../src/channel/trust/members.js';
import type { NodeRecord } from '../../../src/model/node.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey, nodeKey, revisionKey } from '../../../src/store/keys.js';
import { HELLO, reportOf } from '../../support/channel/messages.js';
import { hubOver, MASTER } from '../../support/channel/test-hub.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import {
  configurationOf,
  instanceRecord,
  nodeRecord,
  placedOn,
} from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';

const silent = pino({ level: 'silent' });
const ONLINE = reportOf('aaaaaa');

interface Client {
  readonly transport: Transport;
  readonly heard: Message[];
  readonly closed: string[];
}

describe('the hub', () => {
  let clock: FakeClock;
  let store: FlakyStore;
  let state: MasterState;
  let beats: BeatBook;
  let hub: Hub;
  /** Warnings in the log. */
  let said: string[];

  beforeEach(async () => {
    said = [];
    clock = new FakeClock();
    store = new FlakyStore(clock);
    state = new MasterState(store, silent);
    await state.start();
    beats = new BeatBook(clock);
    beats.start();
    hub = hubOver(state, clock, {
      beats,
      services: { ping: async () => 'pong' },
      logger: pino({ level: 'warn' }, { write: (line) => said.push(JSON.parse(line).msg) }),
    });
    hub.start();
  });

  afterEach(async () => {
    store.latencyMs = 0;
    store.isFull = false;
    await hub.stop();
    beats.stop();
    await state.stop();
    await store.close();
  });

  function dial(peer?: Peer): Client {
    const [mine, its] = createInProcessPair();
    const client: Client = { transport: mine, heard: [], closed: [] };
    mine.onFrame(({ message }) => client.heard.push(message));
    mine.onClose((reason) => client.closed.push(reason));
    hub.accept(its, peer);
    return client;
  }

  async function join(fields: Partial<MessageOf<'hello'>> = {}): Promise<Client> {
    const client = dial();
    client.transport.send({ ...HELLO, ...fields });
    await clock.settle();
    return client;
  }

  async function put(values: Record<string, unknown>): Promise<void> {
    const written = store.transact(
      Object.entries(values).map(([key, value]) => ({ do: 'put', key, value }) as const),
    );
    await clock.advance(store.latencyMs);
    await written;
    await clock.settle();
  }

  const types = ({ heard }: Client): string[] => heard.map(({ type }) => type);
  const node = (nodeId = 'alpha'): NodeRecord | undefined => state.nodes.get(nodeId)?.value;
  const setCondition = (condition: NodeRecord['condition']): Promise<void> =>
    put({ [nodeKey('alpha')]: nodeRecord('alpha', { condition }) });

  it('welcomes a node, records it, and feeds it', async () => {
    const client = await join();
    expect(client.heard).toEqual([
      { type: 'welcome', protocol: PROTOCOL_VERSION, master: MASTER },
      { type: 'snapshot', sequence: 1, assignments: [], revisions: {}, store: state.instances.revision },
    ]);
    expect(node()).toMatchObject({
      address: '10.0.0.2',
      condition: 'connected',
      cordoned: false,
      master: false,
    });
    expect(beats.contact('alpha').isConnected).toBe(true);
  });

  it('keeps condition and cordon of a node that it knows', async () => {
    await put({ [nodeKey('alpha')]: nodeRecord('alpha', { condition: 'returning', cordoned: true }) });
    await join();
    expect(node()).toMatchObject({ version: '1.2.3', condition: 'returning', cordoned: true });
  });

  it.each<[string, Partial<MessageOf<'hello'>>, RegExp, { isFinal?: boolean }]>([
    [
      'speaks another protocol',
      { protocol: 99 },
      /protocol 1, the node alpha speaks 99: run the same Drover/,
      {},
    ],
    [
      'asks for another cluster',
      { clusterName: 'other' },
      /cluster is test, .* asks for other: check clusterName/,
      { isFinal: true },
    ],
  ])('refuses a node that %s, and says what to do', async (_what, fields, reason, finality) => {
    const client = await join(fields);
    expect(client.heard).toEqual([{ type: 'refused', reason: expect.stringMatching(reason), ...finality }]);
    expect(client.closed).toHaveLength(1);
    expect(node()).toBeUndefined();
  });

  it('logs a refusal once for a node and a cause, whatever the node writes into it', async () => {
    for (let protocol = 90; protocol < 99; protocol++) await join({ protocol });
    for (const clusterName of ['one', 'two', 'three']) await join({ clusterName });
    expect(said).toEqual([
      expect.stringMatching(/^refused a connection: .* speaks 90/),
      expect.stringMatching(/^refused a connection: .* asks for one/),
    ]);
  });

  it('refuses a second node of the same id while the first is there, and takes it when that is gone', async () => {
    const first = await join();
    const second = await join();
    expect(second.heard).toEqual([
      { type: 'refused', reason: expect.stringContaining('give each node its own nodeId') },
    ]);
    expect(first.closed).toEqual([]);
    first.transport.close('bye');
    await clock.settle();
    expect(types(await join())).toEqual(['welcome', 'snapshot']);
  });

  it('refuses whoever does not say hello first', async () => {
    const client = dial();
    client.transport.send({ type: 'beat' });
    await clock.settle();
    expect(client.heard).toEqual([{ type: 'refused', reason: 'the first message must be hello' }]);
    expect(client.closed).toEqual(['the first message must be hello']);
  });

  it('closes on a message that only a master may send', async () => {
    const client = await join();
    client.transport.send({ type: 'refused', reason: 'no, you' });
    await clock.settle();
    expect(client.closed).toEqual(['unexpected message refused']);
  });

  it('tells a joining node of all that it holds, even when its reports come before it is recorded', async () => {
    store.latencyMs = 5;
    await put({
      [revisionKey('f00')]: configurationOf('lobby'),
      [instanceKey('aaaaaa')]: instanceRecord('aaaaaa', { placement: placedOn('alpha') }),
      [instanceKey('bbbbbb')]: instanceRecord('bbbbbb', { placement: placedOn('alpha') }),
    });
    const client = await join();
    client.transport.send({ type: 'status', sequence: 1, reports: [ONLINE] });
    await clock.advance(100);
    const fed = client.heard.flatMap((message) =>
      message.type === 'snapshot' ? [message.assignments.map(({ id }) => id)] : [],
    );
    expect(fed).toEqual([['aaaaaa', 'bbbbbb']]);
    expect(types(client)).toContain('status-acknowledged');
  });

  it('feeds the node that held an instance and the one that will, also when its record could not be read between', async () => {
    const record = instanceRecord('aaaaaa', { placement: placedOn('alpha') });
    await put({ [revisionKey('f00')]: configurationOf('lobby'), [instanceKey('aaaaaa')]: record });
    const alpha = await join();
    const beta = await join({ nodeId: 'beta' });
    const deltas = ({ heard }: Client): unknown[] =>
      heard.flatMap((message) =>
        message.type === 'delta' ? [{ put: message.put.map(({ id }) => id), drop: message.drop }] : [],
      );
    const change = async (value: unknown): Promise<void> => {
      await put({ [instanceKey('aaaaaa')]: value });
      // The feeds may rest for a moment.
      await clock.advance(10);
    };
    await change({ ...record, placement: placedOn('beta') });
    expect([deltas(alpha), deltas(beta)]).toEqual([
      [{ put: [], drop: ['aaaaaa'] }],
      [{ put: ['aaaaaa'], drop: [] }],
    ]);
    await change({ ...record, placement: placedOn('beta'), cpu: 'much' });
    await change(record);
    expect([deltas(alpha).at(-1), deltas(beta).at(-1)]).toEqual([
      { put: ['aaaaaa'], drop: [] },
      { put: [], drop: ['aaaaaa'] },
    ]);
  });

  it('acknowledges reports once they are recorded, trying again while the disk is full, and says so once', async () => {
    await put({ [instanceKey('aaaaaa')]: instanceRecord('aaaaaa', { placement: placedOn('alpha') }) });
    const client = await join();
    store.isFull = true;
    client.transport.send({ type: 'status', sequence: 1, reports: [ONLINE] });
    await clock.advance(2500);
    expect(types(client)).not.toContain('status-acknowledged');
    expect(said).toEqual(['reports could not be recorded; trying again']);
    store.isFull = false;
    await clock.advance(1000);
    expect(client.heard).toContainEqual({ type: 'status-acknowledged', sequence: 1 });
    expect(state.instances.get('aaaaaa')?.value.status).toMatchObject({ state: 'ONLINE', pid: 42 });
  });

  it('acknowledges reports together with what it sends next while the feeds rest', async () => {
    const clients: Client[] = [];
    for (let index = 0; index < 40; index++) clients.push(dial());
    for (const [index, { transport }] of clients.entries())
      transport.send({ ...HELLO, nodeId: `node-${index}` });
    await clock.settle();
    const acknowledged = ({ heard }: Client): number[] =>
      heard.flatMap((message) => (message.type === 'status-acknowledged' ? [message.sequence] : []));
    const [client = dial()] = clients;
    for (const sequence of [1, 2]) client.transport.send({ type: 'status', sequence, reports: [ONLINE] });
    await clock.settle();
    expect(acknowledged(client)).toEqual([]);
    await clock.advance(250);
    expect(acknowledged(client)).toEqual([1, 2]);
  });

  it('takes no old report for the newest: one that comes again is passed over, a gap ends the connection', async () => {
    await put({ [instanceKey('aaaaaa')]: instanceRecord('aaaaaa', { placement: placedOn('alpha') }) });
    const client = await join();
    const exited: Report = { ...ONLINE, state: 'OFFLINE', reason: 'exited', pid: null };
    client.transport.send({ type: 'status', sequence: 1, reports: [ONLINE] });
    client.transport.send({ type: 'status', sequence: 2, reports: [exited] });
    client.transport.send({ type: 'status', sequence: 1, reports: [ONLINE] });
    await clock.settle();
    expect(state.instances.get('aaaaaa')?.value.status).toMatchObject({ state: 'OFFLINE', pid: null });
    client.transport.send({ type: 'status', sequence: 4, reports: [ONLINE] });
    await clock.settle();
    expect(client.closed).toEqual(['a gap in the reports']);
    expect(state.instances.get('aaaaaa')?.value.status).toMatchObject({ state: 'OFFLINE', pid: null });
  });

  it('refuses a node that has seen a newer state of its store, and takes one that has not', async () => {
    await put({ [revisionKey('f00')]: configurationOf('lobby') });
    const { revision } = state.instances;
    const client = await join({ seen: revision + 1 });
    expect(client.heard).toEqual([
      {
        type: 'refused',
        reason:
          `node alpha has seen revision ${revision + 1} of this master's store, which is older now, such as a restored ` +
          'backup: it keeps what it has. To take the older state, restart Drover there with --accept-older',
        isBehind: true,
      },
    ]);
    expect(beats.contact('alpha').isConnected).toBe(false);
    expect(node()).toBeUndefined();
    expect(types(await join({ seen: revision }))).toEqual(['welcome', 'snapshot']);
  });

  it('lets a node in that was away for a moment, before its old connection counts as lost', async () => {
    await join();
    await clock.advance(2900);
    expect(types(await join())).toEqual(['refused']);
    await clock.advance(200);
    expect(types(await join())).toContain('welcome');
    expect(beats.contact('alpha')).toMatchObject({ isConnected: true, silentMs: 0 });
  });

  it('never counts a node as connected whose connection ended while it was being recorded', async () => {
    store.latencyMs = 50;
    const client = await join();
    client.transport.close('crashed');
    await clock.advance(500);
    expect(node()).toBeDefined();
    expect(beats.contact('alpha').isConnected).toBe(false);
  });

  it('ends a connection of a forgotten node that has not said hello yet', async () => {
    const waiting = dial({ nodeId: 'alpha' });
    const other = dial({ nodeId: 'beta' });
    hub.disconnect('alpha', 'the node was forgotten');
    await clock.settle();
    expect(waiting.closed).toEqual(['the node was forgotten']);
    expect(other.closed).toEqual([]);
  });

  it('makes no new record of a node that is forgotten while its hello is being recorded', async () => {
    await put({ [nodeKey('alpha')]: nodeRecord('alpha') });
    store.latencyMs = 50;
    const cordoned = store.transact([
      { do: 'put', key: nodeKey('alpha'), value: nodeRecord('alpha', { cordoned: true }) },
    ]);
    await join();
    hub.disconnect('alpha', 'the node was forgotten');
    const removed = store.transact([{ do: 'remove', key: nodeKey('alpha') }]);
    await clock.advance(500);
    await Promise.all([cordoned, removed]);
    expect(node()).toBeUndefined();
  });

  it('closes the connection when the node cannot be recorded, so that it tries again', async () => {
    store.isFull = true;
    const client = await join();
    expect(client.closed).toEqual(['the master could not record the node']);
    // It may ask other masters first: for so long it is not silent.
    await clock.advance(10_000);
    expect(beats.contact('alpha')).toEqual({ isConnected: false, silentMs: 0, goneForMs: null });
    store.isFull = false;
    expect(types(await join())).toEqual(['welcome', 'snapshot']);
  });

  it('begins anew with a node that was lost and is heard again on the same connection', async () => {
    const client = await join();
    await setCondition('connected');
    client.transport.send({ type: 'beat' });
    await clock.settle();
    expect(client.closed).toEqual([]);
    await setCondition('lost');
    client.transport.send({ type: 'beat' });
    await clock.settle();
    expect(client.closed).toEqual(['the node was silent for too long: it starts over']);
  });

  it('takes a lost node that connects again although its old connection never ended', async () => {
    const halfOpen = await join();
    await setCondition('connected');
    await setCondition('lost');
    const client = await join();
    expect(types(client)).toEqual(['welcome', 'snapshot']);
    expect(halfOpen.closed).toEqual(['the node connected again']);
    expect(beats.contact('alpha').isConnected).toBe(true);
    client.transport.send({ type: 'beat' });
    await clock.settle();
    expect(client.closed).toEqual([]);
  });

  it('records changed runtimes and remembers a goodbye', async () => {
    const client = await join();
    const runtimes = [{ key: 'tmux', available: false, version: null, reason: 'not installed' }];
    client.transport.send({ type: 'offer', runtimes });
    client.transport.send({ type: 'bye' });
    client.transport.close('stops');
    await clock.settle();
    expect(node()?.runtimes).toEqual(runtimes);
    expect(beats.contact('alpha')).toMatchObject({ isConnected: false, goneForMs: 0 });
  });

  it('answers calls of a node, and calls it while it is connected', async () => {
    const client = await join();
    client.transport.send({ type: 'call', id: 1, service: 'ping', parameters: null });
    await clock.settle();
    expect(client.heard.at(-1)).toEqual({ type: 'result', id: 1, value: 'pong' });
    const answer = hub.callsOf('alpha').call('read-logs', {});
    client.transport.close('gone');
    await expect(answer).rejects.toMatchObject({ code: 'DRV_CHANNEL_CLOSED' });
    expect(() => hub.callsOf('alpha')).toThrow('node alpha is not connected');
  });

  it('ends every connection when it stops, after what was said is recorded', async () => {
    await put({ [instanceKey('aaaaaa')]: instanceRecord('aaaaaa', { placement: placedOn('alpha') }) });
    const client = await join();
    store.latencyMs = 20;
    client.transport.send({ type: 'status', sequence: 1, reports: [ONLINE] });
    await clock.settle();
    const stopped = hub.stop();
    await clock.advance(100);
    await stopped;
    expect(client.closed).toEqual(['the master stops']);
    expect(state.instances.get('aaaaaa')?.value.status.state).toBe('ONLINE');
  });
});
