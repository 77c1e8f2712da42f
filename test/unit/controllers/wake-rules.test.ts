/** The keys that each change of a record wakes: change in, wakes out as text. All rules run over one small world. */

import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wakesOfInstance } from '../../../controllers/master/wake/instance-wakes.js';
import {
  wakesOfConfiguration,
  wakesOfContact,
  wakesOfHistory,
  wakesOfNode,
  wakesOfRevision,
} from '../../../controllers/master/wake/record-wakes.js';
import { wakesOfNewPlace, wakesOfTemplates } from '../../../controllers/master/wake/shared-wakes.js';
import {
  type Change,
  type Wake,
  type WakeFacts,
  wakeFactsOf,
} from '../../../controllers/master/wake/wake.js';
import type { InstanceRecord, StoredStatus } from '../../../src/model/instance.js';
import type { NodeRecord } from '../../../src/model/node.js';
import { MasterState } from '../../../src/state/master-state.js';
import { configurationKey, historyKey, instanceKey, nodeKey, revisionKey } from '../../../src/store/keys.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { Operation } from '../../../src/store/store.js';
import {
  configurationOf,
  instanceRecord,
  nodeRecord,
  placedOn,
  withStatus,
} from '../../support/control-plane/records.js';
import { MemoryStore } from '../../support/store/memory-store.js';

type Fields = Partial<Omit<InstanceRecord, 'status'>> & { status?: Partial<StoredStatus> };

let store: MemoryStore;
let state: MasterState;
let facts: WakeFacts;
let woken: string[] = [];

function instance(id: string, { status, ...fields }: Fields = {}): InstanceRecord {
  const record = instanceRecord(id, fields);
  return { ...record, status: withStatus(record.status, status ?? {}) };
}

const put = (key: string, value: unknown): Operation => ({ do: 'put', key, value });
const putInstance = (id: string, fields?: Fields) => put(instanceKey(id), instance(id, fields));
const putNode = (id: string, fields?: Partial<NodeRecord>) => put(nodeKey(id), nodeRecord(id, fields));
const putConfiguration = (name: string, hash: string) =>
  put(configurationKey(name), {
    configuration: configurationOf(name),
    hash,
    sourceFile: `${name}.json`,
    sourceNode: 'alpha',
  });
const putHistory = (name: string, ...revisions: string[]) =>
  put(historyKey(name), {
    contents: revisions.map((revision, index) => ({
      number: index + 1,
      revision,
      at: 1,
      file: 'a.json',
      node: null,
      key: null,
      commit: null,
      isDirty: null,
    })),
  });
const remove = (key: string): Operation => ({ do: 'remove', key });

const up = (nodeId: string, fields: Fields = {}): Fields => ({
  placement: placedOn(nodeId, 30_000),
  ...fields,
  status: { state: 'ONLINE', pid: 7, ...fields.status },
});
const goal = (wanted: 'run' | 'stop' | 'remove') => ({ desired: { goal: wanted, restartToken: 0 } });
const DRAIN = { cordoned: true, drain: { since: 0, deadline: 1, doneAt: null } };

const ENDED: Fields = {
  configurationName: 'game',
  placement: placedOn('alpha', null),
  status: { state: 'STOPPED', reason: 'exited' },
};

/** Two of game have ended. beta is being drained, gamma is lost. Pairs: old1aa on beta with new1aa, old2aa on alpha (its drain was called off) with new2aa. */
const WORLD: readonly Operation[] = [
  putNode('alpha'),
  putNode('beta', DRAIN),
  putNode('gamma', { condition: 'lost' }),
  putConfiguration('lobby', 'f00'),
  putConfiguration('game', 'f01'),
  put(revisionKey('f00'), configurationOf('lobby')),
  putHistory('game', 'f00', 'f01'),
  putInstance('up1aaa', up('alpha')),
  putInstance('wait1a', { status: { reason: 'no-node-fits', message: '0/3 nodes fit' } }),
  putInstance('lost1a', up('gamma', { status: { state: 'OFFLINE', reason: 'node-lost' } })),
  putInstance('old1aa', up('beta')),
  putInstance('new1aa', up('alpha', { replaces: 'old1aa' })),
  putInstance('old2aa', up('alpha')),
  putInstance('new2aa', up('alpha', { replaces: 'old2aa' })),
  putInstance('ended1', ENDED),
  putInstance('ended2', ENDED),
];

