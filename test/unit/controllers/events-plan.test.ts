/** What the master tells of changed records, in words, and which events are one. */
import { describe, expect, it } from 'vitest';
import {
  eventsOfHistory,
  eventsOfInstance,
  eventsOfNode,
  eventsOfRollout,
  fold,
  foldKeyOf,
  recordOf,
} from '../../../controllers/master/events/plan.js';
import { eventOfAction } from '../../../src/model/deed-event.js';
import { type NewEvent, textOfEvent } from '../../../src/model/event.js';
import type { InstanceRecord, StoredStatus } from '../../../src/model/instance.js';
import {
  instanceRecord,
  nodeRecord,
  placedOn,
  rolloutRecord,
  withStatus,
} from '../../support/control-plane/records.js';

const text = (event: NewEvent): string => textOfEvent(recordOf(event, 0));
const texts = (events: readonly NewEvent[]): string[] => events.map(text);
const at = (id: string, status: Partial<StoredStatus> = {}, fields: Partial<InstanceRecord> = {}) => {
  const record = instanceRecord(id, { placement: placedOn('ams-1'), ...fields });
  return { ...record, status: withStatus(record.status, status) };
};
const NO_FORMER = (): undefined => undefined;
const UP = { state: 'ONLINE', pid: 7 } as const;
const CRASHED = { state: 'OFFLINE', reason: 'exited', exitCode: 2 } as const;

describe('an instance', () => {
  it.each<[string, Partial<StoredStatus>, Partial<StoredStatus>, string[]]>([
    ['comes up', {}, UP, ['aaaaaa of lobby is up on ams-1']],
    ['crashes', UP, CRASHED, ['aaaaaa of lobby ended unasked: exited with code 2']],
    [
      'is killed',
      UP,
      { ...CRASHED, exitCode: null, exitSignal: 'SIGKILL' },
      ['aaaaaa of lobby ended unasked: was ended by SIGKILL'],
    ],
    [
      'is started again after its crash',
      CRASHED,
      { ...UP, restarts: 1, exitCode: 2 },
      ['aaaaaa of lobby is up on ams-1'],
    ],
    [
      'crashed and is up again within one report',
      UP,
      { ...UP, pid: 8, restarts: 1, exitCode: 2 },
      ['aaaaaa of lobby ended unasked: exited with code 2'],
    ],
    [
      'crashed three times within one report',
      UP,
      { ...CRASHED, restarts: 2 },
      ['lobby: 3 ends that nobody asked for, of aaaaaa; the last one: exited with code 2'],
    ],
    [
      'waits for a place',
      {},
      { reason: 'no-node-fits', message: '0/3 nodes fit: 3 short of RAM; next try in 5 s' },
      ['aaaaaa of lobby waits for a place on ams-1: 0/3 nodes fit: 3 short of RAM'],
    ],
    ['is lost', UP, { state: 'OFFLINE', reason: 'node-lost' }, ['aaaaaa of lobby was lost with ams-1']],
    [
      'finishes',
      UP,
      { state: 'STOPPED', reason: 'exited', exitCode: 0 },
      ['aaaaaa of lobby finished on ams-1: exited with code 0'],
    ],
    ['stops', UP, { state: 'STOPPED', reason: 'stopped' }, ['aaaaaa of lobby stopped on ams-1']],
    [
      'is not ready',
      {},
      { state: 'CREATING', reason: 'not-ready', message: 'no "Done" so far', pid: 7 },
      ['aaaaaa of lobby does not start on ams-1: no "Done" so far'],
    ],
    ['changes nothing that people look for', UP, { ...UP, players: 3 }, []],
  ])('%s', (_what, before, after, said) => {
    expect(texts(eventsOfInstance(at('aaaaaa', before), at('aaaaaa', after), NO_FORMER))).toEqual(said);
  });

  it('is made, moves, replaces another one, and is removed', () => {
    const replacement = at('bbbbbb', {}, { replaces: 'aaaaaa' });
    expect(texts(eventsOfInstance(undefined, at('aaaaaa'), NO_FORMER))).toEqual([
      'aaaaaa of lobby was made on ams-1',
    ]);
    expect(texts(eventsOfInstance(undefined, replacement, () => 'ams-2'))).toEqual([
      'bbbbbb of lobby moved from ams-2',
    ]);
    expect(texts(eventsOfInstance(undefined, replacement, () => 'ams-1'))).toEqual([
      'bbbbbb of lobby was replaced on ams-1',
    ]);
    expect(texts(eventsOfInstance(at('aaaaaa'), undefined, NO_FORMER))).toEqual([
      'aaaaaa of lobby was removed on ams-1',
    ]);
  });

  it('that is being removed does not also stop', () => {
    const leaving = at(
      'aaaaaa',
      { state: 'STOPPED', reason: 'removing' },
      { desired: { goal: 'remove', restartToken: 0 } },
    );
    expect(eventsOfInstance(at('aaaaaa', UP), leaving, NO_FORMER)).toEqual([]);
  });
});

