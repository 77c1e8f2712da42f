/** The feed of one node: everything first, then what changed, never half of a change. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FeedPace } from '../../../src/channel/master/feed-pace.js';
import { isSameWish, NodeFeed } from '../../../src/channel/master/node-feed.js';
import { hashAssignment } from '../../../src/channel/protocol/assignment-hash.js';
import type { Message } from '../../../src/channel/protocol/messages.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey, revisionKey } from '../../../src/store/keys.js';
import type { Operation } from '../../../src/store/store.js';
import { inSteps } from '../../../src/store/transaction.js';
import { NO_SECRETS } from '../../support/channel/test-hub.js';
import { configurationOf, instanceRecord, placedOn } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

const silent = pino({ level: 'silent' });

/** `snapshot 1: +a run 0 +b run 0 (f00)`; in brackets the revisions whose content came along. */
function text(message: Message): string {
  if (message.type !== 'snapshot' && message.type !== 'delta') return message.type;
  const put = message.type === 'snapshot' ? message.assignments : message.put;
  const drop = message.type === 'snapshot' ? [] : message.drop;
  const contents = Object.keys(message.revisions);
  const parts = [
    ...put.map(({ id, goal, restartToken }) => `+${id} ${goal} ${restartToken}`),
    ...drop.map((id) => `-${id}`),
    ...(message.type === 'snapshot' ? (message.unchanged ?? []) : []).map((id) => `=${id}`),
    ...(contents.length > 0 ? [`(${contents.join(' ')})`] : []),
  ];
  return [`${message.type} ${message.sequence}:`, ...parts].join(' ');
}

