import { expect, it } from 'vitest';
import { type StoredStatus, statusOf, storedStatusSchema } from '../../../src/model/instance.js';
import { instanceRecord } from '../../support/control-plane/records.js';

/** Every field that a status may have, with a value that no default has. */
const FULL: StoredStatus = {
  state: 'OFFLINE',
  reason: 'exited',
  message: 'in words',
  warning: 'look out',
  installed: { at: 6, templates: [{ group: 'a', name: 'b', digest: 'd' }] },
  pid: null,
  keepsPort: true,
  busyPort: 'query',
  restarts: 3,
  exitCode: 1,
  exitSignal: 'SIGTERM',
  lastHeartbeat: 7,
  saidHeartbeat: 8,
  keepsFailing: true,
  players: 4,
  maxPlayers: 5,
  tps: 20,
  hasBeenReady: false,
  startedAt: 9,
  upAt: 10,
  countsPlayers: true,
  gone: true,
  awaitsReport: true,
  awaitsRestart: true,
  endedAt: 11,
};

it('keeps every field of a status', () => {
  expect(Object.keys(FULL).sort()).toEqual(Object.keys(storedStatusSchema.shape).sort());
  expect(statusOf(FULL)).toEqual(FULL);
});

it('puts news over the rest, also where they take a field away', () => {
  const next = statusOf(FULL, { state: 'STOPPED', message: null, saidHeartbeat: undefined });
  expect(next).toEqual({ ...FULL, state: 'STOPPED', message: null, saidHeartbeat: undefined });
});

it.each<[string, Partial<StoredStatus>, Partial<StoredStatus>]>([
  ['an end beside a process', { pid: 12 }, { pid: 12, gone: false, endedAt: undefined }],
  ['the time up of what has been ready', { hasBeenReady: true }, { hasBeenReady: true, upAt: undefined }],
])('drops %s', (_what, news, expected) => {
  expect(statusOf(FULL, news)).toEqual({ ...FULL, ...expected });
  expect(statusOf({ ...FULL, ...news })).toEqual({ ...FULL, ...expected });
});

it('gives all statuses one order of fields, with those that are absent', () => {
  const few = statusOf(instanceRecord('abc123').status, { pid: 5 });
  expect(Object.keys(few)).toEqual(Object.keys(statusOf(FULL)));
});
