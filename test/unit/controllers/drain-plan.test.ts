/** When a drain is done, and how far it has come: facts in, steps and words out. */
import { describe, expect, it } from 'vitest';
import { type DrainFacts, moveOf, plan, progressOf } from '../../../controllers/master/drain/plan.js';
import type { Victim } from '../../../controllers/master/replacement/facts.js';
import { FULL, NOWHERE, replacement, victim } from '../../support/control-plane/victims.js';

const MINUTE = 60_000;

function factsOf(victims: readonly Victim[], fields: Partial<DrainFacts> = {}): DrainFacts {
  const drain = { since: 0, deadline: 10 * MINUTE, doneAt: null };
  const node = { nodeId: 'alpha', condition: 'connected', drain, setAside: [] } as const;
  return { ...node, remainingMs: 4 * MINUTE, victims, ...fields };
}

function decide(facts: DrainFacts): string[] {
  return plan(facts).steps.map((step) => {
    if (step.do === 'set-done') return step.isDone ? 'done' : 'not done';
    return `${step.do} ${step.id}`;
  });
}

describe('the plan of a drain', () => {
  it('moves what is on the node', () => {
    const busy = victim('b', { players: 1, replacement: replacement() });
    expect(plan(factsOf([victim('a'), busy]))).toEqual({
      steps: [{ do: 'create', id: 'a' }],
      recheckInMs: 4 * MINUTE,
    });
  });

  it('is done when nothing but static instances is left, and says so once', () => {
    const instances = [victim('a', { static: true })];
    expect(decide(factsOf(instances))).toEqual(['done']);
    const drain = { since: 0, deadline: 0, doneAt: 5 };
    expect(decide(factsOf(instances, { drain }))).toEqual([]);
    expect(decide(factsOf([victim('b')], { drain }))).toEqual(['create b', 'not done']);
    expect(decide(factsOf([]))).toEqual(['done']);
  });

  it.each(['lost', 'returning'] as const)('does nothing while the node is %s', (condition) => {
    const victims = [victim('a'), victim('b', { replacement: replacement() })];
    expect(decide(factsOf(victims, { condition }))).toEqual([]);
  });
});

describe('the progress of a drain', () => {
  it('names what nothing can move, and is done all the same', () => {
    expect(progressOf(factsOf([], { setAside: ['abc123'] }))).toMatchObject({
      isDrained: true,
      waitingFor: ['abc123 stays: its record cannot be read, so nothing can move it'],
    });
  });

  it('names what it waits for and what stays', () => {
    const facts = factsOf([
      victim('abc123', { players: 3, replacement: replacement() }),
      victim('bcd234', { players: 1, outlook: FULL }),
      victim('cde345', { replacement: replacement({ state: 'CREATING', message: 'installing' }) }),
      victim('efg567', { outlook: NOWHERE }),
      victim('fgh678', { goal: 'ending' }),
      victim('ghi789'),
      victim('def456', { static: true }),
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
    const many = Array.from({ length: 300 }, (_, index) => victim(`i${index}`, { outlook: NOWHERE }));
    const { waitingFor, left } = progressOf(factsOf(many));
    expect(left).toBe(300);
    expect(waitingFor).toHaveLength(21);
    expect(waitingFor.at(-1)).toBe('and 280 more of these');
  });

  it('says that a lost node must come back or be forgotten, and that a drained one is drained', () => {
    const lost = progressOf(factsOf([victim('a')], { condition: 'lost' }));
    expect(lost.waitingFor).toEqual([
      'alpha is lost: its instances can only be stopped when it is back (or "cluster forget alpha")',
    ]);
    expect(progressOf(factsOf([]))).toMatchObject({ isDrained: true, left: 0, waitingFor: [] });
  });
});
