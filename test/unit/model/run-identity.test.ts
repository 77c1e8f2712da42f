/** The identity of a run: a process of this host, or a container, for which no pid stands. */
import { describe, expect, it } from 'vitest';
import { toInstanceInfo } from '../../../src/model/instance.js';
import {
  identityText,
  isSameRun,
  NO_HOST_PID,
  pidOf,
  publicPid,
} from '../../../src/model/run/run-identity.js';
import { instanceRecord, withStatus } from '../../support/control-plane/records.js';

const PROCESS = { pid: 4711, startTime: 1, bootId: 'b' };
const CONTAINER = { containerId: '3fd8944bee3a4d7fb85d8b22fe803ff1' };

describe('the identity of a run', () => {
  it('has a pid in reports, also as a container, so that what runs is told from what does not', () => {
    expect([pidOf(PROCESS), pidOf(CONTAINER), pidOf(null)]).toEqual([4711, NO_HOST_PID, null]);
  });

  it('shows clients no pid of a container', () => {
    expect([publicPid(4711), publicPid(NO_HOST_PID), publicPid(null)]).toEqual([4711, null, null]);
    const record = instanceRecord('abc123');
    const info = toInstanceInfo({ ...record, status: withStatus(record.status, { pid: NO_HOST_PID }) }, 0);
    expect(info.processPid).toBeNull();
  });

  it('is the same only for the same process or container', () => {
    expect(isSameRun(PROCESS, { ...PROCESS })).toBe(true);
    expect(isSameRun(CONTAINER, { ...CONTAINER })).toBe(true);
    expect(isSameRun(PROCESS, { ...PROCESS, pid: 4712 })).toBe(false);
    expect(isSameRun(CONTAINER, { containerId: 'other' })).toBe(false);
    expect(isSameRun(PROCESS, CONTAINER)).toBe(false);
    expect(isSameRun(CONTAINER, PROCESS)).toBe(false);
    expect(isSameRun(null, PROCESS)).toBe(false);
  });

  it('is called in a log line what the tools of the system call it', () => {
    expect([identityText(PROCESS), identityText(CONTAINER)]).toEqual(['pid 4711', 'container 3fd8944bee3a']);
  });
});