describe('a rollout, a node, a content', () => {
  it('begins, fails and names who asked', () => {
    const rolling = rolloutRecord({ state: 'rolling' });
    const failed = rolloutRecord({ state: 'failed', message: 'exited with code 3, 5 times' });
    expect(texts(eventsOfRollout(undefined, rolling))).toEqual(['the rollout of lobby begins']);
    expect(texts(eventsOfRollout(rolling, failed))).toEqual([
      'the rollout of lobby failed: exited with code 3, 5 times',
    ]);
    expect(texts(eventsOfRollout(failed, { ...failed, by: 'ops', generation: 9, state: 'rolling' }))).toEqual(
      ['the rollout of lobby begins by ops'],
    );
    expect(eventsOfRollout(rolling, { ...rolling, counts: { ...rolling.counts, good: 1 } })).toEqual([]);
  });

  it('joins, is lost, is drained and is forgotten', () => {
    const node = nodeRecord('ams-2');
    const drain = { since: 0, deadline: 1, doneAt: null };
    const said = [
      eventsOfNode('ams-2', undefined, node),
      eventsOfNode('ams-2', node, { ...node, condition: 'lost' }),
      eventsOfNode('ams-2', node, { ...node, cordoned: true, drain }),
      eventsOfNode('ams-2', { ...node, drain }, { ...node, drain: { ...drain, doneAt: 5 } }),
      eventsOfNode('ams-2', node, { ...node, cordoned: true }),
      eventsOfNode('ams-2', node, undefined),
    ];
    expect(said.map(texts)).toEqual([
      ['ams-2 joined'],
      ['ams-2 is lost'],
      ['ams-2 is drained: its instances move away'],
      ['ams-2 is empty: its drain is done'],
      ['ams-2 is cordoned: it gets no new instances'],
      ['ams-2 was forgotten'],
    ]);
  });

  it('has a number, a commit and an author', () => {
    const kept = { number: 5, revision: 'f00', at: 0, file: 'lobby.json', node: 'fra-1', isDirty: false };
    const contents = [{ ...kept, key: 'ops', commit: null }];
    expect(texts(eventsOfHistory('lobby', undefined, { contents }))).toEqual([
      'lobby changed: content 5 by ops',
    ]);
    const pulled = { contents: [...contents, { ...kept, number: 6, key: null, commit: 'abcdef0123456789' }] };
    expect(texts(eventsOfHistory('lobby', { contents }, pulled))).toEqual([
      'lobby changed: content 6 of commit abcdef01',
    ]);
    expect(eventsOfHistory('lobby', { contents }, { contents })).toEqual([]);
  });
});

describe('a deed', () => {
  const entry = { at: 0, key: 'ops', address: null, result: '204' };
  it.each([
    ['PATCH /instances/:id/lifecycle', 'aaaaaa target=restart', '200', 'ops restarted aaaaaa of lobby'],
    ['DELETE /instances/:id', 'aaaaaa', '204', 'ops deleted aaaaaa of lobby'],
    ['command', 'instance stop aaaaaa', 'ok', 'ops stopped aaaaaa of lobby'],
    ['command', 'cluster drain ams-2', 'ok', 'ops drained ams-2'],
    ['PUT /cluster/nodes/:id/drain', 'ams-2', '200', 'ops drained ams-2'],
    ['command', 'instance list', 'ok', undefined],
    ['DELETE /instances/:id', 'aaaaaa', '403', undefined],
    ['PUT /configurations/:name', 'lobby', '204', undefined],
  ])('%s %s with %s', (action, subject, result, said) => {
    const event = eventOfAction({ ...entry, action, subject, result }, () => 'lobby');
    expect(event && text(event)).toBe(said);
  });
});

describe('folding', () => {
  it('goes on for an hour at most, so that a crash loop of a day is told again', () => {
    const crash = (minute: number) =>
      recordOf(
        { kind: 'crashed', configuration: 'lobby', instance: 'aaaaaa', detail: 'code 1' },
        minute * 60_000,
      );
    let known = crash(0);
    for (let minute = 10; minute < 60; minute += 10)
      known = fold(known, crash(minute)) ?? expect.fail(`not folded after ${minute} minutes`);
    expect(known.count).toBe(6);
    expect(fold(known, crash(60))).toBeUndefined();
  });

  const moved = (instance: string, time: number) =>
    recordOf({ kind: 'moved', configuration: 'survival', node: 'ams-2', instance }, time);

  it('makes one event of equal ones, with their count and ids', () => {
    const first = moved('aaaaaa', 1000);
    const one = fold(first, moved('bbbbbb', 31_000));
    expect(one && textOfEvent(one)).toBe('2 of survival moved from ams-2');
    expect(one).toMatchObject({ at: 1000, until: 31_000, instances: ['aaaaaa', 'bbbbbb'] });
    expect(fold(first, moved('bbbbbb', 70_000))).toBeUndefined();
    const again = fold(first, moved('aaaaaa', 2000));
    expect(again && textOfEvent(again)).toBe('aaaaaa of survival moved from ams-2, 2 times');
  });

  it('keeps apart what differs in place or author, and joins the exits of a crash loop', () => {
    const from = (node: string) => foldKeyOf(recordOf({ kind: 'moved', configuration: 'survival', node }, 0));
    expect(from('ams-1')).not.toBe(from('ams-2'));
    const exit = (detail: string, node: string) =>
      foldKeyOf(recordOf({ kind: 'crashed', configuration: 'survival', node, detail }, 0));
    expect(exit('exited with code 1', 'ams-1')).toBe(exit('exited with code 2', 'ams-2'));
    const told = (detail: string) => foldKeyOf(recordOf({ kind: 'node', node: 'ams-1', detail }, 0));
    expect(told('is lost')).not.toBe(told('is connected'));
  });
});
