/** The one word for the health of a configuration: records in, the word out. */
import { describe, expect, it } from 'vitest';
import { type HealthFacts, healthOf, isSameHealth } from '../../../src/explain/health.js';
import { HEALTH_STATES } from '../../../src/explain/health-states.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { type InstanceWord, wordOf } from '../../../src/model/instance-word.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { recordWith } from '../../support/control-plane/explain-facts.js';
import { rolloutRecord } from '../../support/control-plane/records.js';

const FAULT = {
  file: 'lobby.json',
  name: 'lobby',
  line: 4,
  column: 26,
  field: 'ramMB',
  message: 'ramMB: is "four"',
};

const online = recordWith({});
const crashed = { reason: 'exited', exitCode: 2, restarts: 28 } as const;
const looping = recordWith({ ...crashed, state: 'OFFLINE', pid: null, keepsFailing: true });
const upForNow = recordWith({ restarts: 28, exitCode: 2, keepsFailing: true });
const unplaced = recordWith(
  { state: 'CREATING', pid: null, reason: 'no-node-fits', message: '0/3 nodes fit: 3 short of RAM' },
  { placement: null },
);
const starting = recordWith({ state: 'CREATING', pid: null, reason: 'starting' });
const finished = recordWith({ state: 'STOPPED', reason: 'exited', pid: null, exitCode: 0, endedAt: 7 });
const stop = { goal: 'stop', restartToken: 0 } as const;
const resting = recordWith(
  { state: 'STOPPED', reason: 'stopped', pid: null },
  { static: true, desired: stop },
);
const ended = { state: 'STOPPED', reason: 'exited', pid: null, endedAt: 9 } as const;
/** The fields of a run of a job. */
const run = (createdAt: number) => ({ createdAt, job: { parameters: {}, timeoutSeconds: 5 } });
const failedRun = recordWith({ ...ended, exitCode: 3 }, run(1));
const timedOut = recordWith(
  { ...ended, reason: 'stopped', exitSignal: 'SIGTERM' },
  { ...run(2), desired: { ...stop, stoppedBy: 'timeout' } },
);
const goodRun = recordWith({ ...ended, exitCode: 0 }, run(3));
const COUNTS = { total: 7, updated: 3, good: 3, outdated: 4, waiting: 0 };

function health(
  instances: readonly InstanceRecord[],
  { rollout, ...facts }: Partial<Omit<HealthFacts, 'rollout'>> & { rollout?: Partial<RolloutRecord> } = {},
) {
  const counts = new Map<InstanceWord, number>();
  for (const one of instances) counts.set(wordOf(one), (counts.get(wordOf(one)) ?? 0) + 1);
  return healthOf({
    counts,
    minimum: 1,
    fault: undefined,
    rollout: rollout && rolloutRecord({ counts: COUNTS, ...rollout }),
    instances: () => instances,
    ...facts,
  });
}

function told(...args: Parameters<typeof health>): string {
  const { state, text, detail } = health(...args);
  return `${state}, ${text}${detail === null ? '' : `: ${detail}`}`;
}

const ROLLING = 'is under way: 3 of 7 instances good, 4 to be replaced';
const asked = { reason: 'rollback', endedAt: 9 } as const;

