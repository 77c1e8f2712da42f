/** The decisions of minimum-service: facts in, steps out as text. */
import { describe, expect, it } from 'vitest';
import {
  type CountedInstance,
  plan,
  type ServiceFacts,
  YOUNG_MS,
} from '../../../controllers/master/minimum-service/plan.js';

const NOW = 1_000_000;

function instance(id: string, fields: Partial<CountedInstance> = {}): CountedInstance {
  return {
    id,
    goal: 'run',
    state: 'ONLINE',
    static: false,
    createdAt: 0,
    hasFinished: false,
    node: 'connected',
    ...fields,
  };
}

function decide(fields: Partial<ServiceFacts>, now = NOW): string[] {
  const facts: ServiceFacts = {
    name: 'lobby',
    minimum: 1,
    maximum: undefined,
    instances: [],
    history: undefined,
    ...fields,
  };
  const { steps, recheckInMs } = plan(facts, now);
  const said = steps.map((step) =>
    step.do === 'create' ? `create ${step.count} (streak ${step.streak})` : `stop ${step.id}`,
  );
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
}

describe('the plan of the minimum-service enforcer', () => {
  it('creates what is missing', () => {
    expect(decide({ minimum: 3, instances: [instance('a')] })).toEqual(['create 2 (streak 0)']);
  });

  it('has no steps when enough stand, and stops nothing that is above the minimum', () => {
    expect(decide({ minimum: 2, instances: [instance('a'), instance('b')] })).toEqual([]);
    expect(decide({ minimum: 0, instances: [instance('a'), instance('b')] })).toEqual([]);
  });

  it('creates at most 20 in one pass', () => {
    expect(decide({ minimum: 50 })).toEqual(['create 20 (streak 0)']);
  });

  it.each<[string, Partial<CountedInstance>, boolean]>([
    ['one that is being created', { state: 'CREATING', node: null }, true],
    ['one that runs', { state: 'ONLINE' }, true],
    ['one that restarts in place', { state: 'OFFLINE', node: 'connected' }, true],
    ['one whose node will be back', { state: 'OFFLINE', node: 'returning' }, true],
    ['one that has no node and is said to be OFFLINE', { state: 'OFFLINE', node: null }, true],
    ['one on a lost node', { state: 'OFFLINE', node: 'lost' }, false],
    ['a static one on a lost node', { state: 'OFFLINE', node: 'lost', static: true }, true],
    ['one that was stopped', { goal: 'stop', state: 'STOPPED' }, false],
    ['one that is still stopping', { goal: 'stop', state: 'ONLINE' }, false],
    ['a static one that was stopped', { goal: 'stop', state: 'STOPPED', static: true }, true],
    ['one that is being removed', { goal: 'remove' }, false],
    ['a static one that is being removed', { goal: 'remove', static: true }, false],
    ['one that said STOPPED of itself', { state: 'STOPPED' }, false],
    ['one that its restart policy does not start again', { state: 'STOPPED', hasFinished: true }, true],
    ['such a one on a lost node', { state: 'STOPPED', hasFinished: true, node: 'lost' }, true],
    ['such a one that is being removed', { goal: 'remove', state: 'STOPPED', hasFinished: true }, false],
  ])('counts %s as it should', (_what, fields, counts) => {
    expect(decide({ instances: [instance('a', fields)] })).toEqual(counts ? [] : ['create 1 (streak 0)']);
  });

  describe('with an instance whose record is set aside', () => {
    const setAside = instance('a', { state: 'OFFLINE', isSetAside: true });

    it('counts it, unless its node is lost', () => {
      expect(decide({ minimum: 1, instances: [setAside] })).toEqual([]);
      expect(decide({ minimum: 1, instances: [{ ...setAside, node: 'lost' }] })).toEqual([
        'create 1 (streak 0)',
      ]);
    });

    it('stops others above the maximum, and never this one', () => {
      const other = instance('b', { createdAt: 5 });
      expect(decide({ maximum: 1, instances: [setAside, other] })).toEqual(['stop b']);
      expect(decide({ minimum: 0, maximum: 0, instances: [setAside] })).toEqual([]);
    });
  });

  describe('with a maximum', () => {
    it('creates no more than that', () => {
      expect(decide({ minimum: 5, maximum: 2 })).toEqual(['create 2 (streak 0)']);
      expect(decide({ minimum: 5, maximum: 0 })).toEqual([]);
    });

    it('stops the youngest, and of the same age the later id', () => {
      const instances = [
        instance('c', { createdAt: 5 }),
        instance('b', { createdAt: 9 }),
        instance('a', { createdAt: 9 }),
        instance('d', { createdAt: 1 }),
      ];
      expect(decide({ maximum: 2, instances })).toEqual(['stop a', 'stop b']);
      expect(decide({ maximum: 3, instances })).toEqual(['stop b']);
    });

    it('leaves those alone that were stopped already', () => {
      const stopped = instance('b', { goal: 'stop', state: 'STOPPED' });
      expect(decide({ maximum: 1, instances: [instance('a'), stopped] })).toEqual([]);
    });

    it('replaces what is on a lost node without stopping the replacements again', () => {
      const lost = [1, 2].map((n) => instance(`lost${n}`, { state: 'OFFLINE', node: 'lost' }));
      expect(decide({ minimum: 2, maximum: 2, instances: lost })).toEqual(['create 2 (streak 0)']);
      const replacements = [1, 2].map((n) => instance(`new${n}`, { createdAt: 7 }));
      expect(decide({ minimum: 2, maximum: 2, instances: [...lost, ...replacements] })).toEqual([]);
      const returned = lost.map(({ id }) => instance(id));
      expect(decide({ minimum: 2, maximum: 2, instances: [...returned, ...replacements] })).toEqual([
        'stop new1',
        'stop new2',
      ]);
    });
  });

  describe('after creations', () => {
    const failed = (streak: number, agoMs: number): Partial<ServiceFacts> => ({
      history: { at: NOW - agoMs, ids: ['gone'], streak },
    });

    it('goes on at once while those stand', () => {
      const history = { at: NOW, ids: ['a'], streak: 0 };
      expect(decide({ minimum: 2, instances: [instance('a')], history })).toEqual(['create 1 (streak 0)']);
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