describe('the feed of a node', () => {
  let store: MemoryStore;
  let state: MasterState;
  let transport: Transport;
  let received: Message[];
  let feed: NodeFeed;
  let digests: Map<string, string>;
  let news: Map<string, string>;
  let digestOf: (name: string) => Promise<string | null>;

  beforeEach(async () => {
    store = new MemoryStore();
    state = new MasterState(store, silent);
    await state.start();
    digests = new Map();
    news = new Map();
    digestOf = async (name) => digests.get(name) ?? null;
    received = [];
    const [mine, its] = createInProcessPair();
    transport = mine;
    its.onFrame(({ message }) => received.push(message));
    feed = new NodeFeed({
      nodeId: 'alpha',
      transport,
      logger: silent,
      pace: new FeedPace(new FakeClock()),
      sources: {
        ...state,
        line: state.line,
        templateDigest: (group, name) => digestOf(`${group}/${name}`),
        templateNews: (group, name) => news.get(`${group}/${name}`),
        issueInstanceToken: (id, createdAt) => `token of ${id} ${createdAt}`,
        secrets: NO_SECRETS,
      },
    });
    state.instances.onChange((id) => feed.touch(id));
    await put({ [revisionKey('f00')]: configurationOf('lobby') });
  });

  afterEach(async () => {
    feed.close();
    await state.stop();
    await store.close();
  });

  /** Writes all at once and waits until the mirrors show it. */
  async function put(values: Record<string, unknown>): Promise<void> {
    const operations = Object.entries(values).map(
      ([key, value]): Operation => (value === undefined ? { do: 'remove', key } : { do: 'put', key, value }),
    );
    const revisions = await Promise.all(inSteps(operations).map((step) => store.transact(step)));
    const revision = Math.max(...revisions);
    await Promise.all([state.instances.until(revision), state.revisions.until(revision)]);
  }

  const on = (id: string, nodeId: string, fields: Partial<InstanceRecord> = {}): InstanceRecord =>
    instanceRecord(id, { placement: placedOn(nodeId), ...fields });

  const told = (...expected: string[]): Promise<void> =>
    until(() => expect(received.map(text)).toEqual(expected));

  it('begins with everything that the node should hold, and nothing of other nodes', async () => {
    await put({
      [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha'),
      [instanceKey('bbbbbb')]: on('bbbbbb', 'beta'),
      [instanceKey('cccccc')]: instanceRecord('cccccc'),
    });
    feed.start();
    await told('snapshot 1: +aaaaaa run 0 (f00)');
    expect(received[0]).toMatchObject({
      assignments: [{ configurationName: 'lobby', apiKey: 'token of aaaaaa 1000', hostAddress: '10.0.0.1' }],
    });
  });

  describe('to a node that names what it holds from before', () => {
    /** What the node was told of its instances in a former connection. */
    const heldBefore = async (): Promise<Record<string, string>> => {
      feed.start();
      await until(() => expect(received).toHaveLength(1));
      const [message] = received.splice(0);
      if (message?.type !== 'snapshot') throw new Error('there is no snapshot');
      feed.close();
      return Object.fromEntries(message.assignments.map((one) => [one.id, hashAssignment(one)]));
    };
    const startAgain = (held: Record<string, string>): void => {
      feed = new NodeFeed({
        nodeId: 'alpha',
        transport,
        logger: silent,
        pace: new FeedPace(new FakeClock()),
        held,
        sources: {
          ...state,
          line: state.line,
          templateDigest: (group, name) => digestOf(`${group}/${name}`),
          templateNews: (group, name) => news.get(`${group}/${name}`),
          issueInstanceToken: (id, createdAt) => `token of ${id} ${createdAt}`,
          secrets: NO_SECRETS,
        },
      });
      feed.start();
    };

    it('sends only what has changed, and names the rest', async () => {
      await put({
        [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha'),
        [instanceKey('bbbbbb')]: on('bbbbbb', 'alpha'),
        [instanceKey('cccccc')]: on('cccccc', 'alpha'),
      });
      const held = await heldBefore();
      await put({
        [instanceKey('bbbbbb')]: on('bbbbbb', 'alpha', { desired: { goal: 'stop', restartToken: 0 } }),
        [instanceKey('cccccc')]: on('cccccc', 'beta'),
      });
      startAgain(held);
      await told('snapshot 1: +bbbbbb stop 0 =aaaaaa');
      // The content of its revision is there: an instance that comes does not bring it again.
      await put({ [instanceKey('dddddd')]: on('dddddd', 'alpha') });
      await told('snapshot 1: +bbbbbb stop 0 =aaaaaa', 'delta 2: +dddddd run 0');
      await put({ [instanceKey('aaaaaa')]: undefined });
      await told('snapshot 1: +bbbbbb stop 0 =aaaaaa', 'delta 2: +dddddd run 0', 'delta 3: -aaaaaa');
    });

    it('believes nothing else that it names', async () => {
      await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha') });
      startAgain({ aaaaaa: 'another hash', bbbbbb: 'of nobody' });
      await told('snapshot 1: +aaaaaa run 0 (f00)');
    });

    it('sends all to one that holds nothing', async () => {
      await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha') });
      startAgain({});
      await told('snapshot 1: +aaaaaa run 0 (f00)');
    });
  });

  it('says that a node should hold nothing', async () => {
    feed.start();
    await told('snapshot 1:');
  });

  it('numbers what follows, and sends the content of a revision once', async () => {
    feed.start();
    await told('snapshot 1:');
    await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha') });
    await told('snapshot 1:', 'delta 2: +aaaaaa run 0 (f00)');
    await put({ [instanceKey('bbbbbb')]: on('bbbbbb', 'alpha') });
    await told('snapshot 1:', 'delta 2: +aaaaaa run 0 (f00)', 'delta 3: +bbbbbb run 0');
  });

  it('sends nothing before its start: a snapshot of a part would end the rest', async () => {
    await put({
      [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha'),
      [instanceKey('bbbbbb')]: on('bbbbbb', 'alpha'),
    });
    feed.touch('bbbbbb');
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toEqual([]);
    feed.start();
    await told('snapshot 1: +aaaaaa run 0 +bbbbbb run 0 (f00)');
  });

  it('tells several changes of one instance as one', async () => {
    feed.start();
    await told('snapshot 1:');
    let release: (() => void) | undefined;
    digestOf = () =>
      new Promise((resolve) => {
        release = () => resolve('f'.repeat(64));
      });
    const templates = [{ group: 'games', name: 'lobby', storage: 'local', priority: 0 }];
    await put({
      [instanceKey('zzzzzz')]: on('zzzzzz', 'alpha', { placement: { ...placedOn('alpha'), templates } }),
    });
    await until(() => expect(release).toBeDefined());
    // While the feed is busy with another one:
    for (let restartToken = 1; restartToken <= 3; restartToken++)
      await put({
        [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha', { desired: { goal: 'run', restartToken } }),
      });
    release?.();
    await told('snapshot 1:', 'delta 2: +zzzzzz run 0 (f00)', 'delta 3: +aaaaaa run 3');
  });

  it('drops what was removed or moved to another node, and only what it told', async () => {
    await put({
      [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha'),
      [instanceKey('bbbbbb')]: on('bbbbbb', 'alpha'),
    });
    feed.start();
    await told('snapshot 1: +aaaaaa run 0 +bbbbbb run 0 (f00)');
    await put({ [instanceKey('aaaaaa')]: undefined, [instanceKey('bbbbbb')]: on('bbbbbb', 'beta') });
    await put({ [instanceKey('dddddd')]: instanceRecord('dddddd') });
    await told('snapshot 1: +aaaaaa run 0 +bbbbbb run 0 (f00)', 'delta 2: -aaaaaa -bbbbbb');
  });

  it('drops what is removed at the very moment in which it is composed', async () => {
    await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha') });
    // The record is gone, in the mirror too, after it was composed and before it counts as told.
    const removeWhenRead = vi.spyOn(state.revisions, 'get').mockImplementationOnce(() => {
      removeWhenRead.mockRestore();
      const content = state.revisions.get('f00');
      vi.spyOn(state.instances, 'get').mockReturnValue(undefined);
      feed.touch('aaaaaa');
      return content;
    });
    feed.start();
    await told('snapshot 1: +aaaaaa run 0 (f00)', 'delta 2: -aaaaaa');
  });

  it('waits for the content of a revision that is not here yet', async () => {
    feed.start();
    await told('snapshot 1:');
    await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha', { revision: 'ba5' }) });
    await put({ [instanceKey('bbbbbb')]: on('bbbbbb', 'alpha') });
    await told('snapshot 1:', 'delta 2: +bbbbbb run 0 (f00)');
    await put({ [revisionKey('ba5')]: configurationOf('lobby', 'newer') });
    await told('snapshot 1:', 'delta 2: +bbbbbb run 0 (f00)', 'delta 3: +aaaaaa run 0 (ba5)');
  });

  it('names an instance in the snapshot even without the content of its revision, so that it is not ended', async () => {
    await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha', { revision: 'ba5' }) });
    feed.start();
    await told('snapshot 1: +aaaaaa run 0');
    await put({ [revisionKey('ba5')]: configurationOf('lobby', 'newer') });
    await told('snapshot 1: +aaaaaa run 0', 'delta 2: +aaaaaa run 0 (ba5)');
  });

  it('tells a template as missing when its digest cannot be made, and beside a digest that a newer may come', async () => {
    digests.set('games/good', 'f'.repeat(64));
    digests.set('games/old', 'e'.repeat(64));
    news.set('games/old', 'it is being downloaded');
    digestOf = async (name) => {
      if (name === 'games/broken') throw new Error('a link points out of it');
      return digests.get(name) ?? null;
    };
    const templates = ['good', 'old', 'broken', 'absent'].map((name) => ({
      group: 'games',
      name,
      storage: 'cloud',
      priority: 0,
    }));
    await put({
      [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha', { placement: { ...placedOn('alpha'), templates } }),
    });
    feed.start();
    await told('snapshot 1: +aaaaaa run 0 (f00)');
    const [snapshot] = received;
    const toldOf =
      snapshot?.type === 'snapshot' &&
      snapshot.assignments[0]?.templates.map(({ digest, problem }) => [digest, problem]);
    expect(toldOf).toEqual([
      ['f'.repeat(64), undefined],
      ['e'.repeat(64), 'it is being downloaded'],
      [null, 'template games/broken cannot be used: a link points out of it'],
      [null, undefined],
    ]);
  });

  it('tells no digest from before a restart that it tells', async () => {
    const placement = {
      ...placedOn('alpha'),
      templates: [{ group: 'games', name: 'world', storage: 'local', priority: 0 }],
    };
    await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha', { placement }) });
    digests.set('games/world', 'a'.repeat(64));
    const answers: (() => void)[] = [];
    digestOf = async (name) => {
      const digest = digests.get(name) ?? null;
      await new Promise<void>((resolve) => answers.push(resolve));
      return digest;
    };
    feed.start();
    await until(() => expect(answers).toHaveLength(1));
    // While the digest is on its way, the template changes, and then a restart is asked for.
    digests.set('games/world', 'b'.repeat(64));
    const desired = { goal: 'run', restartToken: 1 } as const;
    await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha', { placement, desired }) });
    answers[0]?.();
    await until(() => expect(answers).toHaveLength(2));
    answers[1]?.();
    await told('snapshot 1: +aaaaaa run 0 (f00)', 'delta 2: +aaaaaa run 1');
    const [snapshot, delta] = received;
    const templates = [
      snapshot?.type === 'snapshot' && snapshot.assignments[0]?.templates,
      delta?.type === 'delta' && delta.put[0]?.templates,
    ];
    expect(templates).toMatchObject([[{ digest: 'a'.repeat(64) }], [{ digest: 'b'.repeat(64) }]]);
  });

  it('splits what is much into messages of 500', async () => {
    feed.start();
    await told('snapshot 1:');
    const ids = Array.from({ length: 1200 }, (_, index) => `i${String(index).padStart(5, '0')}`);
    await put(Object.fromEntries(ids.map((id) => [instanceKey(id), on(id, 'alpha')])));
    await until(() => expect(received).toHaveLength(4));
    expect(received.map((message) => (message.type === 'delta' ? message.put.length : 0))).toEqual([
      0, 500, 500, 200,
    ]);
  });

  it('closes the connection when it breaks, so that the node starts from a snapshot again', async () => {
    const closed: string[] = [];
    transport.onClose((reason) => closed.push(reason));
    vi.spyOn(transport, 'send').mockImplementation(() => {
      throw new Error('cannot encode');
    });
    feed.start();
    await until(() => expect(closed).toEqual(['the feed broke']));
  });

  it('is silent once closed, and never starts afterwards', async () => {
    feed.close();
    feed.start();
    await put({ [instanceKey('aaaaaa')]: on('aaaaaa', 'alpha') });
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toEqual([]);
  });
});

it('asks for no news of a report, and for news of each change of what its assignment is made of', () => {
  const before = instanceRecord('aaaaaa', { placement: placedOn('alpha') });
  const copy = structuredClone(before);
  expect(isSameWish(before, { ...copy, status: { ...copy.status, state: 'OFFLINE', players: 3 } })).toBe(
    true,
  );
  const changes: readonly (InstanceRecord | undefined)[] = [
    { ...copy, createdAt: copy.createdAt + 1 },
    { ...copy, revision: 'f01' },
    { ...copy, desired: { ...copy.desired, goal: 'stop' } },
    { ...copy, desired: { ...copy.desired, restartToken: copy.desired.restartToken + 1 } },
    { ...copy, placement: null },
    { ...copy, placement: placedOn('beta') },
    { ...copy, placement: { ...placedOn('alpha'), port: 4711 } },
    {
      ...copy,
      placement: {
        ...placedOn('alpha'),
        templates: [{ group: 'a', name: 'b', storage: 'local', priority: 1 }],
      },
    },
    undefined,
  ];
  for (const after of changes) {
    expect(isSameWish(before, after)).toBe(false);
    expect(isSameWish(after, before)).toBe(false);
  }
  expect(isSameWish(undefined, undefined)).toBe(false);
});
