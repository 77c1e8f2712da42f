/** Who takes the content in force by itself, and who keeps what it was made from. */
import { expect, it } from 'vitest';
import { type ContentFacts, plan } from '../../../controllers/master/content/plan.js';
import { awaitsFirstStart, type InstanceRecord, type StoredStatus } from '../../../src/model/instance.js';
import { instanceRecord, placedOn, withStatus } from '../../support/control-plane/records.js';

const outdated: ContentFacts = {
  id: 'a',
  asks: 'start',
  isAsked: false,
  players: 0,
  hasFinished: false,
  awaitsFirstStart: false,
  refusal: () => undefined,
};

function decide(fields: Partial<ContentFacts>): string[] {
  return plan({ ...outdated, ...fields }).steps.map(({ why }) => why);
}

it.each<[string, Partial<ContentFacts>, string[]]>([
  ['that runs and is outdated', {}, []],
  ['that has the content in force', { asks: 'none' }, []],
  ['that has it and was never ready', { asks: 'none', awaitsFirstStart: true }, []],
  ['of which only live fields changed', { asks: 'live' }, ['only what holds without a restart has changed']],
  [
    'of which only live fields changed, with players',
    { asks: 'live', players: 5 },
    ['only what holds without a restart has changed'],
  ],
  ['that has finished: a restart policy must not start it again', { asks: 'live', hasFinished: true }, []],
  ['that was asked to, with players', { isAsked: true, players: 1 }, []],
  ['that was asked to, without players', { isAsked: true }, ['that was asked for, and it has no players']],
  [
    'that was asked to, and whose file is as before again',
    { isAsked: true, asks: 'none' },
    ['that was asked for, and it has no players'],
  ],
  ['that was never ready', { awaitsFirstStart: true }, ['it has not been ready with what it has']],
])('an instance %s', (_what, fields, expected) => {
  expect(decide(fields)).toEqual(expected);
});

it('waits for room where its node cannot hold it with that content, and looks again', () => {
  const refusal = () => 'its node alpha needs 4096 MB of RAM';
  expect(plan({ ...outdated, isAsked: true, refusal })).toEqual({ steps: [], recheckInMs: 60_000 });
  expect(plan({ ...outdated, awaitsFirstStart: true, refusal })).toEqual({ steps: [], recheckInMs: 60_000 });
  expect(plan({ ...outdated, refusal: () => expect.fail('nobody asked') })).toEqual({ steps: [] });
});

const status = (fields: Partial<StoredStatus>) => ({
  status: withStatus(instanceRecord('a').status, { hasBeenReady: false, ...fields }),
});
const placed = { placement: placedOn('alpha') };

it.each<[string, Partial<InstanceRecord>, boolean]>([
  ['fails at each start', { ...placed, ...status({ state: 'OFFLINE', reason: 'exited' }) }, true],
  ['cannot be installed', { ...placed, ...status({ reason: 'install-failed' }) }, true],
  ['is up and will not be ready', { ...placed, ...status({ pid: 7, reason: 'not-ready' }) }, true],
  ['is up and may be ready soon', { ...placed, ...status({ pid: 7, reason: 'starting' }) }, false],
  ['is ONLINE for a moment', { ...placed, ...status({ pid: 7, state: 'ONLINE' }) }, false],
  [
    'was ready and crashed',
    { ...placed, ...status({ state: 'OFFLINE', reason: 'exited', hasBeenReady: true }) },
    false,
  ],
  ['fits nowhere', status({ reason: 'no-node-fits', message: '0/1 nodes fit', hasBeenReady: true }), true],
  ['is started again, and goes home', status({ hasBeenReady: true }), false],
  ['is stopped', { ...placed, desired: { goal: 'stop', restartToken: 0 }, ...status({}) }, false],
])('what %s awaits its first start: %#', (_what, fields, expected) => {
  expect(awaitsFirstStart(instanceRecord('a', fields))).toBe(expected);
});
