/**
 * The wrapper's end of the channel: it beats, takes the feed, sends everything anew after a break, and connects
 * again.
 */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashAssignment } from '../../../src/channel/protocol/assignment-hash.js';
import type { Assignment, Message } from '../../../src/channel/protocol/messages.js';
import { PROTOCOL_VERSION } from '../../../src/channel/protocol/messages.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { Link, type Seen } from '../../../src/channel/wrapper/link.js';
import { DroverError } from '../../../src/model/errors.js';
import { StatusOutbox } from '../../../src/node/status-outbox.js';
import { HELLO, reportOf } from '../../support/channel/messages.js';
import { MASTER } from '../../support/channel/test-hub.js';
import { desired } from '../../support/control-plane/wrapper-facts.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

describe('the link of a wrapper', () => {
  let clock: FakeClock;
  let outbox: StatusOutbox;
  let link: Link;
  /** The master's end of each connection, and what came in on it. */
  let connections: { end: Transport; heard: Message[]; closed: string[] }[];
  let isReachable: boolean;
  let refuseWith: Error | undefined;
  /** Lines of the log. */
  let said: string[];
  let applied: string[];
  let welcomed: string[];
  let held: Assignment[];
  /** Refusals that time does not heal, and whether the node ends at one. */
  let refusals: string[];
  let isIdle: boolean;
  let seen: Seen | undefined;
  /** Times that the others were to be asked next. */
  let fruitless: number;

  beforeEach(() => {
    refusals = [];
    isIdle = false;
    clock = new FakeClock();
    outbox = new StatusOutbox();
    connections = [];
    isReachable = true;
    refuseWith = undefined;
    said = [];
    applied = [];
    welcomed = [];
    held = [];
    seen = undefined;
    fruitless = 0;
    link = new Link({
      nodeId: 'alpha',
      clusterName: 'test',
      address: '10.0.0.2',
      version: '1.2.3',
      capacity: { maxRamMB: 100, maxCpu: 200 },
      offers: () => [{ key: 'process', available: true, version: null, reason: null }],
      connect,
      feed: {
        applySnapshot: ({ sequence }) => applied.push(`snapshot ${sequence}`),
        applyDelta: ({ sequence }) => applied.push(`delta ${sequence}`),
        held: () => held,
        seen: () => seen,
      },
      reports: outbox,
      services: { ping: async () => 'pong' },
      onWelcome: ({ nodeId }) => welcomed.push(nodeId),
      masters: {
        welcomed: () => undefined,
        pointed: () => undefined,
        fruitless: () => {
          fruitless++;
        },
      },
      onRefused: (reason) => {
        refusals.push(reason);
        return isIdle;
      },
      clock,
      random: () => 0.5,
      logger: pino({ level: 'warn' }, { write: (line) => said.push(JSON.parse(line).msg) }),
    });
  });

  afterEach(() => {
    link.stop(false);
  });

  async function connect(): Promise<Transport> {
    if (refuseWith !== undefined) throw refuseWith;
    if (!isReachable) throw new Error('connection refused');
    const [mine, its] = createInProcessPair();
    const connection = { end: its, heard: [] as Message[], closed: [] as string[] };
    its.onFrame(({ message }) => connection.heard.push(message));
    its.onClose((reason) => connection.closed.push(reason));
    connections.push(connection);
    return mine;
  }

  function last(): { end: Transport; heard: Message[]; closed: string[] } {
    return connections.at(-1) ?? expect.fail('there is no connection');
  }

  const welcome = async (): Promise<void> => {
    last().end.send({ type: 'welcome', protocol: PROTOCOL_VERSION, master: MASTER });
    await clock.settle();
  };

  const join = async (): Promise<void> => {
    link.start();
    await clock.settle();
    await welcome();
  };

  const heard = (type: Message['type']): number =>
    last().heard.filter((message) => message.type === type).length;
  const snapshot = (sequence: number): Message => ({
    type: 'snapshot',
    sequence,
    assignments: [],
    revisions: {},
    store: sequence,
  });
  const delta = (sequence: number): Message => ({
    type: 'delta',
    sequence,
    put: [],
    drop: [],
    revisions: {},
    store: sequence,
  });

  it('says which state of the master it has seen', async () => {
    link.start();
    await clock.settle();
    expect(last().heard).toMatchObject([{ type: 'hello' }]);
    expect(last().heard[0]).not.toHaveProperty('seen');
    seen = { revision: 12, line: 0 };
    last().end.close('again');
    await clock.advance(1000);
    expect(last().heard).toMatchObject([{ type: 'hello', seen: 12 }]);
    expect(last().heard[0]).not.toHaveProperty('line');
    seen = { revision: 13, line: 5 };
    last().end.close('again');
    await clock.advance(1000);
    expect(last().heard).toMatchObject([{ type: 'hello', seen: 13, line: 5 }]);
  });

  it('says hello with all that the node is', async () => {
    await join();
    expect(last().heard[0]).toEqual({
      ...HELLO,
      runtimes: [{ key: 'process', available: true, version: null, reason: null }],
      knows: [
        'fileEdits',
        'secretFiles',
        'prepare',
        'after',
        'limits',
        'liveness',
        'ports',
        'sharePort',
        'job',
      ],
    });
    expect(welcomed).toEqual(['master']);
  });

  it('beats as soon as it is welcome and every two seconds from then on, and not before', async () => {
    link.start();
    await clock.advance(10_000);
    expect(heard('beat')).toBe(0);
    await welcome();
    expect(heard('beat')).toBe(1);
    await clock.advance(1999);
    expect(heard('beat')).toBe(1);
    await clock.advance(1);
    expect(heard('beat')).toBe(2);
    await clock.advance(10_000);
    expect(heard('beat')).toBe(7);
  });

  it('takes one snapshot of a connection: a second one would end what came since', async () => {
    await join();
    last().end.send(snapshot(1));
    last().end.send(delta(2));
    last().end.send(snapshot(1));
    await clock.settle();
    expect(applied).toEqual(['snapshot 1', 'delta 2']);
    expect(last().closed).toEqual(['a second snapshot']);
  });

  it('takes no snapshot before the welcome: what the snapshot wakes would find no connection to fetch from', async () => {
    link.start();
    await clock.settle();
    last().end.send(snapshot(1));
    await clock.settle();
    expect(last().closed).toEqual(['a snapshot before the welcome']);
    await clock.advance(100);
    await welcome();
    last().end.send(snapshot(1));
    await clock.settle();
    expect(applied).toEqual(['snapshot 1']);
  });

  it('connects again when the feed has a gap, and begins with the new snapshot', async () => {
    await join();
    last().end.send(snapshot(1));
    last().end.send(delta(3));
    await clock.settle();
    expect(last().closed).toEqual(['a gap in the feed']);
    expect(applied).toEqual(['snapshot 1']);
    await clock.advance(100);
    expect(connections).toHaveLength(2);
    await welcome();
    last().end.send(snapshot(1));
    last().end.send(delta(2));
    await clock.settle();
    expect(applied).toEqual(['snapshot 1', 'snapshot 1', 'delta 2']);
  });

  it('sends reports at once, together, and the newest of each instance', async () => {
    await join();
    outbox.set(reportOf('aaaaaa', { pid: 1 }));
    outbox.set(reportOf('aaaaaa', { pid: 2 }));
    outbox.set(reportOf('bbbbbb'));
    await clock.settle();
    expect(last().heard.at(-1)).toEqual({
      type: 'status',
      sequence: 1,
      reports: [reportOf('aaaaaa', { pid: 2 }), reportOf('bbbbbb')],
    });
    outbox.set(reportOf('aaaaaa', { pid: 3 }));
    await clock.settle();
    expect(last().heard.at(-1)).toMatchObject({ sequence: 2, reports: [{ id: 'aaaaaa', pid: 3 }] });
  });

  it('says everything again after a reconnect, acknowledged or not', async () => {
    await join();
    outbox.set(reportOf('aaaaaa'));
    await clock.settle();
    last().end.send({ type: 'status-acknowledged', sequence: 1 });
    outbox.set(reportOf('bbbbbb'));
    await clock.settle();
    expect(outbox.isEmpty).toBe(false);
    last().end.close('the master is gone');
    await clock.advance(100);
    await welcome();
    expect(last().heard.filter(({ type }) => type === 'status')).toEqual([
      { type: 'status', sequence: 1, reports: [reportOf('aaaaaa'), reportOf('bbbbbb')] },
    ]);
    last().end.send({ type: 'status-acknowledged', sequence: 1 });
    await clock.settle();
    expect(outbox.isEmpty).toBe(true);
  });

  it('keeps reports to itself until it is welcome', async () => {
    link.start();
    outbox.set(reportOf('aaaaaa'));
    await clock.settle();
    expect(last().heard.map(({ type }) => type)).toEqual(['hello']);
    await welcome();
    expect(last().heard.map(({ type }) => type)).toEqual(['hello', 'beat', 'status']);
  });

  /** How long it waits before it connects again, each time that `end` has ended a connection. */
  const waitsAfter = async (times: number, end: () => void): Promise<number[]> => {
    const waits: number[] = [];
    for (let tries = 0; tries < times; tries++) {
      end();
      const before = clock.monotonic();
      const count = connections.length;
      while (connections.length === count) await clock.advance(25);
      waits.push(clock.monotonic() - before);
    }
    return waits;
  };

  it('tries again after a growing delay that stays under every nodeTimeoutMs, and soon again once it was fed', async () => {
    isReachable = false;
    link.start();
    await clock.settle();
    isReachable = true;
    await clock.advance(74);
    expect(connections).toHaveLength(0);
    await clock.advance(1);
    expect(connections).toHaveLength(1);
    const waits = await waitsAfter(7, () => last().end.close('restarting'));
    expect(waits).toEqual([150, 300, 600, 1200, 2250, 2250, 2250]);
    await welcome();
    last().end.close('the master could not record the node');
    await clock.advance(2249);
    expect(connections).toHaveLength(8);
    await clock.advance(1);
    await welcome();
    last().end.send(snapshot(1));
    await clock.settle();
    last().end.close('restarting');
    await clock.advance(75);
    expect(connections).toHaveLength(10);
  });

  it('asks another master next when one welcomes it and then tells it nothing', async () => {
    await join();
    last().end.close('the master could not record the node');
    await clock.settle();
    expect(fruitless).toBe(1);
    await clock.advance(150);
    await welcome();
    last().end.send(snapshot(1));
    await clock.settle();
    last().end.close('restarting');
    await clock.settle();
    expect(fruitless).toBe(1);
  });

  it('asks another master next when one refuses it, which may be behind without knowing', async () => {
    link.start();
    await clock.settle();
    last().end.send({ type: 'refused', reason: 'its store is older', isBehind: true });
    await clock.settle();
    expect(fruitless).toBe(1);
  });

  it('asks soon again while masters are behind: the one that is not calls it lost after nodeTimeoutMs', async () => {
    link.start();
    await clock.settle();
    const refuse = () => last().end.send({ type: 'refused', reason: 'its store is older', isBehind: true });
    expect(await waitsAfter(8, refuse)).toEqual([75, 150, 300, 600, 1200, 2250, 2250, 2250]);
  });

  it('stays with the leader that holds its former connection still', async () => {
    link.start();
    await clock.settle();
    last().end.send({ type: 'refused', reason: 'a node with nodeId alpha is connected already' });
    await clock.settle();
    expect(fruitless).toBe(0);
  });

  it('goes at once where a master points, and waits before the next one when that points on', async () => {
    const point = async (): Promise<void> => {
      const leader = { nodeId: 'other', clusterAddress: '10.0.0.9:6000' };
      last().end.send({ type: 'refused', reason: 'master other leads', leader });
      await clock.settle();
    };
    link.start();
    await clock.settle();
    await point();
    expect(connections).toHaveLength(2);
    await point();
    expect(connections).toHaveLength(2);
    await clock.advance(75);
    expect(connections).toHaveLength(3);
    await point();
    expect(connections).toHaveLength(4);
  });

  it('asks a master that refuses it more and more rarely', async () => {
    link.start();
    await clock.settle();
    const waits = await waitsAfter(11, () => last().end.send({ type: 'refused', reason: 'another cluster' }));
    expect(waits).toEqual([75, 150, 300, 600, 1200, 2400, 4800, 9600, 19_200, 22_500, 22_500]);
    refuseWith = new DroverError('DRV_JOIN_REFUSED', 'forgotten');
    last().end.close('gone');
    await clock.advance(75 + 22_500);
    expect(connections).toHaveLength(12);
  });

  it('reports a refusal that time does not heal, and tries again unless the node ends', async () => {
    link.start();
    await clock.settle();
    last().end.send({ type: 'refused', reason: 'connected already' });
    await clock.advance(75);
    expect([refusals, connections.length]).toEqual([[], 2]);
    last().end.send({ type: 'refused', reason: 'another cluster', isFinal: true });
    await clock.advance(150);
    expect([refusals, connections.length]).toEqual([['another cluster'], 3]);
    refuseWith = new DroverError('DRV_JOIN_REFUSED', 'forgotten');
    last().end.close('gone');
    await clock.advance(75);
    expect(refusals).toEqual(['another cluster', 'forgotten']);
    isIdle = true;
    refuseWith = new DroverError('DRV_CHANNEL_CLOSED', 'the certificate ended');
    await clock.advance(300);
    expect(refusals).toHaveLength(2);
    refuseWith = new DroverError('DRV_JOIN_REFUSED', 'forgotten');
    await clock.advance(3000);
    expect(refusals).toHaveLength(3);
    refuseWith = undefined;
    await clock.advance(3_600_000);
    expect([refusals.length, connections.length]).toEqual([3, 3]);
  });

  it('says each trouble once, and again after a minute, two, four', async () => {
    isReachable = false;
    link.start();
    await clock.advance(60_000);
    expect(said).toHaveLength(1);
    expect(said[0]).toBe(
      'no connection to the master: connection refused; what it was told last goes on, and it tries again',
    );
    await clock.advance(5 * 60_000);
    expect(said.slice(1)).toEqual([
      expect.stringMatching(/tries again \(\d+ times more\)$/),
      expect.stringMatching(/tries again \(\d+ times more\)$/),
    ]);
    isReachable = true;
    await clock.advance(3000);
    last().end.send({ type: 'refused', reason: 'another cluster' });
    await clock.advance(100_000);
    expect(said.at(-1)).toContain('the master refused this node: another cluster');
    expect(said).toHaveLength(4);
  });

  it('names what it holds from before, so that only the rest must be sent', async () => {
    const { assignment } = desired({ id: 'aaaaaa' });
    held = [assignment];
    link.start();
    await clock.settle();
    expect(last().heard[0]).toMatchObject({ type: 'hello', held: { aaaaaa: hashAssignment(assignment) } });
    held = Array(20_001).fill(assignment);
    last().end.close('gone');
    await clock.advance(200);
    expect(last().heard[0]).toMatchObject({ type: 'hello' });
    expect(last().heard[0]).not.toHaveProperty('held');
  });

  it('answers calls of the master, and has its own calls only while it is welcome', async () => {
    expect(link.calls).toBeUndefined();
    await join();
    last().end.send({ type: 'call', id: 9, service: 'ping', parameters: {} });
    await clock.settle();
    expect(last().heard.at(-1)).toEqual({ type: 'result', id: 9, value: 'pong' });
    expect(link.calls).toBeDefined();
    const answer = link.calls?.call('template-bundle', {});
    last().end.close('gone');
    await expect(answer).rejects.toMatchObject({ code: 'DRV_CHANNEL_CLOSED' });
    expect(link.calls).toBeUndefined();
  });

  it('tells of changed runtimes while it is welcome', async () => {
    link.start();
    await clock.settle();
    link.sendOffer();
    await welcome();
    link.sendOffer();
    await clock.settle();
    expect(last().heard.map(({ type }) => type)).toEqual(['hello', 'beat', 'offer']);
  });

  it('closes on a message that only a wrapper may send', async () => {
    await join();
    last().end.send({ type: 'bye' });
    await clock.settle();
    expect(last().closed).toEqual(['unexpected message bye']);
  });

  it('says that it will be back when it stops so, and connects no more', async () => {
    await join();
    link.stop(true);
    link.stop(true);
    await clock.advance(60_000);
    expect(last().heard.at(-1)).toEqual({ type: 'bye' });
    expect(last().closed).toEqual(['the node stops and will be back']);
    expect(connections).toHaveLength(1);
  });

  it('stops while it connects, or waits to', async () => {
    isReachable = false;
    link.start();
    await clock.settle();
    link.stop(false);
    isReachable = true;
    await clock.advance(60_000);
    expect(connections).toHaveLength(0);
  });

  it('lets go of a connection that is made after it was stopped', async () => {
    link.start();
    link.stop(true);
    await until(() => expect(last().closed).toEqual(['the node stops']));
    expect(last().heard).toEqual([]);
  });
});