describe('the health of a configuration', () => {
  it.each<[string, string]>([
    ['healthy, Healthy', told([online])],
    ['healthy, Healthy', told([], { minimum: 0 })],
    ['finished, Finished: exited with code 0', told([finished])],
    ['finished, Stopped: stopped on request', told([resting])],
    ['failing, Failed: k3x9p2 exited with code 3', told([failedRun], { minimum: 0 })],
    ['failing, Timed out: k3x9p2 ended at its time-out of 5 s', told([timedOut, failedRun], { minimum: 0 })],
    ['finished, Finished: exited with code 0', told([failedRun, timedOut, goodRun], { minimum: 0 })],
    ['healthy, Healthy', told([failedRun, recordWith({}, run(4))], { minimum: 0 })],
    ['failing, Failed: k3x9p2 was ended by SIGKILL', told([recordWith({ ...ended, exitSignal: 'SIGKILL' })])],
    [
      'below-minimum, Below minimum: 0 of 1 online: there is no configuration db',
      told([
        recordWith(
          { state: 'CREATING', reason: 'waits-for', message: 'there is no configuration db', pid: null },
          { placement: null },
        ),
      ]),
    ],
    [
      'failing, Failing: k3x9p2 ended (not alive: no line for 5 s), 28 restarts: it is up again',
      told([upForNow], { causeOf: () => 'not alive: no line for 5 s' }),
    ],
    ['below-minimum, Below minimum: 1 of 2 online', told([online, starting], { minimum: 2 })],
    ['healthy, Healthy', told([online, starting])],
    ['failing, Failing: k3x9p2 exited with code 2, 28 restarts', told([looping, online])],
    ['failing, Failing: k3x9p2 exited with code 2, 28 restarts: it is up again', told([upForNow])],
    ['failing, Failing: k3x9p2 exited with code 2, 28 restarts, and 1 more', told([looping, looping])],
    [
      'failing, Failing: k3x9p2 port 80 is taken',
      told([recordWith({ state: 'CREATING', pid: null, reason: 'port-busy', message: 'port 80 is taken' })]),
    ],
    [
      'failing, Failing: k3x9p2 is not alive, as most are',
      told([online, recordWith({ reason: 'not-alive', message: 'is not alive, as most are' })]),
    ],
    ['not-placed, Not placed: k3x9p2 has no node: 0/3 nodes fit: 3 short of RAM', told([unplaced])],
    ['broken-file, Broken file: lobby.json, line 4:26: ramMB: is "four"', told([looping], { fault: FAULT })],
    [
      'broken-file, Broken file: *',
      told([], { fault: FAULT, minimum: undefined }).replace(/: lobby.*/, ': *'),
    ],
    ['removed, Deleted: 1 instance left', told([online], { minimum: undefined })],
    [`rolling, Rolling 3/7: its rollout ${ROLLING}`, told([], { rollout: {} })],
    ['healthy, Healthy', told([online], { rollout: { state: 'complete' } })],
    [
      'held-back, Held back: its rollout failed: none became good',
      told([], { rollout: { state: 'failed', message: 'none became good' } }),
    ],
    [
      'held-back, Rollout failed: its rollout failed',
      told([], { rollout: { state: 'failed', from: 'new' } }),
    ],
    [
      'rolled-back, Rolled back: its rollout is rolled back',
      told([online], { rollout: { state: 'rolled-back', ...asked } }),
    ],
    [
      'below-minimum, Below minimum: 0 of 1 online',
      told([], { rollout: { state: 'rolled-back', ...asked } }),
    ],
  ])('is %s', (expected, found) => {
    expect(found).toBe(expected);
  });

  it('stays a crash loop while the process is up for a moment, and ends with 60 s of being up', () => {
    const words = [looping, upForNow, looping, online].map((one) => health([one]).state);
    expect(words.join(' ')).toBe('failing failing failing healthy');
  });

  it('shows the worst of all that apply', () => {
    const of = (state: RolloutRecord['state']) => ({ state, paused: null });
    const held = { rollout: of('failed') };
    const rolling = { rollout: of('rolling') };
    expect([
      health([looping, unplaced], { ...held, fault: FAULT }).state,
      health([looping, unplaced], held).state,
      health([unplaced, starting], held).state,
      health([starting], held).state,
      health([starting], rolling).state,
      health([starting], { rollout: of('awaiting-promotion') }).state,
      health([online], { rollout: of('awaiting-promotion') }).state,
      health([online], { rollout: of('paused') }).state,
    ]).toEqual(HEALTH_STATES.slice(0, 8));
  });

  it('says since when, where that is known, and which instance is meant', () => {
    expect(health([finished])).toMatchObject({ since: 7, instance: 'k3x9p2' });
    expect(health([], { rollout: { since: 5 } })).toMatchObject({ since: 5, instance: null });
    expect(health([looping])).toMatchObject({ since: null, instance: 'k3x9p2' });
  });

  it('leaves out an instance whose lost node knows nothing of it, and those that are told to end', () => {
    const lost = recordWith({
      ...crashed,
      state: 'OFFLINE',
      pid: null,
      keepsFailing: true,
      reason: 'node-lost',
    });
    const ending = recordWith({}, { desired: stop });
    expect(health([online, lost, ending]).state).toBe('healthy');
  });
});

it('tells only changes of instances that others can see in the health', () => {
  const beat = recordWith({ lastHeartbeat: 5000, players: 3 });
  expect(isSameHealth(beat, online)).toBe(true);
  expect(isSameHealth(looping, looping)).toBe(true);
  const again = recordWith({ ...crashed, restarts: 29, state: 'OFFLINE', pid: null, keepsFailing: true });
  expect(isSameHealth(again, looping)).toBe(false);
  expect(isSameHealth(online, starting)).toBe(false);
  expect(isSameHealth(undefined, online)).toBe(false);
});
