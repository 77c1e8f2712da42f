/** The plan of a rollout as a table: facts in, steps out as text. */
import { describe, expect, it } from 'vitest';
import type { Member, RolloutFacts } from '../../../controllers/master/rollout/facts.js';
import { plan, type RolloutStep } from '../../../controllers/master/rollout/plan.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { updateSchema } from '../../../src/model/update.js';
import { rolloutRecord } from '../../support/control-plane/records.js';
import { FITS } from '../../support/control-plane/victims.js';

const old = (id: string, fields: Partial<Member> = {}): Member => ({
  id,
  createdAt: Number(id.slice(1)),
  content: 'outdated',
  revision: 'old',
  static: false,
  up: { forMs: 60_000 },
  hasRestarted: false,
  players: 'unknown',
  role: { is: 'first' },
  node: 'here',
  isMarked: false,
  message: null,
  ...fields,
});
const down = (id: string, fields: Partial<Member> = {}): Member => old(id, { up: null, ...fields });
const fresh = (id: string, fields: Partial<Member> = {}): Member =>
  old(id, { content: 'current', revision: 'new', role: { is: 'heir' }, ...fields });

type Given = Partial<Omit<RolloutFacts, 'update'>> & { readonly update?: object };

function stepsOf(members: readonly Member[], { update = {}, ...given }: Given = {}): string[] {
  const facts: RolloutFacts = {
    kind: 'rollout',
    name: 'lobby',
    now: 1000,
    hash: 'new',
    update: updateSchema.parse({ strategy: 'rolling', ...update }),
    rollout: rolloutRecord(),
    isNews: false,
    members,
    leaving: new Set(),
    outlook: FITS,
    agedMs: 0,
    stalledMs: 0,
    templates: {},
    ...given,
  };
  return plan(facts).steps.map(textOf);
}

function textOf(step: RolloutStep): string {
  switch (step.do) {
    case 'write':
      return `${step.rollout.state}${step.rollout.reason === null ? '' : ` ${step.rollout.reason}`}`;
    case 'forget':
      return `forget ${step.name}`;
    case 'mark':
      return `${step.isOutdated ? 'mark' : 'unmark'} ${step.id}`;
    case 'remove':
      return `remove ${step.id} for ${step.staying}`;
    default:
      return `${step.do} ${step.id}`;
  }
}

/** The moves alone: what the record counts is told elsewhere. */
const moves = (...given: Parameters<typeof stepsOf>): string[] =>
  stepsOf(...given).filter((step) => !step.startsWith('rolling'));

const STUCK = { ...FITS, obstacle: '0/1 nodes fit: 1 short of RAM' };

describe('a frozen configuration', () => {
  it('begins no rollout, and lets one that is under way go on', () => {
    const ended = rolloutRecord({ state: 'complete', endedAt: 5, to: 'old' });
    expect(stepsOf([old('a')], { rollout: ended, isNews: true })).toEqual(['rolling']);
    expect(stepsOf([old('a')], { rollout: ended, isNews: true, isFrozen: true })).toEqual([]);
    expect(stepsOf([old('a')], { rollout: undefined, isFrozen: true })).toEqual([]);
    expect(stepsOf([old('a')], { isFrozen: true })).toEqual(stepsOf([old('a')]));
  });
});

