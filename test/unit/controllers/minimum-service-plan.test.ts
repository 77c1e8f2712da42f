/** The decisions of minimum-service: facts in, steps out as text. */
import { describe, expect, it } from 'vitest';
import {
  type CountedInstance,
  type CreationHistory,
  countsTowardsMinimum,
  isOrdinary,
  plan,
  type ServiceFacts,
  type ServiceStep,
  withCreated,
  YOUNG_MS,
} from '../../../controllers/master/minimum-service/plan.js';
import type { Players } from '../../../src/model/instance.js';
import { MAX_OPERATIONS } from '../../../src/store/store.js';
import { counted } from '../../support/control-plane/counted-instance.js';
import { instanceRecord } from '../../support/control-plane/records.js';

const NOW = 1_000_000;

function historyOf(at: number, ids: string[], streak = 0): CreationHistory {
  return { made: ids.map((id) => ({ id, at })), streak };
}

function decide(fields: Partial<ServiceFacts>, now = NOW): string[] {
  const facts: ServiceFacts = {
    name: 'lobby',
    minimum: 1,
    maximum: undefined,
    ordinary: 0,
    instances: [],
    history: undefined,
    ...fields,
  };
  const { steps, recheckInMs } = plan(facts, now);
  const said = steps.map((step) => (step.do === 'create' ? createText(step) : `${step.do} ${step.id}`));
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
}

function createText({ count, streak, replaces }: ServiceStep & { do: 'create' }): string {
  const originals = replaces.length === 0 ? '' : ` for ${replaces.join(' ')}`;
  return `create ${count} (streak ${streak})${originals}`;
}

