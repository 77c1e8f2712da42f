/** The list of what is not well: the overview and `cluster status` show the same. */
import { expect, it } from 'vitest';
import { type ConcernFacts, type ConfigurationHealth, concernsOf } from '../../../src/explain/concerns.js';
import { HEALTH_STATES, type HealthState } from '../../../src/explain/health-states.js';
import { aNode } from '../../support/dashboard/entries.js';

function configuration(name: string, state: HealthState, more = {}): ConfigurationHealth {
  const health = { state, text: state, detail: null, since: null, instance: null, ...more };
  return { name, online: 1, minimum: 1, instances: 1, health };
}

function concerns(facts: Partial<ConcernFacts>): string[] {
  return concernsOf({
    configurations: [],
    nodes: [],
    brokenFiles: [],
    undelivered: [],
    unreadableRecords: [],
    certificateProblem: null,
    ...facts,
  }).map(({ kind, tone, name, text }) => `${tone} ${kind} ${name}: ${text}`);
}

it('names every state that needs somebody, and none that does not', () => {
  const configurations = HEALTH_STATES.map((state) => configuration('c', state));
  expect(concerns({ configurations }).map((text) => text.split(' ')[1])).toEqual([
    'broken-file',
    'failing',
    'not-placed',
    'held-back',
    'below-minimum',
    'awaiting-promotion',
    'paused',
    'removed',
  ]);
});

it('has one order, however the configurations arrive', () => {
  const some = [
    configuration('b', 'failing'),
    configuration('z', 'broken-file'),
    configuration('a', 'failing'),
  ];
  const ordered = ['bad broken-file z: broken-file', 'bad failing a: failing', 'bad failing b: failing'];
  expect(concerns({ configurations: some })).toEqual(ordered);
  expect(concerns({ configurations: some.toReversed() })).toEqual(ordered);
});

it('names a rollout under way only while the minimum is not there', () => {
  const rolling = configuration('c', 'rolling');
  expect(concerns({ configurations: [rolling, { ...rolling, online: 0 }] })).toHaveLength(1);
});

it('puts what is broken before what is under way, and that before what is left over', () => {
  const fault = { line: 3, column: 1, field: null, message: 'no comma' };
  expect(
    concerns({
      nodes: [
        aNode({ nodeId: 'c', cordoned: true }),
        aNode({ nodeId: 'r', condition: 'returning' }),
        aNode({ nodeId: 'l', condition: 'lost' }),
        aNode(),
      ],
      configurations: [
        configuration('old', 'removed', { detail: '2 instances left' }),
        configuration('lobby', 'below-minimum', { detail: '1 of 2 online' }),
      ],
      brokenFiles: [
        { ...fault, file: 'a.json' },
        { ...fault, file: 'templates/games/arena', line: null, message: 'conflict' },
        { ...fault, file: '*.json', line: null, message: 'not stored yet' },
      ],
      undelivered: [
        {
          name: 'ops',
          server: 'a.test',
          problem: 'a.test answered with status 503',
          failingSince: 7,
          waiting: 2,
          lost: 1,
        },
      ],
      certificateProblem: 'it has ended',
      unreadableRecords: [{ key: 'instances/x', problem: 'it is of another version' }],
    }),
  ).toEqual([
    'bad node-lost l: its beats are missing',
    'bad file *.json: not stored yet',
    'bad file templates/games/arena: conflict',
    'bad undelivered webhook ops: a.test answered with status 503; events: 2 waiting, 1 given up',
    'bad record instances/x: it cannot be read and is set aside: it is of another version',
    'bad certificate TLS of the API: it has ended',
    'busy node-returning r: it has left and said that it will be back',
    'busy below-minimum lobby: 1 of 2 online',
    'still node-cordoned c: it gets no new instances',
    'still removed old: 2 instances left',
  ]);
});
