/** What becomes of the instances of a node that is being drained: facts in, steps and words out. */
import { describe, expect, it } from 'vitest';
import type { DrainFacts, HeldInstance, Replacement } from '../../../controllers/master/drain/facts.js';
import { atOnce, plan } from '../../../controllers/master/drain/plan.js';
import { moveOf, progressOf } from '../../../controllers/master/drain/progress.js';

const MINUTE = 60_000;
const FITS = { obstacle: null, isAtMaximum: false };
const NOWHERE = { obstacle: '0/2 nodes fit: 1 short of RAM (need 100 MB, free 5 MB)', isAtMaximum: false };
const FULL = { obstacle: null, isAtMaximum: true };

function held(id: string, fields: Partial<HeldInstance> = {}): HeldInstance {
  return {
    id,
    configurationName: 'lobby',
    goal: 'run',
    static: false,
    isUp: true,
    players: 0,
    replacement: undefined,
    isSpare: false,
    outlook: FITS,
    ...fields,
  };
}

function replacement(fields: Partial<Replacement> = {}): Replacement {
  const isUp = (fields.state ?? 'ONLINE') === 'ONLINE';
  return { id: 'new', state: 'ONLINE', isUp, message: null, players: 0, isJudged: true, ...fields };
}

function factsOf(instances: readonly HeldInstance[], fields: Partial<DrainFacts> = {}): DrainFacts {
  const drain = { since: 0, deadline: 10 * MINUTE, doneAt: null };
  return { nodeId: 'alpha', condition: 'connected', drain, remainingMs: 4 * MINUTE, instances, ...fields };
}

