/** Clicks that the state has not confirmed: the dashboard marks them. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PendingActions } from '../../../src/dashboard/parts/pending-actions.js';
import { anInstance } from '../../support/dashboard/entries.js';

const ONLINE = anInstance({ id: 'a' });
const STOPPED = anInstance({ id: 's', state: 'STOPPED' });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('marks what was asked until the state confirms it', () => {
  const pending = new PendingActions();
  expect(pending.of(ONLINE)).toBeUndefined();
  pending.ask('stop', [ONLINE]);
  expect(pending.of(ONLINE)).toBe('stop');
  expect(pending.of({ ...ONLINE, message: 'stopping' })).toBeUndefined();
  expect(pending.of({ ...ONLINE, state: 'STOPPED' })).toBeUndefined();
});

it('does not take a report of the app for a confirmation', () => {
  const pending = new PendingActions();
  pending.ask('restart', [ONLINE]);
  expect(pending.of({ ...ONLINE, players: 12, tps: 19, lastHeartbeat: 9 })).toBe('restart');
  expect(pending.of({ ...ONLINE, restarts: 1 })).toBeUndefined();
});

it('does not mark what changes nothing', () => {
  const pending = new PendingActions();
  pending.ask('start', [ONLINE, STOPPED]);
  expect([pending.of(ONLINE), pending.of(STOPPED)]).toEqual([undefined, 'start']);
  pending.ask('stop', [STOPPED]);
  expect(pending.of(STOPPED)).toBe('start');
});

it('takes the mark away when the call was refused', () => {
  const pending = new PendingActions();
  pending.ask('delete', [ONLINE, STOPPED]);
  pending.forget('a');
  expect([pending.of(ONLINE), pending.of(STOPPED)]).toEqual([undefined, 'delete']);
});

it('ends each mark after 15 s, and not the one of a later click', () => {
  const pending = new PendingActions();
  pending.ask('stop', [ONLINE]);
  vi.advanceTimersByTime(10_000);
  pending.ask('start', [STOPPED]);
  vi.advanceTimersByTime(5_000);
  expect([pending.of(ONLINE), pending.of(STOPPED)]).toEqual([undefined, 'start']);
  vi.advanceTimersByTime(10_000);
  expect(pending.of(STOPPED)).toBeUndefined();
});
