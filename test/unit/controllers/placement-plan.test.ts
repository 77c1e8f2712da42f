/** Placement's decisions: nodes in; the chosen node, or the reasons in words and numbers, out. */
import { describe, expect, it } from 'vitest';
import {
  type Candidate,
  checkConditions,
  describeFit,
  type Needs,
} from '../../../controllers/master/placement/conditions.js';
import { type PlacementFacts, plan } from '../../../controllers/master/placement/plan.js';
import type { PlacementOrder } from '../../../src/model/configuration.js';
import { portNeedsOf } from '../../../src/model/fields/ports.js';
import { plainAnswer } from '../../support/control-plane/plain-placement.js';

const at = (port: number) => ({ name: 'main', port, protocol: 'both' as const });
const [MAIN = expect.fail('there is one')] = portNeedsOf({ availablePorts: { min: 30000, max: 30009 } });

function node(nodeId: string, fields: Partial<Candidate> = {}): Candidate {
  return {
    nodeId,
    condition: 'connected',
    conditionSince: 0,
    isCordoned: false,
    isAllowed: true,
    runtimeProblem: null,
    unknownFields: [],
    freeRamMB: 8192,
    maxRamMB: 8192,
    freeCpu: 400,
    maxCpu: 400,
    siblings: 0,
    hostAddress: '10.0.0.1',
    ports: [at(30000)],
    lacks: undefined,
    busyPorts: 0,
    ...fields,
  };
}

interface Asked extends Partial<PlacementFacts>, Partial<Pick<Needs, 'ports' | 'home'>> {
  readonly order?: PlacementOrder;
}

function decide(
  candidates: readonly Candidate[],
  { ports, home = null, order, ...fields }: Asked = {},
): string[] {
  const needs: Needs = {
    runtime: 'tmux',
    ramMB: 2048,
    cpu: 100,
    ports: ports ?? [MAIN],
    allowedNodes: [],
    home,
  };
  const { choice, refusal } = plainAnswer(needs, candidates, order);
  const facts: PlacementFacts = {
    id: 'abc123',
    task: 'place',
    choice,
    refusal: () => refusal,
    homeId: home?.nodeId ?? null,
    isUrgent: false,
    awaited: { nodeIds: [], forMs: 0 },
    templates: [],
    waits: [],
    templateProblems: [],
    message: null,
    ...fields,
  };
  const { steps, recheckInMs } = plan(facts);
  const said = steps.map((step) =>
    step.do === 'place'
      ? `place on ${step.placement.nodeId}:${step.placement.port}`
      : `explain ${step.reason} [${step.conditions.join(' ')}] ${step.message}`,
  );
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
}

