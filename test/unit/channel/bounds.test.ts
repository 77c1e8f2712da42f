/** The bounds of what one end of the channel takes from the other: who passes one is disconnected, and it is said. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { RecentLines } from '../../../src/api/live-log/live-log-recent.js';
import type { Hub } from '../../../src/channel/master/hub.js';
import { CallPeer, type Services } from '../../../src/channel/protocol/calls.js';
import { decodeFrame } from '../../../src/channel/protocol/frame-codec.js';
import { BOUNDS, type Message, messageSchema, type Report } from '../../../src/channel/protocol/messages.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { WebSocketTransport } from '../../../src/channel/protocol/websocket-transport.js';
import {
  decodeBatch,
  InstanceStreams,
  instanceServices,
} from '../../../src/channel/services/instance-streams.js';
import { NO_LOG } from '../../../src/channel/services/log-ranges.js';
import { logSearchServices } from '../../../src/channel/services/log-search.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { StatusOutbox } from '../../../src/node/status-outbox.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey } from '../../../src/store/keys.js';
import { HELLO, reportOf } from '../../support/channel/messages.js';
import { hubOver } from '../../support/channel/test-hub.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { instanceRecord, placedOn } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

const KB = 1024;
const MB = 1024 * KB;
const REPORT = reportOf('aaaaaa');
const OFFER = { key: 'process', available: true, version: '1', reason: null };

describe('a message', () => {
  const problemOf = (message: object): string | undefined => {
    const { error } = messageSchema.safeParse(message);
    return error?.issues[0] && `${error.issues[0].path.join('.')}: ${error.issues[0].message}`;
  };
  const statusWith = (fields: Partial<Report>): object => ({
    type: 'status',
    sequence: 1,
    reports: [{ ...REPORT, ...fields }],
  });
  const heldOf = (count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [index.toString(36).padStart(6, '0'), 'x']),
    );

  it.each<[string, object, RegExp]>([
    [
      'a report of 8 MiB',
      statusWith({ message: 'x'.repeat(8 * MB) }),
      /message: must be at most 65536 bytes/,
    ],
    ['a signal without an end', statusWith({ exitSignal: 'x'.repeat(65) }), /exitSignal: must be at most 64/],
    ['too many reports', { ...statusWith({}), reports: Array(501).fill(REPORT) }, /reports: Too big/],
    ['a long address', { ...HELLO, address: 'é'.repeat(513) }, /address: must be at most 1024 bytes/],
    ['a long version', { ...HELLO, version: 'x'.repeat(257) }, /version: must be at most 256/],
    ['too many runtimes', { ...HELLO, runtimes: Array(65).fill(OFFER) }, /runtimes: Too big/],
    [
      'a runtime with a long reason',
      { type: 'offer', runtimes: [{ ...OFFER, reason: 'x'.repeat(65_537) }] },
      /reason: must be at most/,
    ],
    ['too many held instances', { ...HELLO, held: heldOf(20_001) }, /held: must have at most 20000/],
    ['a long hash', { ...HELLO, held: { aaaaaa: 'x'.repeat(65) } }, /held.aaaaaa: must be at most 64/],
    [
      'too many samples',
      { type: 'usage', samples: Array(20_001).fill(['aaaaaa', 1, 1, 1, 1]) },
      /samples: Too big/,
    ],
    [
      'a long name of a service',
      { type: 'call', id: 1, service: 'x'.repeat(65), parameters: {} },
      /service: must be at most 64/,
    ],
    [
      'a failure that says much',
      { type: 'failure', id: 1, code: 'X', message: 'x'.repeat(65_537) },
      /message: must be at most/,
    ],
    ['credit that is taken away', { type: 'credit', id: 1, bytes: -1 }, /bytes: Too small/],
  ])('with %s is refused, and the field is named', (_what, message, problem) => {
    expect(problemOf(message)).toMatch(problem);
  });

  it('with a long sentence is taken, and the sentence cut', () => {
    const parsed = messageSchema.parse(statusWith({ message: '💥'.repeat(10_000) }));
    expect(parsed).toMatchObject({ reports: [{ message: '💥'.repeat(BOUNDS.sentenceBytes / 4) }] });
  });

  it.each<[string, string | Buffer, RegExp]>([
    [
      'a call with large parameters',
      JSON.stringify({ type: 'call', id: 1, service: 'x', parameters: 'x'.repeat(MB) }),
      /bytes are too many for call/,
    ],
    [
      'a call that begins like an answer',
      `{"type":"result","id":1,"value":0,"service":"x","parameters":"${'x'.repeat(MB)}","type":"call"}`,
      /bytes are too many for call/,
    ],
    ['reports beyond 8 MiB', `{"type":"status","x":"${'x'.repeat(9 * MB)}"}`, /too many for status/],
    ['much without a type', `{"x":"${'x'.repeat(MB)}"}`, /too many for a message without a type/],
    [
      'a type that every object has',
      `{"type":"constructor","x":"${'x'.repeat(MB)}"}`,
      /too many for constructor/,
    ],
  ])('%s is refused by its size', (_what, text, reason) => {
    expect(decodeFrame(Buffer.from(text), false)).toMatch(reason);
  });

  it('of a feed is not taken by a master', () => {
    const feed = Buffer.from(`{"type":"snapshot","x":"${'x'.repeat(MB)}"}`);
    expect(decodeFrame(feed, false, { mostFeedBytes: 0 })).toMatch(/bytes are too many for snapshot/);
  });

  it('is not parsed before its call is known', () => {
    const parse = vi.spyOn(JSON, 'parse');
    const of = (text: string) => decodeFrame(Buffer.from(text), false, { answers: (id) => id });
    const answer = `{"type":"result","id":100,"value":"${'x'.repeat(100)}"}`;
    expect(of(answer)).toMatch(/bytes are too many for result/);
    expect(of('{"type":"chunk","id":1,"value":"xx"}')).toMatch(/bytes are too many for chunk/);
    expect(decodeFrame(Buffer.from(answer), false, { answers: () => undefined })).toBe(
      'result of a call that was not made',
    );
    expect(decodeFrame(Buffer.from(answer), false, { answers: () => 'cancelled' })).toBeNull();
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('that is an answer may be large, and bytes beside a message may not', () => {
    const answer: Message = { type: 'result', id: 1, value: 'x'.repeat(4 * MB) };
    expect(decodeFrame(Buffer.from(JSON.stringify(answer)), false)).toEqual({ message: answer });
    const json = Buffer.from('{"type":"chunk","id":1}');
    const head = Buffer.alloc(4);
    head.writeUInt32BE(json.length);
    const frame = (bytes: number): Buffer => Buffer.concat([head, json, Buffer.alloc(bytes)]);
    expect(decodeFrame(frame(2 * MB), true)).toMatchObject({ message: { type: 'chunk' } });
    expect(decodeFrame(frame(2 * MB + 1), true)).toMatch(/bytes beside it are too many/);
  });
});

describe('a stream', () => {
  /** A peer, and the bare other end of its connection, which sends what it likes. */
  function against(services: Services = {}) {
    const [mine, its] = createInProcessPair();
    const calls = new CallPeer(mine, services);
    const closed: string[] = [];
    const heard: Message[] = [];
    mine.onFrame((frame) => calls.handle(frame));
    mine.onClose((reason) => {
      closed.push(reason);
      calls.close(reason);
    });
    its.onFrame(({ message }) => heard.push(message));
    return { calls, hostile: its, closed, heard };
  }

  it('ends the connection when its sender goes on past the window', async () => {
    const { calls, hostile, closed, heard } = against();
    const stream = calls.stream('logs', {});
    const first = stream.next();
    await until(() => expect(heard).toHaveLength(1));
    for (let sent = 0; sent < 100; sent++) hostile.send({ type: 'chunk', id: 1 }, Buffer.alloc(64 * KB));
    await first;
    await until(() => expect(closed).toEqual(['logs sent more than it was allowed to']));
    const rest = (async () => {
      let bytes = 64 * KB;
      for await (const chunk of stream) bytes += chunk.length;
      return bytes;
    })();
    await expect(rest).rejects.toThrow('sent more than it was allowed to');
  });

  it('ends the connection when its sender fills the queue with empty pieces', async () => {
    const { calls, hostile, closed, heard } = against();
    const stream = calls.stream('logs', {});
    const first = stream.next();
    await until(() => expect(heard).toHaveLength(1));
    for (let sent = 0; sent < 40_000; sent++) hostile.send({ type: 'chunk', id: 1 }, Buffer.alloc(0));
    await first;
    await until(() => expect(closed).toEqual(['logs sent more than it was allowed to']));
    await stream.return(undefined);
  });

  it('ends the connection when its reader says to have read what was never sent', async () => {
    const { hostile, closed } = against({
      much: async function* () {
        for (;;) yield Buffer.alloc(64 * KB);
      },
    });
    hostile.send({ type: 'call', id: 1, service: 'much', parameters: {} });
    hostile.send({ type: 'credit', id: 1, bytes: 1_000_000_000 });
    await until(() => expect(closed).toEqual(['it says to have read more than it was sent']));
  });

  it.each<[string, Message]>([
    ['value', { type: 'result', id: 7, value: [] }],
    ['failure', { type: 'failure', id: 7, code: 'DRV_INTERNAL', message: '' }],
    ['end', { type: 'end', id: 7 }],
  ])('or a call that was not made ends the connection with its %s', async (_what, answer) => {
    const { hostile, closed } = against();
    hostile.send(answer);
    await until(() => expect(closed).toEqual([`${answer.type} of a call that was not made`]));
  });

  it('or call that was cancelled may still be answered, and nothing of that is read', async () => {
    const { calls, hostile, closed, heard } = against();
    const controller = new AbortController();
    const cancelled = calls.call('first', {}, { signal: controller.signal });
    controller.abort();
    await expect(cancelled).rejects.toThrow('first was cancelled');
    hostile.send({ type: 'result', id: 1, value: 'x'.repeat(MB) });
    const second = calls.call('second', {});
    await until(() => expect(heard.at(-1)).toMatchObject({ type: 'call', service: 'second' }));
    hostile.send({ type: 'result', id: 2, value: 'here' });
    expect(await second).toBe('here');
    expect(closed).toEqual([]);
  });

  it('is no way for a long answer to a question that has a short one', async () => {
    const { calls, hostile, closed, heard } = against();
    const short = calls.call('short', {});
    const long = calls.call('long', {}, { mostBytes: 2 * MB });
    await until(() => expect(heard).toHaveLength(2));
    hostile.send({ type: 'result', id: 2, value: 'x'.repeat(MB) });
    expect(await long).toHaveLength(MB);
    hostile.send({ type: 'result', id: 1, value: 'x'.repeat(MB) });
    await expect(short).rejects.toThrow(/bytes are too many for result/);
    expect(closed).toHaveLength(1);
  });

  it('of a log is refused with a batch of countless lines', () => {
    const head = JSON.stringify({ kind: 'lines', firstLine: 1 });
    expect(() => decodeBatch(Buffer.from(`${head}\n${'\n'.repeat(10_000)}`))).toThrow(
      'more than 10000 lines',
    );
    expect(() => decodeBatch(Buffer.from('{"kind":"lines","firstLine":0}\n'))).toThrow();
  });

  it('of empty lines takes no more memory than any other', () => {
    const recent = new RecentLines(1, () => undefined);
    for (let batch = 0; batch < 200; batch++)
      recent.take({ kind: 'lines', firstLine: recent.next, lines: Array(1000).fill('') });
    expect(recent.next).toBe(200_001);
    expect(recent.next - recent.first).toBeLessThan(50_000);
  });
});

