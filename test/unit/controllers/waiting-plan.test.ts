/** Which of the instances that wait for a place are looked at: groups in, looks out as text. */
import { expect, it } from 'vitest';
import type { PlacementFacts } from '../../../controllers/master/placement/plan.js';
import { plan, type WaitingFacts, type WaitingGroup } from '../../../controllers/master/waiting/plan.js';

const FIT: NonNullable<PlacementFacts['choice']> = {
  nodeId: 'alpha',
  condition: 'connected',
  conditionSince: 0,
  isCordoned: false,
  isAllowed: true,
  runtimeProblem: null,
  unknownFields: [],
  freeRamMB: 100,
  maxRamMB: 100,
  freeCpu: 100,
  maxCpu: 100,
  siblings: 0,
  hostAddress: '10.0.0.1',
  ports: [],
  lacks: undefined,
  busyPorts: 0,
};

function group(name: string, size: number, fields: Partial<PlacementFacts> = {}, room = 0): WaitingGroup {
  const ids = Array.from({ length: size }, (_, index) => `${name}${index}`);
  return {
    size,
    take: (most) => ids.slice(0, most),
    room: () => room,
    first: {
      id: ids[0] ?? '',
      task: 'place',
      choice: room > 0 ? FIT : undefined,
      refusal: () => ({ message: 'nothing fits', conditions: ['ram'], hasBusyPorts: false }),
      homeId: null,
      isUrgent: false,
      awaited: { nodeIds: [], forMs: 0 },
      templates: [],
      waits: [],
      templateProblems: [],
      message: 'nothing fits',
      ...fields,
    },
  };
}

function decide(groups: readonly WaitingGroup[], fields: Partial<WaitingFacts> = {}): string[] {
  const { steps, recheckInMs } = plan({ groups, lookedAgoMs: 60_000, explainedAgoMs: 60_000, ...fields });
  const said = steps.map(({ ids, isToExplain }) => `${isToExplain ? 'explain' : 'place'} ${ids.join(' ')}`);
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
}

it('asks nobody while nothing fits and all were told so, however many wait', () => {
  expect(decide([])).toEqual([]);
  expect(decide([group('a', 10_000), group('b', 3)])).toEqual([]);
});

it('asks as many as may fit', () => {
  expect(decide([group('a', 1000, {}, 2), group('b', 3)])).toEqual(['place a0 a1']);
});

it('asks all of a group whose explanation is out of date', () => {
  expect(decide([group('a', 2, { message: 'another one' }), group('b', 2)])).toEqual(['explain a0 a1']);
});

it('writes explanations anew the more seldom the more instances wait, and places at once', () => {
  const outdated = group('a', 3000, { message: 'another one' });
  expect(decide([outdated], { explainedAgoMs: 2900 })).toEqual(['look again in 100 ms']);
  expect(decide([outdated, group('b', 5, {}, 1)], { explainedAgoMs: 2900 })).toEqual([
    'place b0',
    'look again in 105 ms',
  ]);
  expect(decide([outdated], { explainedAgoMs: 3000 })).toHaveLength(1);
});

it('does not look again within 50 ms', () => {
  expect(decide([group('a', 1, {}, 1)], { lookedAgoMs: 20 })).toEqual(['look again in 30 ms']);
});

it('leaves those alone that wait for nodes or for templates', () => {
  const awaited = { nodeIds: ['beta'], forMs: 5000 };
  expect(decide([group('a', 2, { awaited, message: null }, 2)])).toEqual([]);
  const templateProblems = ['there is no template group x'];
  expect(decide([group('a', 2, { templateProblems, message: templateProblems.join() }, 2)])).toEqual([]);
});
