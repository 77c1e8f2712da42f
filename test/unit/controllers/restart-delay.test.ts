/** What a handle remembers of an end or a failure, and how long the next try waits. */
import { describe, expect, it } from 'vitest';
import { isFinished } from '../../../controllers/wrapper/process-supervisor/goal.js';
import {
  afterExit,
  afterFailure,
  STABLE_AFTER_MS,
} from '../../../controllers/wrapper/process-supervisor/restart-delay.js';
import { type Handle, nextStartOf } from '../../../src/node/handle.js';
import { desired, handle, remaining, running, starting } from '../../support/control-plane/wrapper-facts.js';

const NOW = 1_000_000;
const EXIT = { code: 1, signal: null, at: 5 };

const crashed = (streak: number, upMs: number | null, jitter = 0) =>
  afterExit(running({ streak }, { since: upMs === null ? null : NOW - upMs }), EXIT, NOW, jitter);
const delayOf = (handle: Handle) => nextStartOf(handle).delay?.ms ?? 0;

describe('after an exit that nobody asked for', () => {
  it('waits not at all, then 1 s, then twice as long each time up to 60 s', () => {
    const delays = [0, 1, 2, 3, 6, 7, 8, 50].map((streak) => delayOf(crashed(streak, 10)));
    expect(delays).toEqual([0, 1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
    expect(crashed(0, 10)).toMatchObject({ streak: 1, end: 'unasked', phase: remaining() });
    expect(nextStartOf(crashed(1, 10)).delay).toEqual({ until: NOW + 1000, ms: 1000 });
  });

  it('shortens a delay by up to a fifth, as chance has it', () => {
    expect(delayOf(crashed(3, 10, 0.5))).toBe(3600);
  });

  it('counts as the first one when the process had been up for a minute, and not before', () => {
    expect([crashed(6, STABLE_AFTER_MS).streak, delayOf(crashed(6, STABLE_AFTER_MS))]).toEqual([1, 0]);
    const early = crashed(6, STABLE_AFTER_MS - 1);
    expect([early.streak, delayOf(early)]).toEqual([7, 32_000]);
    expect(crashed(6, null)).toMatchObject({ streak: 7 });
  });

  it('is kept with its place in the log, the newest first', () => {
    const output = { from: { segment: 1, offset: 0 }, to: { segment: 1, offset: 9 } };
    const first = { run: 3, wasAsked: false, output, ...EXIT };
    const { exits } = afterExit(running({ run: 3 }), { ...EXIT, output }, NOW, 0);
    expect(exits).toEqual([first]);
    const { exits: both } = afterExit(running({ run: 4, exits }), EXIT, NOW, 0);
    const measured = { ...EXIT, mostMemoryBytes: 7 };
    expect(afterExit(running({ run: 4, begunAt: 2 }), measured, NOW, 0).exits[0]).toEqual({
      run: 4,
      wasAsked: false,
      output: null,
      begunAt: 2,
      mostMemoryBytes: 7,
      ...EXIT,
    });
    expect(both).toEqual([{ run: 4, wasAsked: false, output: null, ...EXIT }, first]);
  });
});

it('takes an exit in a stop that was asked for as no failure', () => {
  const stopping = { signal: 'SIGTERM', begunAt: 0, signalledAt: NOW, since: NOW } as const;
  expect(afterExit(running({ streak: 4 }, { stopping }), EXIT, NOW, 0)).toMatchObject({
    streak: 0,
    phase: remaining({ stopping }),
    end: 'asked',
    exits: [{ wasAsked: true }],
  });
});

it('never repeats a failed install or start at once', () => {
  const problem = { reason: 'start-failed', message: 'no such program', busyPort: null } as const;
  expect(afterFailure(handle(), problem, NOW, 0)).toEqual({
    streak: 2,
    next: { problem, delay: { until: NOW + 1000, ms: 1000 } },
  });
  expect(afterFailure(handle({ streak: 4 }), problem, NOW, 0)).toMatchObject({
    streak: 5,
    next: { delay: { ms: 8000 } },
  });
});

describe('an instance has finished', () => {
  const ended = (fields: Partial<Handle>, restartToken = 0): boolean =>
    isFinished(
      { desired: desired({ restartToken }, false, { restartPolicy: 'never' }) },
      handle({ run: 1, exit: EXIT, end: 'unasked', ...fields }),
    );

  it('when it ended by itself and nothing starts it again', () => {
    expect(ended({})).toBe(true);
  });

  it('not while it is started or up, nor when somebody asked for a start', () => {
    expect(ended({ phase: starting() })).toBe(false);
    expect(ended({ phase: running().phase })).toBe(false);
    expect(ended({}, 1)).toBe(false);
    expect(ended({ phase: running().phase }, 1)).toBe(false);
  });
});