function follow<T>(
  mirror: MirrorReader<T>,
  rule: (change: Change<T>, known: WakeFacts) => Iterable<Wake>,
): void {
  mirror.onChange((id, after, before) => {
    woken.push(...textOf(rule({ id, before: before?.value, after: after?.value }, facts)));
  });
}

function textOf(wakes: Iterable<Wake>): string[] {
  return [...wakes].map(
    ({ controller, key, when }) =>
      `${controller} ${key}${when === 'first' ? ' first' : when === 0 ? '' : ` +${when}`}`,
  );
}

/** What the operations wake, each once. */
async function wakesOf(...operations: Operation[]): Promise<string[]> {
  woken = [];
  const revision = await store.transact(operations);
  await Promise.all(
    [state.instances, state.nodes, state.configurations, state.revisions, state.histories].map((mirror) =>
      mirror.until(revision),
    ),
  );
  return [...new Set(woken)].toSorted();
}

beforeEach(async () => {
  store = new MemoryStore();
  state = new MasterState(store, pino({ level: 'silent' }));
  facts = wakeFactsOf(state);
  follow(state.instances, wakesOfInstance);
  follow(state.nodes, wakesOfNode);
  follow(state.configurations, wakesOfConfiguration);
  follow(state.revisions, wakesOfRevision);
  follow(state.histories, wakesOfHistory);
  await state.start();
  await wakesOf(...WORLD);
});

afterEach(async () => {
  await state.stop();
  await store.close();
});

const PLACE_FREED = ['drain beta +50', 'waiting all +50'];