describe('the plan of the minimum-service enforcer', () => {
  it('creates what is missing', () => {
    expect(decide({ minimum: 3, instances: [counted('a')] })).toEqual(['create 2 (streak 0)']);
  });

  it('has no steps when enough stand, and stops nothing that is above the minimum', () => {
    expect(decide({ minimum: 2, instances: [counted('a'), counted('b')] })).toEqual([]);
    expect(decide({ minimum: 0, instances: [counted('a'), counted('b')] })).toEqual([]);
  });

  it('counts ordinary instances by their number', () => {
    expect(decide({ minimum: 3, ordinary: 2 })).toEqual(['create 1 (streak 0)']);
    expect(decide({ minimum: 3, ordinary: 2, instances: [counted('a', { replaces: 'b' })] })).toEqual([]);
    expect(decide({ maximum: 2, ordinary: 2 })).toEqual([]);
  });

  it('takes for ordinary only what counts whatever else is true of it', () => {
    const goals = ['run', 'stop', 'remove'] as const;
    const states = ['CREATING', 'ONLINE', 'OFFLINE', 'STOPPED'] as const;
    const { status } = instanceRecord('a');
    const ordinary = goals.flatMap((goal) =>
      states
        .filter((state) =>
          isOrdinary(
            instanceRecord('a', { desired: { goal, restartToken: 0 }, status: { ...status, state } }),
          ),
        )
        .map((state) => ({ goal, state })),
    );
    expect(ordinary).toHaveLength(2);
    for (const fields of ordinary)
      for (const node of ['connected', 'returning', 'lost', null] as const)
        expect(countsTowardsMinimum(counted('a', { ...fields, node }))).toBe(true);
    expect(isOrdinary(instanceRecord('a', { replaces: 'b' }))).toBe(false);
  });

  it('creates as many in one pass as a transaction takes', () => {
    expect(decide({ minimum: 500 })).toEqual(['create 99 (streak 0)']);
  });

  it.each([
    [1, 98],
    [40, 59],
    [49, 50],
    [50, 49],
    [300, 49],
  ])('leaves room in the transaction for the checks of %i originals', (lost, count) => {
    const instances = Array.from({ length: lost }, (_, index) =>
      counted(`i${index}`, { state: 'OFFLINE', node: 'lost' }),
    );
    const replaced = instances
      .map(({ id }) => id)
      .toSorted()
      .slice(0, count);
    expect(decide({ minimum: 500, instances })).toEqual([
      `create ${count} (streak 0) for ${replaced.join(' ')}`,
    ]);
    expect(count + replaced.length + 1).toBeLessThanOrEqual(MAX_OPERATIONS);
  });

  it('creates 20 in one pass while new instances keep failing', () => {
    const history = historyOf(NOW - 1000, ['a']);
    const instances = [counted('a', { state: 'STOPPED' })];
    expect(decide({ minimum: 500, instances, history })).toEqual(['create 20 (streak 1)']);
  });

  it.each<[string, Partial<CountedInstance>, boolean]>([
    ['one that is being created', { state: 'CREATING', node: null }, true],
    ['one that runs', { state: 'ONLINE' }, true],
    ['one that restarts in place', { state: 'OFFLINE', node: 'connected' }, true],
    ['one whose node will be back', { state: 'OFFLINE', node: 'returning' }, true],
    ['one that has no node and is said to be OFFLINE', { state: 'OFFLINE', node: null }, true],
    ['one on a lost node', { state: 'OFFLINE', node: 'lost' }, false],
    ['a static one on a lost node', { state: 'OFFLINE', node: 'lost', static: true }, true],
    ['one that was stopped', { phase: 'stop', state: 'STOPPED' }, false],
    ['one that is still stopping', { phase: 'stop', state: 'ONLINE' }, false],
    ['a static one that was stopped', { phase: 'stop', state: 'STOPPED', static: true }, true],
    ['one that is being removed', { phase: 'remove' }, false],
    ['a static one that is being removed', { phase: 'remove', static: true }, false],
    ['one that said STOPPED of itself', { state: 'STOPPED' }, false],
    ['one that its restart policy does not start again', { state: 'STOPPED', phase: 'finished' }, true],
    ['such a one on a lost node', { state: 'STOPPED', phase: 'finished', node: 'lost' }, true],
    ['such a one that is being removed', { phase: 'remove', state: 'STOPPED' }, false],
  ])('counts %s as it should', (_what, fields, counts) => {
    const steps = decide({ instances: [counted('a', fields)] });
    expect(steps).toEqual(counts ? [] : [expect.stringMatching(/^create 1 /)]);
  });

  describe('with an instance whose record is set aside', () => {
    const setAside = counted('a', { state: 'OFFLINE', knowledge: 'set-aside' });

    it('counts it, unless its node is lost', () => {
      expect(decide({ minimum: 1, instances: [setAside] })).toEqual([]);
      expect(decide({ minimum: 1, instances: [{ ...setAside, node: 'lost' }] })).toEqual([
        'create 1 (streak 0)',
      ]);
    });

    it('removes others above the maximum, and never this one', () => {
      const other = counted('b', { createdAt: 5 });
      expect(decide({ maximum: 1, instances: [setAside, other] })).toEqual(['remove b']);
      expect(decide({ minimum: 0, maximum: 0, instances: [setAside] })).toEqual([]);
    });
  });

  describe('with "surplus": "remove"', () => {
    const patient = { players: 'wait', leftMs: null } as const;
    const three = [counted('a'), counted('b', { createdAt: 1 }), counted('c', { createdAt: 2 })];
    const used = { players: 'some' } as const;

    it('removes what is left of a lowered minimum, the youngest first', () => {
      expect(decide({ minimum: 1, surplus: patient, instances: three })).toEqual(['shed c', 'shed b']);
      expect(decide({ minimum: 3, surplus: patient, instances: three })).toEqual([]);
      expect(decide({ minimum: 1, instances: three })).toEqual([]);
    });

    it('takes what is not up first, then what has no players', () => {
      const instances = [
        counted('a', { createdAt: 9 }),
        counted('b', { state: 'OFFLINE' }),
        counted('c', { createdAt: 99, ...used }),
      ];
      expect(decide({ minimum: 2, surplus: patient, instances })).toEqual(['shed b']);
      expect(decide({ minimum: 1, surplus: patient, instances })).toEqual(['shed b', 'shed a']);
    });

    it('waits for players as long as update says, and makes nothing meanwhile', () => {
      const instances = [counted('a', used), counted('b', { createdAt: 1, ...used })];
      const shed = (surplus: ServiceFacts['surplus']) =>
        decide({ minimum: 1, instances, ...(surplus && { surplus }) });
      expect(shed(patient)).toEqual([]);
      expect(shed({ players: 'wait', leftMs: 5000 })).toEqual(['look again in 5000 ms']);
      expect(shed({ players: 'wait', leftMs: 0 })).toEqual(['shed b']);
      expect(shed({ players: 'ignore', leftMs: null })).toEqual(['shed b']);
    });

    it('leaves alone what clients made, also where that stands for the minimum', () => {
      const client = (id: string) => counted(id, { maker: 'client' });
      const instances = [...three, client('d'), client('e')];
      expect(decide({ minimum: 2, surplus: patient, instances })).toEqual(['shed c']);
      expect(decide({ minimum: 0, surplus: patient, instances: [client('d')] })).toEqual([]);
    });

    it('counts a pair once, and ends neither of it', () => {
      const pair = [counted('o'), counted('r', { replaces: 'o', createdAt: 9 })];
      expect(decide({ minimum: 1, surplus: patient, instances: pair })).toEqual([]);
      expect(decide({ minimum: 1, surplus: patient, instances: [...pair, counted('x')] })).toEqual([
        'shed x',
      ]);
      expect(decide({ minimum: 0, surplus: patient, instances: pair })).toEqual([]);
    });

    it('does not count what is on a lost node or was not heard of since', () => {
      const instances = [
        counted('a'),
        counted('b', { state: 'OFFLINE', node: 'lost' }),
        counted('c', { knowledge: 'awaits-report' }),
      ];
      expect(decide({ minimum: 1, surplus: patient, instances })).toEqual([]);
    });

    it('comes after a maximum', () => {
      expect(decide({ minimum: 1, maximum: 2, surplus: patient, instances: three })).toEqual(['remove c']);
    });
  });

  describe('with a maximum', () => {
    it('creates no more than that', () => {
      expect(decide({ minimum: 5, maximum: 2 })).toEqual(['create 2 (streak 0)']);
      expect(decide({ minimum: 5, maximum: 0 })).toEqual([]);
    });

    it('removes the youngest, and of the same age the later id', () => {
      const instances = [
        counted('c', { createdAt: 5 }),
        counted('b', { createdAt: 9 }),
        counted('a', { createdAt: 9 }),
        counted('d', { createdAt: 1 }),
      ];
      expect(decide({ maximum: 2, instances })).toEqual(['remove a', 'remove b']);
      expect(decide({ maximum: 3, instances })).toEqual(['remove b']);
    });

    it('stops static ones: their files are kept', () => {
      const instances = ['a', 'b'].map((id) => counted(id, { static: true }));
      expect(decide({ maximum: 1, instances })).toEqual(['stop b']);
    });

    it('takes what has no players first, and of that what the enforcer made', () => {
      const instances = [
        counted('used', { createdAt: 9, players: 'some' }),
        counted('mine', { createdAt: 8, maker: 'client' }),
        counted('made', { createdAt: 7 }),
      ];
      expect(decide({ maximum: 2, instances })).toEqual(['remove made']);
      expect(decide({ maximum: 1, instances })).toEqual(['remove mine', 'remove made']);
      expect(decide({ maximum: 0, instances })).toEqual(['remove used', 'remove mine', 'remove made']);
    });

    it('leaves those alone that were stopped already', () => {
      const stopped = counted('b', { phase: 'stop', state: 'STOPPED' });
      expect(decide({ maximum: 1, instances: [counted('a'), stopped] })).toEqual([]);
      const resting = counted('c', { phase: 'stop', state: 'STOPPED', static: true });
      expect(decide({ maximum: 1, instances: [counted('a'), resting] })).toEqual([]);
    });

    it('leaves a pair whose original is back to the replacement controller, unless both are used', () => {
      const lost = [1, 2].map((n) => counted(`lost${n}`, { state: 'OFFLINE', node: 'lost' }));
      const counts = { minimum: 2, maximum: 2 };
      expect(decide({ ...counts, instances: lost })).toEqual(['create 2 (streak 0) for lost1 lost2']);
      const made = (players: Players = 'none') =>
        [1, 2].map((n) => counted(`new${n}`, { createdAt: 7, replaces: `lost${n}`, players }));
      expect(decide({ ...counts, instances: [...lost, ...made()] })).toEqual([]);
      const back = (players: Players = 'none') => lost.map(({ id }) => counted(id, { players }));
      expect(decide({ ...counts, instances: [...back(), ...made()] })).toEqual([]);
      expect(decide({ ...counts, instances: [...back(), ...made('some')] })).toEqual([
        'remove lost1',
        'remove lost2',
      ]);
      expect(decide({ ...counts, instances: [...back('some'), ...made('some')] })).toEqual([
        'remove new1',
        'remove new2',
      ]);
    });

    it('counts the replacement of one that is being drained', () => {
      const made = counted('new', { createdAt: 7, replaces: 'old' });
      const old = counted('old', { isDraining: true });
      expect(decide({ maximum: 1, instances: [old, made] })).toEqual(['remove new']);
    });

    it('does not count what a node that is back has not reported yet', () => {
      const instances = [counted('a', { knowledge: 'awaits-report' }), counted('b', { createdAt: 7 })];
      expect(decide({ maximum: 1, instances })).toEqual([]);
      expect(decide({ maximum: 1, instances: [counted('a'), counted('b', { createdAt: 7 })] })).toEqual([
        'remove b',
      ]);
    });
  });

  describe('in place of instances on lost nodes', () => {
    const lost = (id: string, fields: Partial<CountedInstance> = {}) =>
      counted(id, { state: 'OFFLINE', node: 'lost', ...fields });

    it('says which one it makes each for: the oldest first, those of clients last', () => {
      const instances = [
        lost('c', { createdAt: 3 }),
        lost('b', { createdAt: 2 }),
        lost('m', { maker: 'client' }),
      ];
      expect(decide({ minimum: 3, instances })).toEqual(['create 3 (streak 0) for b c m']);
      expect(decide({ minimum: 1, instances })).toEqual(['create 1 (streak 0) for b']);
      expect(decide({ minimum: 4, instances })).toEqual(['create 4 (streak 0) for b c m']);
    });

    it('makes none for one that has a replacement, or that is itself the lost replacement of a lost one', () => {
      const made = counted('new', { replaces: 'a' });
      expect(decide({ minimum: 2, instances: [lost('a'), made, lost('b')] })).toEqual([
        'create 1 (streak 0) for b',
      ]);
      const both = [lost('a'), lost('new', { replaces: 'a' })];
      expect(decide({ minimum: 1, instances: both })).toEqual(['create 1 (streak 0) for a']);
      expect(decide({ minimum: 1, instances: both.slice(1) })).toEqual(['create 1 (streak 0) for new']);
    });

    it('makes none for one that was stopped or deleted', () => {
      const instances = [lost('a', { phase: 'stop' }), lost('b', { phase: 'remove' })];
      expect(decide({ instances })).toEqual(['create 1 (streak 0)']);
    });
  });

  describe('after creations', () => {
    const quitter = counted('quit', { phase: 'quit', state: 'STOPPED' });
    const failed = (streak: number, agoMs: number): Partial<ServiceFacts> => ({
      instances: [quitter],
      history: historyOf(NOW - agoMs, ['quit'], streak),
    });

    it.each<[string, readonly CountedInstance[], boolean]>([
      ['stopped by its own word', [quitter], true],
      ['lost with its node', [counted('quit', { state: 'OFFLINE', node: 'lost' })], true],
      ['stopped by a client', [counted('quit', { phase: 'stop', state: 'STOPPED' })], false],
      ['deleted', [counted('quit', { phase: 'remove' })], false],
      ['gone', [], false],
    ])('counts one that is %s as it should', (_what, instances, hasFailed) => {
      const steps = decide({ instances, history: historyOf(NOW, ['quit']) });
      expect(steps).toEqual(hasFailed ? ['look again in 1000 ms'] : ['create 1 (streak 0)']);
    });

    it('counts a static one that stopped by its own word as failed, although it keeps its slot', () => {
      const history = historyOf(NOW, ['quit']);
      const ofItself = [{ ...quitter, static: true }];
      expect(decide({ minimum: 1, instances: ofItself, history })).toEqual([]);
      expect(decide({ minimum: 2, instances: ofItself, history })).toEqual(['look again in 1000 ms']);
      const byClient = [{ ...quitter, static: true, phase: 'stop' as const }];
      expect(decide({ minimum: 2, instances: byClient, history })).toEqual(['create 1 (streak 0)']);
    });

    it('goes on at once while those stand', () => {
      const history = historyOf(NOW, ['a']);
      expect(decide({ minimum: 2, instances: [counted('a')], history })).toEqual(['create 1 (streak 0)']);
    });

    it('remembers those of earlier creations while they are young, and each failure once', () => {
      const instances = [counted('a'), counted('b')];
      const before = historyOf(NOW - 10_000, ['a', 'b', 'gone']);
      const history = withCreated({ instances, history: before }, ['c'], 0, NOW);
      expect(history.made.map(({ id }) => id)).toEqual(['a', 'b', 'gone', 'c']);
      const failed = [{ ...quitter, id: 'a' }, counted('b'), counted('c')];
      expect(decide({ minimum: 3, instances: failed, history })).toEqual(['look again in 1000 ms']);
      const next = withCreated({ instances: failed, history }, ['d'], 1, NOW + 1000);
      expect(next).toMatchObject({
        made: [{ id: 'b' }, { id: 'gone' }, { id: 'c' }, { id: 'd' }],
        streak: 1,
      });
      const old = withCreated({ instances, history: before }, ['c'], 0, NOW - 10_000 + YOUNG_MS);
      expect(old.made.map(({ id }) => id)).toEqual(['c']);
    });

    it('waits a second when one of them failed young', () => {
      expect(decide(failed(0, 0))).toEqual(['look again in 1000 ms']);
      expect(decide(failed(0, 400))).toEqual(['look again in 600 ms']);
      expect(decide(failed(0, 1000))).toEqual(['create 1 (streak 1)']);
    });

    it.each([
      [1, 2000],
      [2, 4000],
      [3, 8000],
      [5, 32_000],
      [6, 60_000],
      [40, 60_000],
    ])('doubles the wait up to a minute: after %i such passes it is %i ms', (streak, waitMs) => {
      expect(decide(failed(streak, 0))).toEqual([`look again in ${waitMs} ms`]);
      expect(decide(failed(streak, waitMs))).toEqual([`create 1 (streak ${streak + 1})`]);
    });

    it('forgets the failures when the last creations lived long enough', () => {
      expect(decide(failed(0, YOUNG_MS))).toEqual(['create 1 (streak 0)']);
      expect(decide(failed(3, YOUNG_MS + 3999))).toEqual(['create 1 (streak 4)']);
      expect(decide(failed(3, YOUNG_MS + 4000))).toEqual(['create 1 (streak 0)']);
    });
  });
});
