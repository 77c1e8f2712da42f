/** What a directory and the shared state do to each other: every case of one name, and orders of edits. */
import { describe, expect, it } from 'vitest';
import { type Base, judge, planView, type ViewFacts } from '../../../controllers/master/directories/plan.js';

const base = (hash: string, next?: string): Base => ({ hash, next });

describe('one name', () => {
  it.each<[here: string, base: string, there: string, isDeleted: boolean, verdict: string]>([
    ['-', '-', '-', false, 'settled'],
    ['-', 'a', '-', false, 'agree'],
    ['a', '-', 'a', false, 'agree'],
    ['a', 'a', 'a', false, 'settled'],
    ['a', 'b', 'a', false, 'agree'],
    ['a', 'a>b', 'a', false, 'agree'],
    ['b', 'a>b', 'b', false, 'agree'],
    // Missing here.
    ['-', '-', 'a', false, 'write-here'],
    ['-', 'a', 'a', false, 'write-here'],
    ['-', 'a', 'b', false, 'write-here'],
    ['-', '-', 'a', true, 'write-here'],
    ['-', 'a', 'a', true, 'remove-there'],
    ['-', 'a', 'b', true, 'write-here'],
    ['-', 'a>b', 'b', true, 'write-here'],
    // As it was.
    ['a', 'a', 'b', false, 'write-here'],
    ['a', 'a', '-', false, 'remove-here'],
    ['b', 'a>b', 'c', false, 'write-here'],
    ['a', 'a>b', 'c', false, 'write-here'],
    ['b', 'a>b', '-', false, 'remove-here'],
    // Changed here.
    ['b', 'a', 'a', false, 'write-there'],
    ['c', 'a>b', 'a', false, 'write-there'],
    ['c', 'a>b', 'b', false, 'both-changed'],
    ['b', 'a', 'c', false, 'both-changed'],
    ['b', 'a', '-', false, 'removed-there'],
    // Nothing is known of the base.
    ['a', '-', '-', false, 'write-there'],
    ['a', '-', 'b', false, 'unknown-base'],
  ])('here %s, base %s, there %s, deleted %s: %s', (here, known, there, isDeleted, verdict) => {
    const one = (text: string): string | undefined => (text === '-' ? undefined : text);
    const [hash, next] = known.split('>');
    const sides = { here: one(here), there: one(there), isDeleted };
    expect(judge({ ...sides, base: known === '-' ? undefined : base(hash ?? '', next) })).toBe(verdict);
  });

  it('never loses what only one side has, whatever else holds', () => {
    const contents = [undefined, 'a', 'b', 'c'];
    const bases = [
      undefined,
      ...['a', 'b'].flatMap((hash) => [base(hash), base(hash, 'a'), base(hash, 'b')]),
    ];
    for (const here of contents)
      for (const there of contents)
        for (const known of bases)
          for (const isDeleted of here === undefined ? [false, true] : [false]) {
            const verdict = judge({ here, base: known, there, isDeleted });
            const was = [known?.hash, known?.next];
            // Only what was the same on both sides before is overwritten or removed here.
            if (verdict === 'remove-here' || (verdict === 'write-here' && here !== undefined))
              expect(was).toContain(here);
            if (verdict === 'write-there' && there !== undefined) expect(there).toBe(known?.hash);
            if (verdict === 'remove-there') expect([isDeleted, there]).toEqual([true, known?.hash]);
          }
  });
});

describe('a plan', () => {
  const facts = (some: Partial<Record<keyof ViewFacts, Readonly<Record<string, string>>>>): ViewFacts => ({
    here: new Map(Object.entries(some.here ?? {})),
    there: new Map(Object.entries(some.there ?? {})),
    bases: new Map(Object.entries(some.bases ?? {}).map(([name, hash]) => [name, base(hash)])),
    gone: Object.keys(some.gone ?? {}),
    waiting: new Set(),
    doRemovalsWait: false,
    confirmed: new Set(),
    isAlone: false,
    undecided: new Set(Object.keys(some.undecided ?? {})),
  });

  it('is empty when both sides agree', () => {
    const same = { x: 'a' };
    expect(planView(facts({ here: same, there: same, bases: same }))).toMatchObject({
      steps: [],
      conflicts: [],
    });
  });

  it('notes first, then changes the directory, and writes the state before it removes from it', () => {
    const { steps, conflicts } = planView(
      facts({
        here: { agreed: '1', edited: '2', made: '1', old: '1', gone: '1', both: '2' },
        there: { agreed: '1', edited: '1', old: '2', missing: '1', deleted: '1', both: '3' },
        bases: { edited: '1', old: '1', gone: '1', deleted: '1', both: '1' },
        gone: { deleted: '' },
      }),
    );
    expect(steps).toEqual([
      {
        do: 'note',
        bases: [
          { name: 'agreed', base: { hash: '1' } },
          { name: 'missing', base: { hash: '', next: '1' } },
          { name: 'old', base: { hash: '1', next: '2' } },
        ],
        waiting: new Set(),
      },
      {
        do: 'change-here',
        changes: [
          { name: 'missing', hash: '1', present: undefined },
          { name: 'old', hash: '2', present: '1' },
          { name: 'gone', hash: undefined, present: '1' },
        ],
      },
      {
        do: 'write-there',
        changes: [
          { name: 'edited', hash: '2', expected: '1' },
          { name: 'made', hash: '1', expected: undefined },
        ],
      },
      { do: 'remove-there', removals: [{ name: 'deleted', expected: '1' }] },
      { do: 'tell-hindrance' },
    ]);
    expect(conflicts).toEqual([{ name: 'both', kind: 'both-changed' }]);
  });

  it('of the only master takes all records as its bases, and never writes here', () => {
    const sides = {
      here: { new: '1', edited: '2', same: '1' },
      there: { edited: '1', same: '1', other: '1' },
    };
    expect(planView({ ...facts({ ...sides, bases: { edited: '0' } }), isAlone: true })).toMatchObject({
      steps: [
        {
          do: 'write-there',
          changes: [
            { name: 'edited', hash: '2', expected: '1' },
            { name: 'new', hash: '1', expected: undefined },
          ],
        },
      ],
      conflicts: [],
    });
  });

  it('leaves alone what cannot be judged', () => {
    const undecided = { x: '', y: '', z: '' };
    const sides = { here: { x: 'a', y: 'a' }, there: { y: 'b', z: 'a' } };
    expect(planView(facts({ ...sides, undecided })).steps).toEqual([]);
  });
});
