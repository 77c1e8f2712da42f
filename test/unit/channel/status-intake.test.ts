/** A wrapper's reports in the records: the newest one counts, and false or repeated ones change nothing. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StatusIntake } from '../../../src/channel/master/status-intake.js';
import type { Report } from '../../../src/channel/protocol/messages.js';
import { configurationSchema } from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey, revisionKey } from '../../../src/store/keys.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { reportOf } from '../../support/channel/messages.js';
import { intakeOver } from '../../support/channel/test-hub.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { instanceRecord, placedOn, withStatus } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { metricsText } from '../../support/metrics-text.js';

const ID = 'aaaaaa';

const report = (fields: Partial<Report> = {}): Report => reportOf(ID, fields);

describe('the intake of reports', () => {
  let clock: FakeClock;
  let store: FlakyStore;
  let state: MasterState;
  let metrics: Metrics;
  let intake: StatusIntake;
  let busy: string[];

  beforeEach(async () => {
    clock = new FakeClock({ startAt: 5000 });
    store = new FlakyStore(clock);
    state = new MasterState(store, pino({ level: 'silent' }));
    await state.start();
    metrics = new Metrics();
    busy = [];
    intake = intakeOver(state, clock, {
      metrics,
      onBusyPort: (nodeId, port) => busy.push(`${nodeId}:${port}`),
    });
  });

  afterEach(async () => {
    store.latencyMs = 0;
    store.isFull = false;
    await state.stop();
    await store.close();
  });

  async function put(fields: Partial<InstanceRecord> = {}): Promise<void> {
    const value = instanceRecord(ID, { placement: placedOn('alpha', 30000), ...fields });
    await state.instances.until(await store.transact([{ do: 'put', key: instanceKey(ID), value }]));
  }

  const status = () => state.instances.get(ID)?.value.status;

  it('writes what the holding node says, and when', async () => {
    await put();
    await intake.take('alpha', [report({ restarts: 2, exitCode: 1 })]);
    expect(status()).toMatchObject({
      state: 'ONLINE',
      pid: 42,
      restarts: 2,
      exitCode: 1,
      lastHeartbeat: 5000,
    });
  });

  it('forgets the heartbeat that was said when something new is reported, and keeps it otherwise', async () => {
    await put();
    await intake.take('alpha', [report()]);
    const said = { ...(status() ?? expect.fail('no status')), saidHeartbeat: 12 };
    await put({ status: said });
    await intake.take('alpha', [report()]);
    expect(status()?.saidHeartbeat).toBe(12);
    await intake.take('alpha', [report({ keepsFailing: true })]);
    expect(status()?.saidHeartbeat).toBeUndefined();
    expect(status()?.keepsFailing).toBe(true);
    await intake.take('alpha', [report()]);
    expect(status()?.keepsFailing).toBeUndefined();
  });

  it('gives back what the former run had beyond the content, once the node reports the restart', async () => {
    const content = configurationSchema.parse({
      name: 'lobby',
      command: 'x',
      runtime: 'process',
      ramMB: 100,
      cpu: 10,
    });
    await state.revisions.until(
      await store.transact([{ do: 'put', key: revisionKey('small'), value: content }]),
    );
    const waiting = withStatus(instanceRecord(ID).status, { state: 'ONLINE', pid: 41, awaitsRestart: true });
    const desired = { goal: 'run', restartToken: 1 } as const;
    await put({ revision: 'small', ramMB: 300, cpu: 20, desired, status: waiting });
    const held = () => state.instances.get(ID)?.value;
    await intake.take('alpha', [report({ pid: 41, restartToken: 0, reason: 'stopping' })]);
    expect(held()).toMatchObject({ ramMB: 300, cpu: 20 });
    await intake.take('alpha', [report({ pid: null, restartToken: 1, state: 'CREATING' })]);
    expect(held()).toMatchObject({ ramMB: 100, cpu: 10 });
    await put({ revision: 'small', ramMB: 300, cpu: 20, desired: { goal: 'stop', restartToken: 1 } });
    await intake.take('alpha', [report({ pid: null, restartToken: 1, state: 'STOPPED' })]);
    expect(held()).toMatchObject({ ramMB: 100, cpu: 10 });
  });

  it('does not take the former run, which had no check, for one that is ready with the new content', async () => {
    const readiness = { logLine: 'Done' };
    const content = configurationSchema.parse({ name: 'lobby', command: 'x', runtime: 'process', readiness });
    await state.revisions.until(
      await store.transact([{ do: 'put', key: revisionKey('checked'), value: content }]),
    );
    const of = { pid: 41, hasBeenReady: false, awaitsRestart: true } as const;
    const waiting = withStatus(instanceRecord(ID).status, { state: 'CREATING', ...of });
    await put({ revision: 'checked', desired: { goal: 'run', restartToken: 1 }, status: waiting });
    await intake.take('alpha', [report({ pid: 41, restartToken: 0 })]);
    expect(status()).toMatchObject({ state: 'ONLINE', hasBeenReady: false, awaitsRestart: true });
    await intake.take('alpha', [report({ pid: 42, restartToken: 1 })]);
    expect(status()).toMatchObject({ state: 'ONLINE', hasBeenReady: true });
  });

  it('takes a run for ready by a check that it got while it runs only once its node judges by that check', async () => {
    const readiness = { logLine: 'Done' };
    const content = configurationSchema.parse({ name: 'lobby', command: 'x', runtime: 'process', readiness });
    await state.revisions.until(
      await store.transact([{ do: 'put', key: revisionKey('checked'), value: content }]),
    );
    const up = withStatus(instanceRecord(ID).status, { state: 'ONLINE', pid: 41, hasBeenReady: false });
    await put({ revision: 'checked', status: up });
    await intake.take('alpha', [report({ pid: 41, revision: 'before', warning: 'it left a file' })]);
    expect(status()).toMatchObject({ state: 'ONLINE', hasBeenReady: false, warning: 'it left a file' });
    await intake.take('alpha', [report({ pid: 41, revision: 'checked', warning: 'it left a file' })]);
    expect(status()).toMatchObject({ state: 'ONLINE', hasBeenReady: true });
  });

  it('ignores what a node says of instances that it does not hold, or that nobody knows', async () => {
    await put();
    await intake.take('beta', [
      report({ state: 'STOPPED', busyPort: 30000, reason: 'port-busy', pid: null }),
    ]);
    await intake.take('alpha', [report({ id: 'nobody' })]);
    expect(status()).toEqual(instanceRecord(ID).status);
    expect(busy).toEqual([]);
  });

  it('does not lose a report because another node speaks of the same instance', async () => {
    await put();
    store.latencyMs = 5;
    // The second waits for the first to be written.
    const taken = Promise.all([
      intake.take('alpha', [report({ pid: 41 })]),
      intake.take('alpha', [report({ pid: 42 })]),
      intake.take('beta', [report({ state: 'OFFLINE', pid: null })]),
    ]);
    await clock.advance(50);
    await taken;
    expect(status()).toMatchObject({ state: 'ONLINE', pid: 42 });
  });

  it('writes nothing when a report is repeated', async () => {
    await put();
    await intake.take('alpha', [report()]);
    const revision = await store.barrier();
    clock.jumpWallClock(60_000);
    await intake.take('alpha', [report()]);
    expect(await store.barrier()).toBe(revision);
  });

  it('records the newest of several reports, whichever write is slow', async () => {
    await put();
    await intake.take('alpha', [report()]);
    store.latencyMs = 5;
    const crashed = report({ state: 'OFFLINE', reason: 'exited', pid: null });
    // The third says what the record still shows while the write of the second is on its way.
    const taken = [crashed, report()].map((each) => intake.take('alpha', [each]));
    await clock.advance(100);
    await Promise.all(taken);
    expect(status()).toMatchObject({ state: 'ONLINE', pid: 42 });
  });

  it('leaves a failed report to be taken again, unless a newer one has replaced it', async () => {
    await put();
    store.isFull = true;
    const first = report({ state: 'OFFLINE', reason: 'exited', pid: null });
    await expect(intake.take('alpha', [first])).rejects.toThrow('the disk is full');
    expect(intake.stillNews('alpha', [first])).toEqual([first]);
    store.isFull = false;
    await intake.take('alpha', [report()]);
    expect(intake.stillNews('alpha', [first])).toEqual([]);
    expect(status()).toMatchObject({ state: 'ONLINE' });
  });

  it('keeps what the app said of its players until the process is gone', async () => {
    await put({ status: { ...instanceRecord(ID).status, players: 3, maxPlayers: 8, tps: 20 } });
    await intake.take('alpha', [report()]);
    expect(status()).toMatchObject({ players: 3, maxPlayers: 8, tps: 20 });
    await intake.take('alpha', [report({ state: 'OFFLINE', reason: 'exited', pid: null })]);
    expect(status()).toMatchObject({ players: null, maxPlayers: null, tps: null });
  });

  it('takes no players over to the process that follows a crash, of which no report came', async () => {
    const { status: before } = instanceRecord(ID);
    await put({ status: withStatus(before, { pid: 42, players: 3, maxPlayers: 8, tps: 20 }) });
    await intake.take('alpha', [report({ pid: 43, restarts: 1 })]);
    expect(status()).toMatchObject({ state: 'ONLINE', pid: 43, players: null, maxPlayers: null, tps: null });
  });

  it('notes since when a process runs, anew for each run', async () => {
    await put();
    await intake.take('alpha', [report()]);
    const first = status()?.startedAt;
    expect(first).toBe(clock.now());
    clock.jumpWallClock(60_000);
    await intake.take('alpha', [report({ message: 'still the same run' })]);
    expect(status()?.startedAt).toBe(first);
    await intake.take('alpha', [report({ pid: 43, restarts: 1 })]);
    expect(status()?.startedAt).toBe(clock.now());
    await intake.take('alpha', [report({ state: 'OFFLINE', reason: 'exited', pid: null, restarts: 1 })]);
    expect(status()?.startedAt).toBeUndefined();
  });

  it('keeps the STOPPED of an app while its node ends the process', async () => {
    await put({
      desired: { goal: 'stop', restartToken: 0 },
      status: withStatus(instanceRecord(ID).status, { state: 'STOPPED', reason: 'reported', pid: 42 }),
    });
    await intake.take('alpha', [report({ reason: 'stopping', message: 'stopping: SIGTERM sent' })]);
    expect(status()).toMatchObject({ state: 'STOPPED', reason: 'stopping', pid: 42 });
    await intake.take('alpha', [report({ state: 'STOPPED', reason: 'stopped', pid: null })]);
    expect(status()).toMatchObject({ state: 'STOPPED', reason: 'stopped', pid: null });
  });

  it('keeps the ONLINE of an app whose node did not find it ready, while that ends the process', async () => {
    await put({
      status: withStatus(instanceRecord(ID).status, { state: 'ONLINE', reason: 'reported', pid: 42 }),
    });
    await intake.take('alpha', [report({ state: 'CREATING', reason: 'stopping' })]);
    expect(status()).toMatchObject({ state: 'ONLINE', reason: 'stopping' });
    await intake.take('alpha', [report({ state: 'CREATING', reason: 'installing', pid: null })]);
    expect(status()).toMatchObject({ state: 'CREATING' });
  });

  describe('of a stop from before the latest start', () => {
    const stopped = (restartToken: number) =>
      report({ restartToken, state: 'STOPPED', reason: 'stopped', pid: null });

    it.each(['run', 'stop'] as const)('records nothing while %s is wanted', async (goal) => {
      await put({ desired: { goal, restartToken: 2 } });
      await intake.take('alpha', [stopped(1)]);
      expect(status()).toMatchObject({ state: 'CREATING' });
      await intake.take('alpha', [stopped(2)]);
      expect(status()).toMatchObject({ state: 'STOPPED' });
    });

    it('records it when the instance is being removed, for nothing will start it again', async () => {
      await put({ desired: { goal: 'remove', restartToken: 2 } });
      await intake.take('alpha', [{ ...stopped(0), reason: 'removing', gone: true }]);
      expect(status()).toMatchObject({ gone: true });
    });
  });

  it('notes a busy port before it records it, but not one that the instance no longer has', async () => {
    await put();
    const busyPort = (port: number) =>
      report({ state: 'CREATING', reason: 'port-busy', pid: null, busyPort: port });
    await intake.take('alpha', [busyPort(29999)]);
    expect(status()).toMatchObject({ reason: null });
    await intake.take('alpha', [busyPort(30000)]);
    expect(status()).toMatchObject({ reason: 'port-busy' });
    expect(busy).toEqual(['alpha:29999', 'alpha:30000']);
  });

  it('counts restarts, and the time to the first ONLINE', async () => {
    await put();
    await intake.take('alpha', [report()]);
    await intake.take('alpha', [report({ restarts: 3, pid: 43 })]);
    const shown = await metricsText(metrics);
    expect(shown).toContain('drover_instance_restarts_total{configuration="lobby"} 3');
    expect(shown).toContain('drover_instance_start_duration_seconds_sum 4');
    expect(shown).toContain('drover_instance_start_duration_seconds_count 1');
  });
});