describe('the plan of placement', () => {
  it.each<[string, Partial<Candidate>, string]>([
    ['not-allowed', { isAllowed: false }, "1 not in the configuration's nodes"],
    ['not-connected', { condition: 'lost' }, '1 not connected (alpha)'],
    ['cordoned', { isCordoned: true }, '1 cordoned (alpha)'],
    ['runtime', { runtimeProblem: 'tmux is not installed' }, '1 does not offer runtime tmux'],
    ['version', { unknownFields: ['after'] }, '1 of an older version of Drover (without after)'],
    ['ram', { freeRamMB: 512 }, '1 short of RAM (need 2048 MB, free 512 MB)'],
    ['cpu', { freeCpu: 50 }, '1 short of CPU (need 100, free 50; 100 = one core)'],
    ['port', { lacks: MAIN }, '1 without a free port in 30000-30009'],
    [
      'port',
      { lacks: MAIN, busyPorts: 4 },
      '1 without a free port in 30000-30009 (4 of them held by other programs)',
    ],
  ])('says when the only node fails the condition %s', (code, fields, words) => {
    expect(decide([node('alpha', fields)])).toEqual([
      `explain no-node-fits [${code}] 0/1 nodes fit: ${words}`,
      // A busy port comes free without an event.
      ...(fields.busyPorts === undefined ? [] : ['look again in 5000 ms']),
    ]);
  });

  it('names each node under its first reason only, and the largest free amount', () => {
    const nodes = [
      node('a', { freeRamMB: 100 }),
      node('b', { freeRamMB: 512, freeCpu: 0 }),
      node('c', { runtimeProblem: 'tmux is not installed', freeRamMB: 0 }),
      node('d', { runtimeProblem: 'tmux is not installed' }),
      node('e', { condition: 'returning', isCordoned: true }),
    ];
    expect(decide(nodes)).toEqual([
      'explain no-node-fits [not-connected runtime ram] 0/5 nodes fit: 1 not connected (e), ' +
        '2 do not offer runtime tmux, 2 short of RAM (need 2048 MB, free 512 MB)',
    ]);
  });

  it('never says that less than nothing is free', () => {
    expect(decide([node('a', { freeRamMB: -500 })])).toEqual([
      'explain no-node-fits [ram] 0/1 nodes fit: 1 short of RAM (need 2048 MB, free 0 MB)',
    ]);
  });

  it('names three nodes at most', () => {
    const nodes = ['a', 'b', 'c', 'd', 'e'].map((id) => node(id, { isCordoned: true }));
    expect(decide(nodes)).toEqual([
      'explain no-node-fits [cordoned] 0/5 nodes fit: 5 cordoned (a, b, c and 2 more)',
    ]);
  });

  it('says that there is no node at all', () => {
    expect(decide([])).toEqual([
      'explain no-node-fits [no-node] 0/0 nodes fit: no node has joined the cluster yet',
    ]);
  });

  it('does not say again what the status shows already', () => {
    const message = '0/1 nodes fit: 1 cordoned (alpha)';
    expect(decide([node('alpha', { isCordoned: true })], { message })).toEqual([]);
  });

  it('says first which templates cannot be chosen', () => {
    expect(
      decide([node('alpha')], { templateProblems: ['no template games/a', 'group x is empty'] }),
    ).toEqual(['explain template-missing [template] no template games/a; group x is empty']);
  });

  it('takes exactly what is left, and no port where none is asked for', () => {
    expect(decide([node('alpha', { freeRamMB: 2048, freeCpu: 100 })])).toEqual(['place on alpha:30000']);
    expect(decide([node('alpha', { ports: [] })])).toEqual(['place on alpha:null']);
  });

  it('prefers its old node, then the fewest siblings, then the most free RAM share, then the node id', () => {
    const small = node('small', { maxRamMB: 4096, freeRamMB: 4096 });
    const large = node('large', { maxRamMB: 65_536, freeRamMB: 32_768 });
    const home = { nodeId: 'large', isBinding: false };
    expect(decide([small, { ...large, siblings: 3 }], { home })).toEqual(['place on large:30000']);
    expect(decide([{ ...small, siblings: 1 }, large])).toEqual(['place on large:30000']);
    // With the instance on it, half of the small one stays free, and a little less of the large one.
    expect(decide([large, small])).toEqual(['place on small:30000']);
    expect(decide([node('b'), node('a')])).toEqual(['place on a:30000']);
  });

  it('packs where the configuration asks for it: its old node, then the fullest, then the node id', () => {
    const order = 'pack';
    const full = node('full', { freeRamMB: 2048, siblings: 9 });
    const home = { nodeId: 'empty', isBinding: false };
    expect(decide([node('empty'), full], { order })).toEqual(['place on full:30000']);
    expect(decide([node('empty'), full], { order, home })).toEqual(['place on empty:30000']);
    expect(decide([node('empty'), { ...full, freeRamMB: 2047 }], { order })).toEqual([
      'place on empty:30000',
    ]);
    expect(decide([node('b'), node('a')], { order })).toEqual(['place on a:30000']);
  });

  it('waits at a start for nodes that are expected back, but not with what is urgent or goes home', () => {
    const awaited = { nodeIds: ['beta'], forMs: 700 };
    const nodes = [node('alpha')];
    expect(decide(nodes, { awaited })).toEqual(['look again in 700 ms']);
    expect(decide([node('alpha', { freeRamMB: 0 })], { awaited })).toEqual(['look again in 700 ms']);
    expect(decide(nodes, { awaited, isUrgent: true })).toEqual(['place on alpha:30000']);
    const atBeta = { isUrgent: true, home: { nodeId: 'beta', isBinding: false } };
    expect(decide(nodes, { awaited, ...atBeta })).toEqual(['look again in 700 ms']);
    expect(decide(nodes, { awaited: { nodeIds: ['gamma'], forMs: 700 }, ...atBeta })).toEqual([
      'place on alpha:30000',
    ]);
    const home = { nodeId: 'alpha', isBinding: false };
    expect(decide(nodes, { awaited, home })).toEqual(['place on alpha:30000']);
    expect(decide(nodes, { awaited, home: { ...home, nodeId: 'beta' } })).toEqual(['look again in 700 ms']);
    expect(decide(nodes, { awaited, task: 'move' })).toEqual(['place on alpha:30000']);
    expect(decide(nodes, { awaited: { ...awaited, forMs: 0 } })).toEqual(['place on alpha:30000']);
    expect(decide(nodes, { awaited: { nodeIds: [], forMs: 700 } })).toEqual(['place on alpha:30000']);
  });

  it('goes elsewhere when the old node does not fit, unless the instance is static', () => {
    const nodes = [node('old', { freeRamMB: 0 }), node('new')];
    expect(decide(nodes, { home: { nodeId: 'old', isBinding: false } })).toEqual(['place on new:30000']);
    expect(decide(nodes, { home: { nodeId: 'old', isBinding: true } })).toEqual([
      'explain no-node-fits [not-home ram] 0/2 nodes fit: 1 not old, which holds the files of this static ' +
        'instance, 1 short of RAM (need 2048 MB, free 0 MB)',
    ]);
  });

  it('changes a busy port for another on the same node, and leaves the word to the node when there is none', () => {
    expect(decide([node('alpha', { ports: [at(30004)] })], { task: 'move' })).toEqual([
      'place on alpha:30004',
    ]);
    expect(decide([node('alpha', { lacks: MAIN })], { task: 'move' })).toEqual([]);
    expect(decide([node('alpha')], { task: 'move', templateProblems: ['gone by now'] })).toEqual([
      'place on alpha:30000',
    ]);
  });

  it('has nothing to do for one that has its place', () => {
    expect(decide([node('alpha')], { task: null })).toEqual([]);
  });
});

