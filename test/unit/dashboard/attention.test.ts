/** What the overview shows as needing the operator. */
import { expect, it } from 'vitest';
import { type AttentionFacts, concernsOf } from '../../../src/dashboard/screens/overview/attention.js';
import type { ClusterState } from '../../../src/dashboard/screens/overview/cluster-state.js';
import type { InstanceInfo } from '../../../src/model/instance.js';
import type { ShownRollout } from '../../../src/operations/rollouts/rollouts.js';
import type { Topics } from '../../../src/watch-client/topics.js';
import { aNode, anInstance, aRollout } from '../../support/dashboard/entries.js';

const WELL: ClusterState = {
  belowMinimum: [],
  removed: [],
  brokenFiles: [],
  unreadableRecords: [],
  certificateProblem: null,
};

function concerns(facts: {
  readonly state?: Partial<ClusterState>;
  readonly instances?: readonly Partial<InstanceInfo>[];
  readonly nodes?: readonly Partial<Topics['nodes']>[];
  readonly rollouts?: readonly Partial<ShownRollout>[];
  readonly canOperate?: boolean;
}) {
  const all: AttentionFacts = {
    state: { ...WELL, ...facts.state },
    instances: (facts.instances ?? []).map(anInstance),
    nodes: (facts.nodes ?? []).map(aNode),
    rollouts: (facts.rollouts ?? []).map(aRollout),
    canOperate: facts.canOperate ?? true,
  };
  return concernsOf(all);
}

it('says nothing of what is well, nor of instances that wait for nobody', () => {
  expect(
    concerns({
      nodes: [{}],
      instances: [{ state: 'ONLINE', message: 'serves' }, { state: 'STOPPED', message: 'stopped' }, {}],
    }),
  ).toEqual([]);
  expect(concernsOf({ state: undefined, instances: [], nodes: [], rollouts: [], canOperate: true })).toEqual(
    [],
  );
});

it('puts what is broken before what is under way, and that before what is left over', () => {
  const found = concerns({
    nodes: [
      { nodeId: 'c', cordoned: true },
      { nodeId: 'r', condition: 'returning' },
      { nodeId: 'l', condition: 'lost' },
    ],
    state: {
      removed: [{ name: 'old', instances: 2 }],
      brokenFiles: [{ file: 'a.json', line: 3, column: 1, field: null, message: 'no comma' }],
      belowMinimum: [{ name: 'lobby', online: 1, minimum: 2, why: 'lobby has 1 of 2.' }],
      certificateProblem: 'it has ended',
      unreadableRecords: [{ key: 'instances/x', problem: 'it is of another version' }],
    },
  });
  expect(found.map(({ key }) => key)).toEqual([
    'node l',
    'file a.json no comma',
    'record instances/x',
    'certificate',
    'node r',
    'minimum lobby',
    'node c',
    'removed old',
  ]);
  expect(found.map(({ tone }) => tone).join(' ')).toBe('bad bad bad bad busy busy still still');
  expect(found[1]?.sentence).toBe('a.json, line 3: no comma');
});

it('leads from a template in conflict to the templates', () => {
  const fault = { file: 'templates/games/arena', node: 'b', line: null, column: null, field: null };
  const [found] = concerns({
    state: { brokenFiles: [{ ...fault, message: 'conflict: changed here, too' }] },
  });
  expect(found).toMatchObject({
    sentence: 'templates/games/arena: conflict: changed here, too',
    step: { kind: 'open', label: 'Show templates' },
  });
});

it('explains each row where the API can, and leads to the next step', () => {
  const [lost, one] = concerns({
    nodes: [{ nodeId: 'n/1', condition: 'lost' }],
    state: { belowMinimum: [{ name: 'lobby', online: 1, minimum: 2 }] },
  });
  expect(lost).toMatchObject({ why: '/cluster/nodes/n%2F1/why', step: { href: '#/nodes' } });
  expect(one).toMatchObject({
    why: '/configurations/lobby/why',
    sentence: 'lobby has 1 of 2 instances online.',
    step: { href: '#/instances?find=lobby' },
  });
});

it('does not name each instance of a configuration that lacks some', () => {
  const crashed = { state: 'OFFLINE', reason: 'exited', message: 'exited with code 1' } as const;
  const found = concerns({
    state: { belowMinimum: [{ name: 'lobby', online: 0, minimum: 3, why: 'lobby has 0 of 3.' }] },
    instances: [
      { ...crashed, id: 'a', configurationName: 'lobby' },
      { ...crashed, id: 'b', configurationName: 'extra' },
    ],
  });
  expect(found.map(({ key }) => key)).toEqual(['minimum lobby', 'b']);
});

it.each([
  ['exited', true, 'restart'],
  ['exited', false, '#/instances/a1'],
  ['no-node-fits', true, '#/nodes'],
  ['template-missing', true, '#/templates'],
  ['node-lost', true, '#/instances/a1'],
])('for reason %s, and a key that operates: %s, the step is %s', (reason, canOperate, expected) => {
  const instances = [{ id: 'a1', state: 'OFFLINE', reason, message: 'it says why' }] as const;
  const [concern] = concerns({ instances, canOperate });
  const step = concern?.step;
  expect(step?.kind === 'open' ? step.href : step?.kind).toBe(expected);
});

it('tells of rollouts that failed or wait for a person, and leaves those alone that go on, have ended well or were taken back', () => {
  const found = concerns({
    rollouts: [
      { configurationName: 'a', state: 'rolling' },
      { configurationName: 'b', state: 'complete' },
      { configurationName: 'c', state: 'paused' },
      { configurationName: 'd', state: 'awaiting-promotion' },
      { configurationName: 'e', state: 'failed', reason: 'no-progress', message: 'none became good' },
      { configurationName: 'f', state: 'rolled-back', reason: 'not-placeable', message: 'no place' },
      { configurationName: 'g', state: 'rolling-back', reason: 'rollback', message: 'players fall' },
      { configurationName: 'h', state: 'rolled-back', reason: 'rollback', message: 'players fall' },
    ],
  });
  expect(found.map(({ tone, sentence }) => `${tone} ${sentence}`)).toEqual([
    'bad The rollout of e failed: none became good',
    'bad The rollout of f failed: no place',
    'busy The canaries of d are healthy: its rollout waits for promotion.',
    'still The rollout of c is paused.',
  ]);
  expect(found[0]?.step).toMatchObject({ kind: 'open', href: '#/configurations/e' });
});