describe('the last lines of a log', () => {
  it('fit into one message: of very long ones the oldest are left out', async () => {
    const [mine, its] = createInProcessPair();
    const lines = Array.from({ length: 300 }, (_, index) => `${index} ${'\x1b'.repeat(30_000)}`);
    const node = new CallPeer(
      its,
      instanceServices({
        readLogs: async () => ({ lines, totalLines: 300 }),
        searchLog: async () => ({ lines: [], next: null }),
        readLogRange: async () => NO_LOG,
        readLogTimes: async () => [],
        followLogs: async function* () {},
        writeStdin: async () => undefined,
        sendSignal: async () => undefined,
      }),
    );
    let bytes = 0;
    its.onFrame((frame) => node.handle(frame));
    const calls = new CallPeer(mine, {});
    mine.onFrame((frame) => {
      bytes = Math.max(bytes, JSON.stringify(frame.message).length);
      calls.handle(frame);
    });
    const record = instanceRecord('aaaaaa', { placement: placedOn('alpha') });
    const answer = await new InstanceStreams(() => calls).readLogs(record, 1000);
    expect(bytes).toBeLessThan(5 * MB);
    expect(answer.totalLines).toBe(300);
    expect(answer.lines.length).toBeGreaterThan(20);
    expect(answer.lines).toEqual(lines.slice(-answer.lines.length));
  });

  it('are asked of a node once at a time, whoever asks, and of other nodes at once', async () => {
    const ends: (() => void)[] = [];
    const callsOf = (): CallPeer => {
      const [mine, its] = createInProcessPair();
      const call = async () => {
        await new Promise<void>((resolve) => ends.push(resolve));
        return { lines: [], totalLines: 0 };
      };
      const node = new CallPeer(its, { 'read-logs': call });
      its.onFrame((frame) => node.handle(frame));
      const calls = new CallPeer(mine, {});
      mine.onFrame((frame) => calls.handle(frame));
      return calls;
    };
    const streams = new InstanceStreams(callsOf);
    const on = (nodeId: string) => instanceRecord('aaaaaa', { placement: placedOn(nodeId) });
    const reads = ['alpha', 'alpha', 'beta'].map((nodeId) => streams.readLogs(on(nodeId), 1000));
    await until(() => expect(ends).toHaveLength(2));
    for (const end of ends.splice(0)) end();
    await until(() => expect(ends).toHaveLength(1));
    for (const end of ends) end();
    await Promise.all(reads);
  });
});