describe('what one node says', () => {
  const NOW = 10_000_000;
  const needs: Needs = {
    runtime: 'tmux',
    ramMB: 2048,
    cpu: 100,
    ports: [MAIN],
    allowedNodes: ['beta', 'gamma', 'delta', 'epsilon'],
    home: { nodeId: 'beta', isBinding: true },
  };
  const tell = (fields: Partial<Candidate>, more: Partial<Needs> = {}): string => {
    const own = { ...needs, home: null, ...more };
    const [fit] = checkConditions(own, [node('alpha', fields)]);
    if (fit === undefined) throw new Error('no fit');
    const { fits, failed, message } = describeFit(own, fit, NOW);
    return `${fits ? 'fits' : failed}: ${message}`;
  };

  it.each<[string, string]>([
    [
      tell({ isAllowed: false }),
      "not-allowed: is not in the configuration's nodes (beta, gamma, delta and 1 more)",
    ],
    [
      tell({}, { home: { nodeId: 'beta', isBinding: true } }),
      'not-home: does not have the files of this static instance: beta has',
    ],
    [
      tell({ condition: 'lost', conditionSince: NOW - 125_000 }),
      'not-connected: has been lost for 2 min: no beats arrive',
    ],
    [
      tell({ condition: 'returning', conditionSince: NOW - 12_000 }),
      'not-connected: was stopped 12 s ago and said that it will be back',
    ],
    [tell({ isCordoned: true }), 'cordoned: is cordoned: it takes no new instances'],
    [
      tell({ runtimeProblem: 'tmux is not installed' }),
      'runtime: does not offer runtime tmux: tmux is not installed',
    ],
    [tell({ freeRamMB: 512, maxRamMB: 4096 }), 'ram: needs 2048 MB of RAM, 512 MB of 4096 MB free'],
    [tell({ freeRamMB: -5, maxRamMB: 4096 }), 'ram: needs 2048 MB of RAM, 0 MB of 4096 MB free'],
    [tell({ freeCpu: 50 }), 'cpu: needs 100 units of CPU, 50 of 400 free (100 = one core)'],
    [
      tell({ lacks: MAIN, busyPorts: 4 }),
      'port: has no free port in 30000-30009 (4 of them held by other programs)',
    ],
    [tell({}), 'fits: fits: needs 2048 MB of RAM, 8192 MB of 8192 MB free, port 30000'],
    [tell({ ports: [] }), 'fits: fits: needs 2048 MB of RAM, 8192 MB of 8192 MB free'],
  ])('says %s', (said, expected) => {
    expect(said).toBe(expected);
  });
});
