/** The phases of an instance on its node: which change leads from which phase to which, and what a change leaves alone. */
import { describe, expect, it } from 'vitest';
import {
  AT_ONCE,
  cancelled,
  climbed,
  ended,
  type Handle,
  hindered,
  isAlive,
  lookedAfter,
  type NextStart,
  notStarted,
  type Phase,
  renewed,
  settled,
  starting as start,
  unclear,
  up,
  withDirectory,
  withProgress,
} from '../../../src/node/handle.js';
import {
  down,
  handle,
  remaining,
  running,
  starting,
  stopped,
} from '../../support/control-plane/wrapper-facts.js';

const PROCESS = { pid: 43, startTime: 8, bootId: 'boot' };
const STOPPING = { signal: 'SIGTERM', begunAt: 0, signalledAt: 1, since: 1 } as const;
const LATER: NextStart = {
  problem: { reason: 'start-failed', message: 'no', busyPort: null },
  delay: { until: 9, ms: 8 },
};

const PHASES: readonly Phase[] = [
  down(),
  down({ directory: 'prepared' }),
  starting(),
  running().phase,
  running({}, { stopping: STOPPING }).phase,
  remaining(),
  remaining({ stopping: STOPPING }),
  stopped(),
];

function text(phase: Phase): string {
  const directory = phase.is === 'down' ? ` ${phase.directory}` : '';
  return phase.is + directory + ('stopping' in phase && phase.stopping !== null ? ' and stopping' : '');
}

/** Where the change leads to from each phase that it leads away from. */
function moves(change: (handle: Handle) => Handle): Record<string, string> {
  const moved = PHASES.flatMap((phase) => {
    const before = handle({ run: 1, phase });
    const after = change(before);
    return after === before ? [] : [[text(phase), text(after.phase)]];
  });
  return Object.fromEntries(moved);
}

describe('a change of the phase', () => {
  it.each<[string, (handle: Handle) => Handle, Record<string, string>]>([
    [
      'a directory is made',
      (handle) => withDirectory(handle, 'prepared'),
      { 'down stale': 'down prepared', 'down prepared': 'down prepared' },
    ],
    [
      'a directory is removed',
      (handle) => withDirectory(handle, 'cleared'),
      { 'down stale': 'down cleared', 'down prepared': 'down cleared' },
    ],
    [
      'the next start is hindered',
      (handle) => hindered(handle, LATER),
      { 'down stale': 'down stale', 'down prepared': 'down prepared' },
    ],
    ['a start takes long', (handle) => withProgress(handle, 'pulling'), { starting: 'starting' }],
    ['a start is cancelled', cancelled, { starting: 'starting' }],
    ['a start fails', (handle) => notStarted(handle, LATER), { starting: 'remaining' }],
    [
      'a signal is sent',
      (handle) => climbed(handle, STOPPING),
      {
        up: 'up and stopping',
        'up and stopping': 'up and stopping',
        remaining: 'remaining',
        'remaining and stopping': 'remaining and stopping',
      },
    ],
    [
      'nothing is left',
      (handle) => lookedAfter(handle, false, 5),
      { remaining: 'down stale', 'remaining and stopping': 'stopped and stopping' },
    ],
    [
      'something is left',
      (handle) => lookedAfter(handle, true, 5),
      { remaining: 'remaining', 'remaining and stopping': 'remaining and stopping' },
    ],
    [
      'a stop is complete',
      settled,
      { up: 'up', 'up and stopping': 'up', 'stopped and stopping': 'down stale' },
    ],
    [
      'nobody knows what became of the run',
      unclear,
      { 'down stale': 'remaining', 'stopped and stopping': 'remaining and stopping' },
    ],
  ])('when %s', (_what, change, expected) => {
    expect(moves(change)).toEqual(expected);
  });

  it('leads to up from every phase, with the stop that is under way', () => {
    for (const phase of PHASES) {
      const after = up(handle({ run: 1, phase }), PROCESS, 7);
      expect(after.phase).toEqual({
        is: 'up',
        process: PROCESS,
        since: 7,
        stopping: 'stopping' in phase ? phase.stopping : null,
      });
    }
  });

  it('counts a run that was never started as nothing to look for', () => {
    expect(unclear(handle()).phase).toEqual(down());
  });
});

it('goes through a start, a crash and the next start', () => {
  const prepared = withDirectory(handle({ run: 3 }), 'prepared');
  const asked = start(prepared, { port: 30_000 }, 5);
  expect(asked).toMatchObject({ run: 4, port: 30_000, begunAt: 5, phase: starting() });
  const crashed = ended(up(asked, PROCESS, 7), LATER);
  expect([isAlive(crashed), crashed.phase]).toEqual([true, remaining({ next: LATER })]);
  const over = lookedAfter(crashed, false, 9);
  expect([isAlive(over), over.phase]).toEqual([false, down({ next: LATER })]);
});

it('forgets why a start failed when its directory is made anew, except that its port is busy', () => {
  expect(withDirectory(hindered(handle(), LATER), 'prepared').phase).toEqual(down({ directory: 'prepared' }));
  const busy: NextStart = {
    problem: { reason: 'port-busy', message: 'held', busyPort: 1 },
    delay: { until: 9, ms: 8 },
  };
  expect(withDirectory(hindered(handle(), busy), 'prepared').phase).toEqual(
    down({ directory: 'prepared', next: busy }),
  );
});

it('begins afresh with a restart that was asked for', () => {
  const crashed = handle({ streak: 4, end: 'final', phase: down({ directory: 'prepared', next: LATER }) });
  expect(renewed(crashed, 2)).toEqual(handle({ restartToken: 2, phase: down({ next: AT_ONCE }) }));
});