describe('the next move', () => {
  it.each<[string, Member[], Given, string[]]>([
    ['one beside the oldest that is free', [old('a2'), old('a1')], {}, ['create a1']],
    ['not up goes before free', [old('a1'), down('a2')], {}, ['replace a2']],
    [
      'free goes before one with players',
      [old('a1', { players: 'some', isMarked: true }), old('a2')],
      {},
      ['create a2'],
    ],
    [
      'no second one while one starts',
      [old('a1'), old('a2'), fresh('a3', { role: { is: 'spare', of: 'a1' }, up: { forMs: 1 } })],
      {},
      [],
    ],
    [
      'a second one with more surge',
      [old('a1'), old('a2'), fresh('a3', { role: { is: 'spare', of: 'a1' }, up: { forMs: 1 } })],
      { update: { maxSurge: 2 } },
      ['create a2'],
    ],
    [
      'a good one lets the old one go, and the next begins after',
      [old('a1'), fresh('a3', { role: { is: 'spare', of: 'a1' } })],
      {},
      ['remove a1 for a3'],
    ],
    [
      'one that is up, but not for long enough, lets nobody go',
      [old('a1'), fresh('a3', { role: { is: 'spare', of: 'a1' }, up: { forMs: 9999 } })],
      {},
      [],
    ],
    [
      'a spare whose room went to somebody else gets the room of its original',
      [old('a1'), old('a2'), fresh('a3', { role: { is: 'spare', of: 'a1' }, up: null, node: 'none' })],
      { outlook: STUCK, update: { maxUnavailable: 1 } },
      ['remove a1 for a3'],
    ],
    [
      'but not while as many are missing as may be',
      [
        old('a1'),
        fresh('a2', { up: { forMs: 5 } }),
        fresh('a3', { role: { is: 'spare', of: 'a1' }, up: null, node: 'none' }),
      ],
      { outlook: STUCK, update: { maxUnavailable: 1 } },
      [],
    ],
    [
      'and not while there is room: it is about to be placed',
      [old('a1'), fresh('a3', { role: { is: 'spare', of: 'a1' }, up: null, node: 'none' })],
      { update: { maxUnavailable: 1 } },
      [],
    ],
    [
      'without surge the old one goes first',
      [old('a1'), old('a2')],
      { update: { maxSurge: 0, maxUnavailable: 1 } },
      ['replace a1'],
    ],
    [
      'and none while as many are missing as may be',
      [old('a1'), fresh('a2', { up: { forMs: 5 } })],
      { update: { maxSurge: 0, maxUnavailable: 1 } },
      [],
    ],
    [
      'one that is down by itself is missing as well',
      [old('a1'), fresh('a2', { up: null })],
      { update: { maxSurge: 0, maxUnavailable: 1 } },
      [],
    ],
    [
      'half of the free ones, not of all',
      [
        old('a1'),
        old('a2'),
        ...[3, 4, 5, 6].map((n) => old(`a${n}`, { players: 'some', isMarked: true })),
        fresh('a7', { up: { forMs: 1 } }),
      ],
      { update: { maxSurge: 0, maxUnavailable: '50%' } },
      [],
    ],
    [
      'at the maximum the old one goes first',
      [old('a1')],
      { outlook: { ...FITS, isAtMaximum: true } },
      ['replace a1'],
    ],
    ['no room, none made', [old('a1')], { outlook: STUCK }, []],
    [
      'no room, but one may be missing',
      [old('a1')],
      { outlook: STUCK, update: { maxSurge: 0, maxUnavailable: 1 } },
      ['replace a1'],
    ],
    [
      'nothing while new ones fail young',
      [down('a1')],
      { outlook: { ...FITS, obstacle: 'wait', recheckInMs: 5, isDelayed: true } },
      [],
    ],
    ['a drain moves what is on its node', [old('a1', { node: 'draining' }), old('a2')], {}, ['create a2']],
    ['what is away is left alone', [down('a1', { node: 'away' })], {}, []],
    [
      'with players alone, one new one is made for the next players',
      [old('a1', { players: 'some', isMarked: true })],
      {},
      ['create a1'],
    ],
    [
      'and no second one',
      [
        old('a1', { players: 'some', isMarked: true }),
        old('a2', { players: 'some', isMarked: true }),
        fresh('a3', { role: { is: 'spare', of: 'a1' } }),
      ],
      { update: { maxSurge: 2 } },
      [],
    ],
    [
      'an empty one goes for the replacement of one that has players',
      [
        old('a1', { players: 'some', isMarked: true }),
        old('a2'),
        fresh('a3', { role: { is: 'spare', of: 'a1' } }),
      ],
      {},
      ['remove a2 for a3'],
    ],
    [
      'players are ignored where that is said',
      [old('a1', { players: 'some' })],
      { update: { players: 'ignore' } },
      ['create a1'],
    ],
    [
      'players are waited for until the deadline',
      [old('a1', { players: 'some', isMarked: true }), fresh('a2', { role: { is: 'first' } })],
      { update: { playersSeconds: 60 }, agedMs: 59_999 },
      [],
    ],
    [
      'and not after it',
      [old('a1', { players: 'some' })],
      { update: { playersSeconds: 60 }, agedMs: 60_000 },
      ['create a1'],
    ],
    [
      'who waits is marked, and who does not is not',
      [old('a1', { players: 'some' }), old('a2', { isMarked: true })],
      {},
      ['mark a1', 'unmark a2', 'create a2'],
    ],
    [
      'a replacement of an older content goes',
      [old('a1'), old('a2', { role: { is: 'spare', of: 'a1' } })],
      {},
      ['remove a2 for a1', 'create a1'].slice(0, 1),
    ],
    [
      'a replacement of an older content goes while its original has players, and holds no other one up',
      [
        old('a1', { players: 'some', isMarked: true }),
        old('a2', { role: { is: 'spare', of: 'a1' } }),
        old('a3'),
      ],
      {},
      ['remove a2 for a1'],
    ],
    [
      'a replacement of an older content stays while it has players, or its original is not up',
      [
        old('a1', { players: 'some', isMarked: true }),
        old('a2', { role: { is: 'spare', of: 'a1' }, players: 'some' }),
        down('a3', { players: 'some' }),
        old('a4', { role: { is: 'spare', of: 'a3' } }),
      ],
      {},
      [],
    ],
    ['static: in place', [old('a1', { static: true }), old('a2', { static: true })], {}, ['update a1']],
    [
      'static: one at a time',
      [old('a1', { static: true }), fresh('a2', { static: true, up: { forMs: 3 }, role: { is: 'first' } })],
      {},
      [],
    ],
    [
      'canaries: no more than asked for',
      [old('a1'), fresh('a2', { up: { forMs: 1 } })],
      { rollout: rolloutRecord({ isPromoted: false }), update: { canary: 1, maxSurge: 3 } },
      [],
    ],
    [
      'idle: not while nothing says that it is empty',
      [old('a1')],
      { update: { strategy: 'idle' } },
      ['mark a1'],
    ],
    [
      'idle: what is empty',
      [old('a1', { players: 'none' })],
      { update: { strategy: 'idle' } },
      ['create a1'],
    ],
    [
      'idle: what has started again',
      [old('a1', { hasRestarted: true })],
      { update: { strategy: 'idle' } },
      ['create a1'],
    ],
    ['paused: nothing', [old('a1'), down('a2')], { rollout: rolloutRecord({ state: 'paused' }) }, ['paused']],
  ])('%s', (_what, members, given, expected) => {
    expect(moves(members, given)).toEqual(expected);
  });
});