describe('a change of an instance wakes', () => {
  it.each<[string, Operation, string[]]>([
    [
      'its count and placement: it is new',
      putInstance('aaaaaa', {}),
      ['minimum-service lobby +20', 'placement aaaaaa first'],
    ],
    [
      'placement: why it has no place is written',
      putInstance('wait1a', { status: { reason: 'no-node-fits', message: '1/3' } }),
      ['placement wait1a first'],
    ],
    [
      'its count: it has got its place',
      putInstance('wait1a', { placement: placedOn('alpha') }),
      ['minimum-service lobby +20'],
    ],
    [
      'placement: its port is busy',
      putInstance('up1aaa', up('alpha', { status: { reason: 'port-busy', pid: null } })),
      ['placement up1aaa first'],
    ],
    [
      'its count: it goes offline',
      putInstance('up1aaa', up('alpha', { status: { state: 'OFFLINE' } })),
      ['minimum-service lobby +20'],
    ],
    [
      'its count and the cleanup of what ended: it has ended by its own word',
      putInstance('ended3', {
        ...ENDED,
        desired: { goal: 'stop', restartToken: 0, stoppedBy: 'instance' },
        status: { state: 'STOPPED', reason: 'stopped' },
      }),
      [
        'content ended3',
        'instance-cleanup configurations/game +20',
        'minimum-service game +20',
        'waiting all +50',
      ],
    ],
    [
      'its content: it is to take what is in force when its players have left',
      putInstance(
        'up1aaa',
        up('alpha', { desired: { goal: 'run', restartToken: 0, updateWhenEmpty: true } }),
      ),
      ['content up1aaa'],
    ],
    [
      'the cleanup of the content that it had: it has another one, which is not in force',
      putInstance('up1aaa', up('alpha', { revision: 'f09' })),
      ['content up1aaa', 'instance-cleanup revisions/f00'],
    ],
    [
      'its count: its node has reported it',
      putInstance('up1aaa', up('alpha', { status: { awaitsReport: true } })),
      ['minimum-service lobby +20'],
    ],
    ['nothing: it counts its players', putInstance('up1aaa', up('alpha', { status: { players: 3 } })), []],
    [
      'its count, and drains that a maximum holds up: it is not wanted any more',
      putInstance('up1aaa', up('alpha', goal('stop'))),
      ['drain beta +50', 'minimum-service lobby +20'],
    ],
    [
      'its count and what waits for a place: it is stopped',
      putInstance(
        'up1aaa',
        up('alpha', { ...goal('stop'), status: { state: 'STOPPED', reason: 'stopped', pid: null } }),
      ),
      ['minimum-service lobby +20', ...PLACE_FREED],
    ],
    [
      'its count and what waits for a place: it has finished',
      putInstance('up1aaa', up('alpha', { status: { state: 'STOPPED', reason: 'exited', pid: null } })),
      ['minimum-service lobby +20', ...PLACE_FREED],
    ],
    [
      'what waits for a place: it has another port',
      putInstance('up1aaa', up('alpha', { placement: placedOn('alpha', 30_001) })),
      PLACE_FREED,
    ],
    [
      'what waits for a place: its former run has given back the RAM that its content does not ask for',
      putInstance('up1aaa', up('alpha', { ramMB: instanceRecord('up1aaa').ramMB - 1 })),
      PLACE_FREED,
    ],
    [
      'what waits for a place, because less is free: it takes a content that asks for more RAM',
      putInstance('up1aaa', up('alpha', { ramMB: instanceRecord('up1aaa').ramMB + 1 })),
      ['waiting all +50'],
    ],
    [
      'cleanup: it is to be removed',
      putInstance('up1aaa', up('alpha', goal('remove'))),
      ['drain beta +50', 'instance-cleanup instances/up1aaa', 'minimum-service lobby +20'],
    ],
    [
      'the cleanup of its revision, its count and what waits for a place: it is gone',
      remove(instanceKey('up1aaa')),
      ['instance-cleanup revisions/f00', 'minimum-service lobby +20', ...PLACE_FREED],
    ],
    [
      'the heartbeat of its lost node: somebody says that it is up',
      putInstance('lost1a', up('gamma', { status: { reason: 'reported' } })),
      ['heartbeat gamma', 'minimum-service lobby +20'],
    ],
    [
      'nothing more: what is on a lost node is marked already',
      putInstance(
        'lost1a',
        up('gamma', { status: { state: 'OFFLINE', reason: 'node-lost', message: 'no beats' } }),
      ),
      [],
    ],
    [
      'the drain of its node, and its pair',
      putInstance('old1aa', up('beta', { status: { players: 1 } })),
      ['drain beta', 'replacement old1aa'],
    ],
    [
      'the drain of what it replaces, its pair and its count: it is used',
      putInstance('new1aa', up('alpha', { replaces: 'old1aa', status: { players: 1 } })),
      ['drain beta', 'minimum-service lobby +20', 'replacement old1aa'],
    ],
    [
      'its pair: no drain concerns it',
      putInstance('old2aa', up('alpha', { status: { players: 1 } })),
      ['replacement old2aa'],
    ],
    [
      'the drain of what it replaced, and its former pair: it is one like others from now on',
      putInstance('new1aa', up('alpha')),
      ['drain beta', 'replacement old1aa'],
    ],
    [
      'the drain that lost a replacement, and what waits for its place',
      remove(instanceKey('new1aa')),
      ['drain beta', 'instance-cleanup revisions/f00', 'minimum-service lobby +20', ...PLACE_FREED],
    ],
  ])('%s', async (_what, operation, wakes) => {
    expect(await wakesOf(operation)).toEqual(wakes.toSorted());
  });

  it('the count of what a configuration left that is gone: its players came or went', async () => {
    const left = (players: number) =>
      putInstance('left1a', up('alpha', { configurationName: 'away', status: { players } }));
    await wakesOf(left(0));
    expect(await wakesOf(left(1))).toEqual(['minimum-service away +20']);
    expect(await wakesOf(left(2))).toEqual([]);
  });

  it('the drain of the node that its replacement is on', async () => {
    await wakesOf(putInstance('new2aa', up('beta', { replaces: 'old2aa' })));
    expect(await wakesOf(putInstance('old2aa', up('alpha', { status: { players: 1 } })))).toEqual([
      'drain beta',
      'replacement old2aa',
    ]);
  });
});