describe('searches of logs', () => {
  it('are 16 at once on a node, and more again when one has ended', async () => {
    const ends: (() => void)[] = [];
    const services = logSearchServices(async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return { lines: [], next: null };
    });
    const search = async (): Promise<unknown> =>
      services['search-log']?.(
        { id: 'aaaaaa', pattern: 'x', ignoreCase: false, limit: 1 },
        { body: undefined, signal: new AbortController().signal },
      );
    const [first, ...others] = Array.from({ length: 16 }, search);
    await expect(search()).rejects.toMatchObject({ code: 'DRV_LOG_SEARCH_LIMIT', status: 429 });
    ends[0]?.();
    await first;
    const last = search();
    for (const end of ends) end();
    await expect(Promise.all([...others, last])).resolves.toHaveLength(16);
  });
});

describe('a peer that only pings', () => {
  it('and reads nothing is given up', async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const connected = once(sockets, 'connection');
    const peer = new WebSocket(`ws://127.0.0.1:${port}`);
    const [webSocket] = await connected;
    // As if nothing of what was sent had left the process.
    Object.defineProperty(webSocket, 'bufferedAmount', { get: () => 33 * MB });
    const transport = new WebSocketTransport({
      webSocket,
      socket: new Socket(),
      silenceMs: 60_000,
      peer: 'node alpha',
      clock: new SystemClock(),
    });
    const closed = new Promise((resolve) => transport.onClose(resolve));
    peer.on('error', () => undefined);
    if (peer.readyState !== WebSocket.OPEN) await once(peer, 'open');
    peer.ping();
    expect(await closed).toBe('node alpha does not read');
    peer.terminate();
    sockets.close();
    server.close();
    await once(server, 'close');
  });
});

