/** When an instance counts as having been ready with the content that it has. */
import { expect, it } from 'vitest';
import { READY_AFTER_MS, withFirstReadiness } from '../../../src/channel/master/status-intake.js';
import type { InstanceStatus } from '../../../src/model/instance.js';
import { instanceRecord, withStatus } from '../../support/control-plane/records.js';

const fresh = withStatus(instanceRecord('a').status, { hasBeenReady: false });
const up = withStatus(fresh, { state: 'ONLINE', pid: 7 });
const down = withStatus(fresh, { state: 'OFFLINE', reason: 'exited' });

/** What is noted after each status in turn, `atMs` after the first. */
function noted(isChecked: boolean, ...reports: readonly (readonly [atMs: number, status: InstanceStatus])[]) {
  let before = fresh;
  for (const [atMs, { hasBeenReady: _ready, upAt: _upAt, ...next }] of reports) {
    const { hasBeenReady, upAt } = before;
    const after = withStatus(fresh, { ...next, hasBeenReady, ...(upAt !== undefined && { upAt }) });
    before = withFirstReadiness(before, after, { now: 1000 + atMs, isChecked });
  }
  const { hasBeenReady, upAt } = before;
  return { hasBeenReady, ...(upAt !== undefined && { upAt }) };
}

it('with a check: as soon as it is ONLINE', () => {
  expect(noted(true, [0, withStatus(up, { state: 'CREATING', reason: 'starting' })])).toEqual({
    hasBeenReady: false,
  });
  expect(noted(true, [0, up])).toEqual({ hasBeenReady: true });
});

it('without a check: once it was up for a minute, of one run', () => {
  expect(noted(false, [0, up])).toEqual({ hasBeenReady: false, upAt: 1000 });
  expect(noted(false, [0, up], [READY_AFTER_MS, down])).toEqual({ hasBeenReady: true });
  expect(noted(false, [0, up], [READY_AFTER_MS - 1, down])).toEqual({ hasBeenReady: false });
});

it('many short runs are none: each counts from its own start', () => {
  const runs = [0, 1, 2, 3].flatMap((run): [number, InstanceStatus][] => [
    [run * 30_000, withStatus(up, { pid: 7 + run, restarts: run })],
    [run * 30_000 + 100, withStatus(down, { restarts: run })],
  ]);
  expect(noted(false, ...runs)).toEqual({ hasBeenReady: false });
});

it('a next run that is reported before the end of the last one counts from its own start', () => {
  expect(noted(false, [0, up], [30_000, withStatus(up, { pid: 8, restarts: 1 })])).toEqual({
    hasBeenReady: false,
    upAt: 31_000,
  });
});

it('stays what it is', () => {
  const ready = withStatus(down, { hasBeenReady: true });
  expect(
    withFirstReadiness(withStatus(up, { hasBeenReady: true }), ready, { now: 5000, isChecked: false }),
  ).toEqual(ready);
});