describe('a change of anything else wakes', () => {
  const everyService = [
    'instance-cleanup configurations/game',
    'minimum-service game',
    'minimum-service lobby',
  ];
  it.each<[string, Operation, string[]]>([
    [
      'a new node: its heartbeat, every service, what waits for a place',
      putNode('delta'),
      ['heartbeat delta first', ...everyService, ...PLACE_FREED],
    ],
    [
      'a node that is cordoned: its heartbeat, its pairs, what waits for a place',
      putNode('alpha', { cordoned: true }),
      ['heartbeat alpha first', 'replacement old2aa', ...PLACE_FREED],
    ],
    [
      'a node that is lost: every service as well',
      putNode('alpha', { condition: 'lost' }),
      ['heartbeat alpha first', 'replacement old2aa', ...everyService, ...PLACE_FREED],
    ],
    [
      'a node whose drain is called off: its drain first, and its pairs',
      putNode('beta'),
      ['drain beta first', 'heartbeat beta first', 'replacement old1aa', 'waiting all +50', ...everyService],
    ],
    [
      'a drain that begins: it, and its pairs',
      putNode('alpha', DRAIN),
      [
        'drain alpha +50',
        'drain alpha first',
        'heartbeat alpha first',
        'replacement old2aa',
        ...everyService,
        ...PLACE_FREED,
      ],
    ],
    [
      'a node that is forgotten: every service, what waits for a place',
      remove(nodeKey('gamma')),
      ['heartbeat gamma first', ...everyService, ...PLACE_FREED],
    ],
    [
      'a new configuration: its service, its schedules, and drains',
      putConfiguration('proxy', 'f02'),
      ['drain beta', 'minimum-service proxy first', 'schedule proxy first'],
    ],
    [
      'a configuration with another content: its instances, and the cleanup of the old one as well',
      putConfiguration('lobby', 'f02'),
      [
        ...['lost1a', 'new1aa', 'new2aa', 'old1aa', 'old2aa', 'up1aaa', 'wait1a'].map(
          (id) => `content ${id} first`,
        ),
        'drain beta',
        'instance-cleanup revisions/f00',
        'minimum-service lobby first',
        'schedule lobby first',
      ],
    ],
    [
      'a configuration that goes: its service, the cleanup of its content, and drains',
      remove(configurationKey('game')),
      [
        'drain beta',
        'instance-cleanup configurations/game',
        'instance-cleanup revisions/f01',
        'minimum-service game first',
        'schedule game first',
      ],
    ],
    [
      'a content that arrives: what waits for it, and whether it is still used',
      put(revisionKey('f00'), configurationOf('lobby')),
      ['instance-cleanup revisions/f00 +50', 'placement wait1a first'],
    ],
    ['a content that goes: nothing', remove(revisionKey('f00')), []],
    [
      'a history that loses a content: the cleanup of that content',
      putHistory('game', 'f01', 'f02'),
      ['instance-cleanup revisions/f00'],
    ],
    [
      'a history that goes: the cleanup of all its contents',
      remove(historyKey('game')),
      ['instance-cleanup revisions/f00', 'instance-cleanup revisions/f01'],
    ],
  ])('%s', async (_what, operation, wakes) => {
    expect(await wakesOf(operation)).toEqual(wakes.toSorted());
  });

  it('a node that is heard of again: its heartbeat', () => {
    expect(textOf(wakesOfContact('alpha'))).toEqual(['heartbeat alpha first']);
  });

  it('a place that was promised in vain: what waits for a place', () => {
    expect(textOf(wakesOfNewPlace(facts)).toSorted()).toEqual(PLACE_FREED);
  });

  it('a template that changes: each that waits for a place, because each has its own templates', () => {
    expect(textOf(wakesOfTemplates(facts)).toSorted()).toEqual(['drain beta +50', 'placement wait1a +50']);
  });

  it('a place that is free, and templates: what has not been ready and lacks the content in force', async () => {
    const starting = (revision: string): Fields =>
      up('alpha', { revision, status: { state: 'CREATING', pid: null, hasBeenReady: false } });
    await wakesOf(putInstance('has1aa', starting('f00')), putInstance('lacks1', starting('f09')));
    const contents = (wakes: readonly string[]) => wakes.filter((wake) => wake.startsWith('content'));
    expect(contents(await wakesOf(remove(instanceKey('up1aaa'))))).toEqual(['content lacks1 +50']);
    expect(contents(await wakesOf(putNode('delta')))).toEqual(['content lacks1 +50']);
    expect(contents(textOf(wakesOfTemplates(facts)))).toEqual(['content lacks1 +50']);
  });

  it('an instance that is placed: what waits, because less is free', async () => {
    await wakesOf(putInstance('wait2a'));
    expect(await wakesOf(putInstance('wait2a', { placement: placedOn('alpha') }))).toContain(
      'waiting all +50',
    );
  });
});
