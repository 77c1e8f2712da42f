/** The decisions on instances that a caller wants moved, and on pairs that no caller moves any more. */
import { describe, expect, it } from 'vitest';
import type {
  FamilyFacts,
  Original,
  Replacement,
  Victim,
} from '../../../controllers/master/replacement/facts.js';
import { atOnce, planMoves } from '../../../controllers/master/replacement/moves.js';
import { plan } from '../../../controllers/master/replacement/plan.js';
import { judgeAll } from '../../../controllers/master/replacement/verdict.js';
import { FULL, NOWHERE, replacement, victim } from '../../support/control-plane/victims.js';

const MINUTE = 60_000;

function decide(victims: readonly Victim[], remainingMs = 4 * MINUTE): string[] {
  const { steps, recheckInMs } = planMoves(judgeAll({ victims, remainingMs }), remainingMs);
  const said = steps.map((step) =>
    step.do === 'remove' ? `remove ${step.id}: ${step.why}` : `${step.do} ${step.id}`,
  );
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs / MINUTE} min`];
}

function resolve(
  original: Partial<Original> | 'gone' | 'away',
  replacements: readonly Partial<Replacement>[],
  fields: Partial<FamilyFacts> = {},
): string[] {
  const { steps } = plan({
    id: 'a',
    original: typeof original === 'string' ? original : victim('a', original),
    replacements: replacements.map((one) => replacement(one)),
    isMoving: false,
    ...fields,
  });
  return steps.map(({ id, why }) => `remove ${id}: ${why}`);
}

describe('the pace of moves', () => {
  it.each<[string, Victim, string[]]>([
    ['makes a replacement before anything is stopped', victim('a'), ['create a']],
    [
      'waits for the replacement to be ONLINE',
      victim('a', { replacement: replacement({ state: 'CREATING' }) }),
      [],
    ],
    [
      'removes what has been replaced',
      victim('a', { replacement: replacement() }),
      ['remove a: new has taken its place'],
    ],
    [
      'removes what has a replacement that did its work and finished',
      victim('a', { replacement: replacement({ state: 'STOPPED', isUp: true }) }),
      ['remove a: new has taken its place'],
    ],
    [
      'waits for players, and looks again at the deadline',
      victim('a', { replacement: replacement(), players: 3 }),
      ['look again in 4 min'],
    ],
    ['replaces at once what is not up', victim('a', { isUp: false }), ['replace a']],
    [
      'waits for nobody when what is replaced is not up',
      victim('a', { isUp: false, replacement: replacement({ state: 'CREATING' }) }),
      ['remove a: new has taken its place'],
    ],
    ['stops first where the maximum allows none beside it', victim('a', { outlook: FULL }), ['replace a']],
    [
      'waits for players before it stops first',
      victim('a', { outlook: FULL, players: 1 }),
      ['look again in 4 min'],
    ],
    ['leaves alone what has nowhere to go', victim('a', { outlook: NOWHERE }), []],
    ['leaves alone what has nowhere to go, up or not', victim('a', { outlook: NOWHERE, isUp: false }), []],
    [
      'takes back a replacement, of which the original is replaced anew',
      victim('a', { spareFor: 'old' }),
      ['remove a: what it was made to replace still stands'],
    ],
    ['waits for what is being stopped', victim('a', { goal: 'ending' }), []],
  ])('%s', (_what, instance, steps) => {
    expect(decide([instance])).toEqual(steps);
  });

  it('waits for no player after the deadline', () => {
    const instances = [
      victim('a', { players: 3, replacement: replacement() }),
      victim('b', { players: 3, outlook: FULL }),
    ];
    expect(decide(instances, 0)).toEqual(['remove a: new has taken its place', 'replace b']);
  });

  it('moves a fifth at a time, and counts what starts and what ends', () => {
    expect([1, 10, 11, 200].map(atOnce)).toEqual([2, 2, 3, 40]);
    const starting = victim('s', { replacement: replacement({ state: 'CREATING' }) });
    const others = ['a', 'b', 'c', 'd'].map((id) => victim(id));
    expect(decide([starting, ...others])).toEqual(['create a']);
    expect(decide([starting, victim('e', { goal: 'ending' }), ...others])).toEqual([]);
  });

  it('makes the next replacement when the one before has its place, or has none', () => {
    const placing = victim('p', { replacement: replacement({ state: 'CREATING', isAnswered: false }) });
    expect(decide([placing, victim('a'), victim('b')])).toEqual([]);
    expect(decide([victim('a'), victim('b')])).toEqual(['create a']);
  });

  it('is not held up by players or by what has nowhere to go', () => {
    const waiting = ['p', 'q', 'r'].map((id) => victim(id, { players: 1, replacement: replacement() }));
    const stuck = ['s', 't', 'u'].map((id) => victim(id, { outlook: NOWHERE }));
    expect(decide([...waiting, ...stuck, victim('a')])).toEqual(['create a', 'look again in 4 min']);
  });

  it('looks again at what has nowhere to go only because of ports that come free by themselves', () => {
    const outlook = { ...NOWHERE, recheckInMs: MINUTE };
    const waiting = victim('p', { players: 1, replacement: replacement() });
    expect(decide([victim('a', { outlook })])).toEqual(['look again in 1 min']);
    expect(decide([victim('a', { outlook }), waiting])).toEqual(['look again in 1 min']);
  });
});

describe('an original and its replacements', () => {
  const TAKEN = ['remove a: new has taken its place'];
  const BACK = ['remove new: a, which it replaced, is there'];

  it.each<[string, Partial<Original>, Partial<Replacement>, string[]]>([
    ['takes back a replacement that is not up yet', {}, { state: 'CREATING' }, BACK],
    ['takes back one that nobody uses', {}, {}, BACK],
    ['takes back one that nobody uses, also when the original is used', { players: 1 }, {}, BACK],
    ['keeps one that is used, and ends the original', {}, { players: 2 }, TAKEN],
    ['keeps both while both are used', { players: 1 }, { players: 2 }, []],
    ['keeps the one that is up', { isUp: false }, {}, TAKEN],
    ['keeps the original when neither is up', { isUp: false }, { state: 'OFFLINE' }, BACK],
    ["keeps a client's original beside a used replacement", { maker: 'client' }, { players: 2 }, []],
    ["keeps a client's original that is not up", { maker: 'client', isUp: false }, {}, BACK],
    [
      'ends an original whose replacement took over its maker with its place',
      { maker: 'client' },
      { maker: 'client', players: 2 },
      TAKEN,
    ],
  ])('%s', (_what, old, made, steps) => {
    expect(resolve(old, [made])).toEqual(steps);
  });

  it('are left alone while a caller moves the original, or while its node has yet to report it', () => {
    expect(resolve({}, [{}], { isMoving: true })).toEqual([]);
    expect(resolve('away', [{}, { id: 'more' }])).toEqual([]);
    expect(resolve('away', [{}, { id: 'more' }], { isMoving: true })).toEqual([]);
    expect(resolve({}, [])).toEqual([]);
  });

  it('are resolved one by one when the original is there', () => {
    expect(resolve({}, [{ players: 1 }, { id: 'more', players: 1 }])).toEqual(TAKEN);
    expect(resolve({ players: 1 }, [{ players: 1 }, { id: 'more' }])).toEqual([
      'remove more: a, which it replaced, is there',
    ]);
  });

  it.each<[string, Partial<Replacement>[], string[]]>([
    ['one is kept', [{}], []],
    ['the oldest of two', [{}, { id: 'more' }], ['remove more: new replaces the same instance']],
    [
      'the one that is up',
      [{ state: 'CREATING' }, { id: 'more' }],
      ['remove new: more replaces the same instance'],
    ],
    [
      'the one that is used',
      [{}, { id: 'more', players: 1 }],
      ['remove new: more replaces the same instance'],
    ],
    ['all that are used', [{ players: 1 }, { id: 'more', players: 1 }], []],
  ])('of several for an original that is not there: %s', (_what, made, steps) => {
    expect(resolve('gone', made)).toEqual(steps);
    expect(resolve('gone', made, { isMoving: true }), 'whoever moved it').toEqual(steps);
  });
});
