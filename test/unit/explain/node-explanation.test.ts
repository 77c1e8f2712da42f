/** Why a node is as it is: facts in, the explanation in words out. */
import { describe, expect, it } from 'vitest';
import { explainNode, type NodeFacts } from '../../../src/explain/node.js';
import { renderNodeExplanation } from '../../../src/command-tree/explanation-text.js';
import type { DrainProgress } from '../../../src/model/node-drain.js';
import {
  contact,
  down,
  ID,
  instanceFacts,
  NOW,
  pastExit,
  recordWith,
} from '../../support/control-plane/explain-facts.js';

const NODE: NodeFacts['node'] = {
  nodeId: 'n1',
  address: '10.0.0.1',
  master: false,
  capacity: { maxRamMB: 4096, maxCpu: 400 },
  runtimes: [{ key: 'process', available: true, version: '1', reason: null }],
  cordoned: false,
  condition: 'connected',
  conditionSince: NOW - 60_000,
  version: '0.1.0',
};
const DRAIN: DrainProgress = {
  since: NOW - 1000,
  deadline: NOW + 299_000,
  remainingMs: 299_000,
  isDrained: false,
  left: 2,
  waitingFor: ['waiting for 3 players on k3x9p2'],
};

function factsOf({
  node,
  ...fields
}: Partial<Omit<NodeFacts, 'node'>> & { node?: Partial<NodeFacts['node']> }): NodeFacts {
  return {
    contact: contact(),
    drain: undefined,
    used: { ramMB: 512, cpu: 50 },
    instances: [instanceFacts()],
    instancesTotal: 1,
    ...fields,
    node: { ...NODE, ...node },
  };
}

function tell(fields: Parameters<typeof factsOf>[0]): string[] {
  const { verdict, next, advice, notes, isSettled } = explainNode(factsOf(fields), NOW);
  return [
    `${isSettled ? 'well' : 'not well'}: ${verdict}`,
    ...(next === null ? [] : [`next: ${next}`]),
    ...(advice === null ? [] : [`do: ${advice}`]),
    ...notes.map((note) => `note: ${note}`),
  ];
}

describe('a node', () => {
  it('is told in one line when all is well', () => {
    expect(tell({})).toEqual(['well: n1 is connected and holds 1 instance, which is as wanted.']);
    expect(tell({ instances: [], instancesTotal: 0 })).toEqual([
      'well: n1 is connected and holds no instances.',
    ]);
  });

  it('is well when it is cordoned, which somebody wanted', () => {
    expect(tell({ node: { cordoned: true } })).toEqual([
      'well: n1 is connected and cordoned: it gets no new instances, and it holds 1 instance, which is as wanted.',
      'do: `cluster uncordon n1` gives it instances again.',
    ]);
  });

  it('names the first of its instances that is not well', () => {
    const sick = instanceFacts({
      record: recordWith({ state: 'OFFLINE', pid: null }),
      answer: {
        kind: 'answered',
        description: down({ failuresInARow: 2, restarts: 1, retryInMs: 900, exits: [pastExit()] }),
      },
    });
    const [verdict, advice] = tell({ instances: [sick, instanceFacts()], instancesTotal: 2 });
    expect(verdict).toMatch(
      new RegExp(`^not well: n1 is connected, but 1 of its 2 instances is not well: ${ID} waits `),
    );
    expect(advice).toBe(`do: \`instance why ${ID}\` says more.`);
  });

  it('says what a drain waits for, and when it is over', () => {
    expect(tell({ node: { cordoned: true }, drain: DRAIN })).toEqual([
      'not well: n1 is being drained: 2 instances left.',
      'next: Players are waited for, 5 min at most.',
      'do: `cluster uncordon n1` calls the drain off.',
      'note: waiting for 3 players on k3x9p2',
    ]);
    const drain = { ...DRAIN, isDrained: true, left: 0, waitingFor: [] };
    expect(tell({ node: { cordoned: true }, drain, instances: [], instancesTotal: 0 })).toEqual([
      'well: n1 is drained: it can be stopped.',
      'do: `cluster uncordon n1` gives it instances again.',
    ]);
  });

  it('says since when it is lost, and what that means', () => {
    expect(tell({ node: { condition: 'lost', conditionSince: NOW - 120_000 } })).toEqual([
      'not well: n1 has been lost for 2 min.',
      'next: When it is back, its instances go on there.',
      'do: Start Drover on n1 again, or mend its connection. `cluster forget n1` removes it for good.',
    ]);
  });

  it('says when a node that is silent counts as lost', () => {
    const silent = contact({ isConnected: false, silentMs: 4000, lostInMs: 2000 });
    expect(tell({ contact: silent })).toEqual([
      'not well: n1 has not been heard of for 4 s.',
      'next: Unless it is back within 2 s, it counts as lost.',
      'do: Start Drover on n1 again, or mend its connection.',
    ]);
    const gone = contact({ isConnected: false, silentMs: 4000, goneForMs: 3000, lostInMs: 2000 });
    expect(tell({ contact: gone })[0]).toBe(
      'not well: n1 was stopped 3 s ago and said that it will be back.',
    );
  });

  it('notes runtimes that it cannot offer, and limits that do not hold', () => {
    const docker = { key: 'docker', available: false, version: null, reason: 'no engine answers' };
    expect(tell({ node: { runtimes: [docker], advisoryLimits: 'no control groups' } }).slice(1)).toEqual([
      'note: docker is not offered: no engine answers',
      'note: Limits of RAM and CPU do not hold there: no control groups',
    ]);
  });
});

it('is printed with its numbers, none wider than 100 columns', () => {
  const text = renderNodeExplanation(explainNode(factsOf({}), NOW));
  expect(text.split('\n').slice(0, 6)).toEqual([
    'n1 is connected and holds 1 instance, which is as wanted.',
    '',
    '  condition  connected for 60 s',
    '  last beat  0.5 s ago',
    '  RAM        512 of 4096 MB given out',
    '  CPU        50 of 400 given out (100 = one core)',
  ]);
  expect(text).toContain(`Instances\n  ${ID}  lobby  ONLINE  `);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
});