describe('the record', () => {
  it.each<[string, Member[], Given, string[]]>([
    ['there is none yet, and nothing older: complete', [], { rollout: undefined }, ['complete']],
    ['there is none yet, and something older runs', [old('a1')], { rollout: undefined }, ['rolling']],
    ['manual needs none', [old('a1')], { rollout: undefined, update: { strategy: 'manual' } }, []],
    [
      'another content begins anew, also while it is paused',
      [old('a1')],
      { isNews: true, rollout: rolloutRecord({ state: 'paused' }) },
      ['rolling'],
    ],
    [
      'with manual another content is in force at once',
      [old('a1')],
      { isNews: true, update: { strategy: 'manual' } },
      ['complete'],
    ],
    ['all good: complete', [fresh('a1'), fresh('a2')], {}, ['complete']],
    [
      'all good after going back: rolled back',
      [fresh('a1')],
      { rollout: rolloutRecord({ state: 'rolling-back', reason: 'rollback' }) },
      ['rolled-back rollback'],
    ],
    [
      'canaries good, promoted by hand',
      [old('a1'), fresh('a2')],
      { rollout: rolloutRecord({ isPromoted: false }), update: { canary: 1, promote: 'manual' } },
      ['awaiting-promotion'],
    ],
    [
      'late: failed',
      [old('a1'), fresh('a2', { role: { is: 'spare', of: 'a1' }, up: null })],
      { stalledMs: 600_000 },
      ['failed no-progress'],
    ],
    [
      'late with rollback: goes back',
      [old('a1'), fresh('a2', { role: { is: 'spare', of: 'a1' }, up: { forMs: 1 } })],
      { stalledMs: 600_000, update: { onFailure: 'rollback' } },
      ['rolling-back no-progress'],
    ],
    [
      'a static one whose directory would be emptied: no time heals that',
      [old('a1', { static: true, content: 'unsafe' })],
      {},
      ['failed loses-files'],
    ],
    [
      'but not for one that minimum-service is about to end: its directory stays',
      [old('a1', { static: true, content: 'unsafe' })],
      { leaving: new Set(['a1']) },
      ['rolling'],
    ],
    ['late for want of room', [old('a1')], { stalledMs: 600_000, outlook: STUCK }, ['failed not-placeable']],
    [
      'a way back that is late, too',
      [old('a1'), fresh('a2', { role: { is: 'spare', of: 'a1' }, up: { forMs: 1 } })],
      { stalledMs: 600_000, rollout: rolloutRecord({ state: 'rolling-back', reason: 'rollback' }) },
      ['failed rollback-failed'],
    ],
    [
      'waiting for players is never late',
      [old('a1', { players: 'some', isMarked: true }), fresh('a2')],
      { stalledMs: 9_000_000 },
      ['rolling'],
    ],
    [
      'another digest of a template',
      [fresh('a1')],
      {
        rollout: rolloutRecord({ state: 'complete', templates: { 'local/a/b': '1' } }),
        templates: { 'local/a/b': '2' },
      },
      ['rolling'],
    ],
    [
      'a template that it did not know',
      [fresh('a1')],
      { rollout: rolloutRecord({ state: 'complete' }), templates: { 'local/a/b': '2' } },
      ['complete'],
    ],
  ])('%s', (_what, members, given, expected) => {
    expect(stepsOf(members, given)).toEqual(expected);
  });

  it('takes up a content that differs in live fields only, and keeps holding back', () => {
    const { steps } = plan({
      kind: 'rollout',
      name: 'lobby',
      now: 1000,
      hash: 'newer',
      update: updateSchema.parse({ strategy: 'rolling' }),
      rollout: rolloutRecord({ state: 'failed', reason: 'no-progress', endedAt: 5 }),
      isNews: false,
      members: [],
      leaving: new Set(),
      outlook: FITS,
      agedMs: 0,
      stalledMs: 0,
      templates: {},
    });
    expect(steps).toMatchObject([{ do: 'write', rollout: { from: 'old', to: 'newer', state: 'failed' } }]);
  });

  it('falls back on the last good content, also when a second change comes in the middle', () => {
    const begun = (before: RolloutRecord) =>
      plan({
        kind: 'rollout',
        name: 'lobby',
        now: 1000,
        hash: 'newest',
        update: updateSchema.parse({ strategy: 'rolling' }),
        rollout: before,
        isNews: true,
        members: [],
        leaving: new Set(),
        outlook: FITS,
        agedMs: 0,
        stalledMs: 0,
        templates: {},
      }).steps[0];
    expect(begun(rolloutRecord())).toMatchObject({ rollout: { from: 'old', to: 'newest' } });
    expect(begun(rolloutRecord({ state: 'failed' }))).toMatchObject({
      rollout: { from: 'old', to: 'newest' },
    });
    expect(begun(rolloutRecord({ state: 'complete' }))).toMatchObject({
      rollout: { from: 'new', to: 'newest' },
    });
  });
});

describe('a failed rollout', () => {
  it('makes the last good one in place of what of its own content is not up, and touches nothing else', () => {
    const failed = rolloutRecord({ state: 'failed', reason: 'no-progress', endedAt: 5 });
    const members = [
      old('a1', { content: 'current' }),
      down('a2', { revision: 'new', role: { is: 'heir' } }),
      old('a3', { revision: 'new', role: { is: 'heir' } }),
      down('a4', { revision: 'older' }),
    ];
    expect(stepsOf(members, { rollout: failed })).toEqual(['replace a2']);
  });
});