describe('the master', () => {
  let clock: FakeClock;
  let store: FlakyStore;
  let state: MasterState;
  let hub: Hub;

  beforeEach(async () => {
    clock = new FakeClock();
    store = new FlakyStore(clock);
    state = new MasterState(store, pino({ level: 'silent' }));
    await state.start();
    await store.transact([
      {
        do: 'put',
        key: instanceKey('aaaaaa'),
        value: instanceRecord('aaaaaa', { placement: placedOn('alpha') }),
      },
    ]);
    await state.instances.until(await store.barrier());
    hub = hubOver(state, clock, {
      services: { hang: () => new Promise<never>(() => undefined) },
    });
    hub.start();
  });

  afterEach(async () => {
    store.latencyMs = 0;
    await clock.advance(100_000);
    await hub.stop();
    await state.stop();
    await store.close();
  });

  async function join(): Promise<{ transport: Transport; closed: string[]; heard: Message[] }> {
    const [transport, its] = createInProcessPair();
    const closed: string[] = [];
    const heard: Message[] = [];
    transport.onClose((reason) => closed.push(reason));
    transport.onFrame(({ message }) => heard.push(message));
    hub.accept(its);
    transport.send(HELLO);
    await clock.settle();
    return { transport, closed, heard };
  }

  const flood = (transport: Transport, count: number, from = 1): void => {
    for (let sequence = from; sequence < from + count; sequence++)
      transport.send({
        type: 'status',
        sequence,
        reports: Array.from({ length: BOUNDS.reports }, (_, pid) => ({
          ...REPORT,
          pid,
          message: 'x'.repeat(2000),
        })),
      });
  };

  it('keeps no more unrecorded reports of a node than 32 MiB while its disk hangs, over connections too', async () => {
    const first = await join();
    store.latencyMs = 60_000;
    flood(first.transport, 28);
    await clock.settle();
    expect(first.closed).toEqual([]);
    const more = { type: 'status', reports: [{ ...REPORT, message: 'y'.repeat(2000) }] } as const;
    for (let sequence = 29; sequence < 30_000 && first.transport.isOpen; sequence++) {
      first.transport.send({ ...more, sequence, reports: Array(BOUNDS.reports).fill(more.reports[0]) });
      await clock.settle();
    }
    expect(first.closed).toEqual(['it reports more than can be recorded now']);
    const second = await join();
    flood(second.transport, 1);
    await clock.settle();
    expect(second.closed).toEqual(['it reports more than can be recorded now']);
    store.latencyMs = 0;
    await clock.advance(100_000);
    const third = await join();
    flood(third.transport, 1);
    await clock.settle();
    expect(third.closed).toEqual([]);
    expect(third.heard).toContainEqual({ type: 'status-acknowledged', sequence: 1 });
  });

  it('keeps no more of them while its disk refuses every write at once', async () => {
    const { transport, closed } = await join();
    store.isFull = true;
    for (let sequence = 1; sequence <= 40; sequence++) {
      flood(transport, 1, sequence);
      await clock.settle();
    }
    expect(closed).toEqual(['it reports more than can be recorded now']);
    store.isFull = false;
  });

  it('writes the newest of a thousand offers, not each', async () => {
    const { transport } = await join();
    const transact = vi.spyOn(store, 'transact');
    for (let count = 1; count <= 1000; count++)
      transport.send({ type: 'offer', runtimes: [{ ...OFFER, version: String(count) }] });
    await clock.settle();
    await clock.advance(100);
    expect(state.nodes.get('alpha')?.value.runtimes[0]?.version).toBe('1000');
    expect(transact.mock.calls.length).toBeLessThan(10);
  });

  it('answers 64 calls of a node at once, and refuses the next', async () => {
    const { transport, heard } = await join();
    for (let id = 1; id <= 65; id++) transport.send({ type: 'call', id, service: 'hang', parameters: {} });
    await clock.settle();
    expect(heard.filter(({ type }) => type === 'failure')).toEqual([
      {
        type: 'failure',
        id: 65,
        code: 'DRV_CHANNEL_CALL_FAILED',
        message: 'more than 64 calls at once',
      },
    ]);
  });
});

describe('the outbox of a node', () => {
  it('waits with further reports until the master has some of them, and sends the newest then', () => {
    const outbox = new StatusOutbox();
    const send = (sequence: number, pid: number): (number | null)[] => {
      outbox.set({ ...REPORT, pid });
      return outbox.take(sequence).map((report) => report.pid);
    };
    for (let sequence = 1; sequence <= 32; sequence++) expect(send(sequence, sequence)).toEqual([sequence]);
    expect(send(33, 33)).toEqual([]);
    expect(send(33, 34)).toEqual([]);
    expect(outbox.isEmpty).toBe(false);
    outbox.acknowledge(1);
    expect(outbox.take(33).map(({ pid }) => pid)).toEqual([34]);
  });

  it('cuts what a runtime says', () => {
    const outbox = new StatusOutbox();
    outbox.set({ ...REPORT, message: 'ü'.repeat(5000), exitSignal: 'x'.repeat(100) });
    expect(outbox.get('aaaaaa')).toMatchObject({
      message: 'ü'.repeat(BOUNDS.sentenceBytes / 2),
      exitSignal: 'x'.repeat(BOUNDS.signalBytes),
    });
  });
});