function decide(facts: DrainFacts): string[] {
  const { steps, recheckInMs } = plan(facts);
  const said = steps.map((step) => {
    switch (step.do) {
      case 'remove':
        return `remove ${step.id}: ${step.why}`;
      case 'set-done':
        return step.isDone ? 'done' : 'not done';
      default:
        return `${step.do} ${step.id}`;
    }
  });
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs / MINUTE} min`];
}

describe('the plan of a drain', () => {
  it.each<[string, HeldInstance, string[]]>([
    ['makes a replacement before anything is stopped', held('a'), ['create a']],
    [
      'waits for the replacement to be ONLINE',
      held('a', { replacement: replacement({ state: 'CREATING' }) }),
      [],
    ],
    [
      'removes what has been replaced',
      held('a', { replacement: replacement() }),
      ['remove a: new has taken its place'],
    ],
    [
      'removes what has a replacement that did its work and finished',
      held('a', { replacement: replacement({ state: 'STOPPED', isUp: true }) }),
      ['remove a: new has taken its place'],
    ],
    [
      'waits for players, and looks again at the deadline',
      held('a', { replacement: replacement(), players: 3 }),
      ['look again in 4 min'],
    ],
    ['replaces at once what is not up', held('a', { isUp: false }), ['replace a']],
    [
      'waits for nobody when what is replaced is not up',
      held('a', { isUp: false, replacement: replacement({ state: 'CREATING' }) }),
      ['remove a: new has taken its place'],
    ],
    ['stops first where the maximum allows none beside it', held('a', { outlook: FULL }), ['replace a']],
    [
      'waits for players before it stops first',
      held('a', { outlook: FULL, players: 1 }),
      ['look again in 4 min'],
    ],
    ['leaves alone what has nowhere to go', held('a', { outlook: NOWHERE }), []],
    ['leaves alone what has nowhere to go, up or not', held('a', { outlook: NOWHERE, isUp: false }), []],
    [
      'takes back a replacement, of which the original is replaced anew',
      held('a', { isSpare: true }),
      ['remove a: what it was made to replace still stands'],
    ],
    ['waits for what is being stopped', held('a', { goal: 'ending' }), []],
  ])('%s', (_what, instance, steps) => {
    expect(decide(factsOf([instance]))).toEqual(steps);
  });

  it('waits for no player after the deadline', () => {
    const instances = [
      held('a', { players: 3, replacement: replacement() }),
      held('b', { players: 3, outlook: FULL }),
    ];
    expect(decide(factsOf(instances, { remainingMs: 0 }))).toEqual([
      'remove a: new has taken its place',
      'replace b',
    ]);
  });

  it('is done when nothing but static instances is left, and says so once', () => {
    const instances = [held('a', { static: true })];
    expect(decide(factsOf(instances))).toEqual(['done']);
    const drain = { since: 0, deadline: 0, doneAt: 5 };
    expect(decide(factsOf(instances, { drain }))).toEqual([]);
    expect(decide(factsOf([held('b')], { drain }))).toEqual(['create b', 'not done']);
    expect(decide(factsOf([]))).toEqual(['done']);
  });

  it('moves a fifth at a time, and counts what starts and what ends', () => {
    expect([1, 10, 11, 200].map(atOnce)).toEqual([2, 2, 3, 40]);
    const starting = held('s', { replacement: replacement({ state: 'CREATING' }) });
    const others = ['a', 'b', 'c', 'd'].map((id) => held(id));
    expect(decide(factsOf([starting, ...others]))).toEqual(['create a']);
    expect(decide(factsOf([starting, held('e', { goal: 'ending' }), ...others]))).toEqual([]);
  });

  it('makes the next replacement when the one before has its place, or has none', () => {
    const placing = held('p', { replacement: replacement({ state: 'CREATING', isJudged: false }) });
    expect(decide(factsOf([placing, held('a'), held('b')]))).toEqual([]);
    expect(decide(factsOf([held('a'), held('b')]))).toEqual(['create a']);
  });

  it('is not held up by players or by what has nowhere to go', () => {
    const waiting = ['p', 'q', 'r'].map((id) => held(id, { players: 1, replacement: replacement() }));
    const stuck = ['s', 't', 'u'].map((id) => held(id, { outlook: NOWHERE }));
    expect(decide(factsOf([...waiting, ...stuck, held('a')]))).toEqual(['create a', 'look again in 4 min']);
  });

  it.each(['lost', 'returning'] as const)('does nothing while the node is %s', (condition) => {
    const instances = [held('a'), held('b', { replacement: replacement() })];
    expect(decide(factsOf(instances, { condition }))).toEqual([]);
    expect(decide(factsOf(instances, { condition, drain: undefined }))).toEqual([]);
  });
});

describe('a drain that was called off', () => {
  it.each<[string, Partial<HeldInstance>, Partial<Replacement>, string[]]>([
    [
      'takes back a replacement that is not up yet',
      {},
      { state: 'CREATING' },
      ['remove new: a stays, the drain of its node was called off'],
    ],
    [
      'takes back one that nobody uses',
      {},
      {},
      ['remove new: a stays, the drain of its node was called off'],
    ],
    [
      'keeps one that is used, and ends the old one',
      {},
      { players: 2 },
      ['remove a: new has taken its place'],
    ],
    ['keeps both when both are used', { players: 1 }, { players: 2 }, ['release new']],
    ['keeps the one that is up', { isUp: false }, {}, ['remove a: new has taken its place']],
    ['lets an old one end that was removed already', { goal: 'ending' }, {}, []],
  ])('%s', (_what, old, made, steps) => {
    const instance = held('a', { ...old, replacement: replacement(made) });
    expect(decide(factsOf([instance], { drain: undefined }))).toEqual(steps);
  });

  it('leaves everything else alone', () => {
    expect(decide(factsOf([held('a'), held('b', { isUp: false })], { drain: undefined }))).toEqual([]);
  });
});

describe('the progress of a drain', () => {
  it('names what it waits for and what stays', () => {
    const facts = factsOf([
      held('abc123', { players: 3, replacement: replacement() }),
      held('bcd234', { players: 1, outlook: FULL }),
      held('cde345', { replacement: replacement({ state: 'CREATING', message: 'installing' }) }),
      held('efg567', { outlook: NOWHERE }),
      held('fgh678', { goal: 'ending' }),
      held('ghi789'),
      held('def456', { static: true }),
    ]);
    expect(progressOf(facts)).toEqual({
      since: 0,
      deadline: 10 * MINUTE,
      remainingMs: 4 * MINUTE,
      isDrained: false,
      left: 6,
      waitingFor: [
        'waiting for 3 players on abc123, 4 min left',
        'waiting for 1 player on bcd234, 4 min left; it is stopped before its replacement starts: maximumServiceCount of lobby allows none beside it',
        'waiting for new, which replaces cde345: CREATING, installing',
        'efg567 (lobby) has nowhere to go: 0/2 nodes fit: 1 short of RAM (need 100 MB, free 5 MB)',
        'stopping fgh678',
        '1 instance to be moved, 2 at a time',
        '1 static instance stays: def456',
      ],
    });
    expect(moveOf(facts, 'abc123')).toBe('waiting for 3 players on abc123, 4 min left');
    expect(moveOf(facts, 'def456')).toBe('def456 is static and stays: its files are here');
    expect(moveOf(facts, 'nobody')).toBeUndefined();
  });

  it('is short however many instances there are', () => {
    const many = Array.from({ length: 300 }, (_, index) => held(`i${index}`, { outlook: NOWHERE }));
    const { waitingFor, left } = progressOf(factsOf(many)) ?? { waitingFor: [], left: 0 };
    expect(left).toBe(300);
    expect(waitingFor).toHaveLength(21);
    expect(waitingFor.at(-1)).toBe('and 280 more of these');
  });

  it('says that a lost node must come back or be forgotten, and that a drained one is drained', () => {
    const lost = progressOf(factsOf([held('a')], { condition: 'lost' }));
    expect(lost?.waitingFor).toEqual([
      'alpha is lost: its instances can only be stopped when it is back (or "cluster forget alpha")',
    ]);
    expect(progressOf(factsOf([]))).toMatchObject({ isDrained: true, left: 0, waitingFor: [] });
    expect(progressOf(factsOf([], { drain: undefined }))).toBeUndefined();
  });
});
