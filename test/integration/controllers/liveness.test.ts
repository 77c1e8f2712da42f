/** When a running process counts as alive: what ends it, what is only said, and whose fault a silence is not. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { shownExit } from '../../../src/model/exit-record.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { FakeNodeLogs, withLogs } from '../../support/api/fake-node-logs.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';
import { metricsText } from '../../support/metrics-text.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
const BEATS = { heartbeatSeconds: 30 } as const;
const SILENT = 'not alive: no PUT state for 30 s';
const SHARED =
  'nothing is restarted, because most instances of it here fail at once: the cause is probably outside of them';

let clock: FakeClock;
let logs: FakeNodeLogs;
let plane: ControlPlane;
let node: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  logs = new FakeNodeLogs();
  plane = new ControlPlane({ clock, adaptInstallation: (installation) => withLogs(installation, logs) });
  await plane.start();
  node = await plane.addNode('alpha');
});

afterEach(() => plane.stop());

const statuses = (): InstanceRecord['status'][] => plane.records().map(({ status }) => status);
const said = (): string[] =>
  statuses().map(({ state, reason, message }) => `${state} ${reason ?? '-'} ${message ?? '-'}`);
const beat = (id: string) => plane.master.writer.reportState(id, { state: 'ONLINE' });
const exits = () => [...plane.master.state.exits.entries()].map(([id, { value }]) => shownExit(id, value));

async function started(
  liveness: ConfigurationInput['liveness'],
  fields: Partial<ConfigurationInput> = {},
): Promise<string[]> {
  await plane.putConfiguration({ ...SERVICE, liveness, ...fields });
  await clock.advance(200);
  return node.runtime.alive;
}

/** Lets time pass, in which these instances report their state every 10 s. */
async function pass(seconds: number, beating: readonly string[] = []): Promise<void> {
  for (let second = 0; second < seconds; second += 10) {
    await Promise.all(beating.map(beat));
    await clock.advance(10_000);
  }
}

describe('an instance with liveness', () => {
  it('goes on while it reports its state, and is ended and started again when it falls silent', async () => {
    const [id = ''] = await started(BEATS);
    await pass(120, [id]);
    expect([node.runtime.signals, statuses()[0]?.restarts]).toEqual([[], 0]);
    await pass(40);
    expect(node.runtime.signals).toEqual([]);
    node.runtime.stubborn.add(id);
    await clock.advance(12_000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    node.runtime.end(id, { code: null, signal: 'SIGTERM', at: clock.now() });
    await clock.advance(100);
    expect([node.runtime.alive, statuses()[0]?.restarts]).toEqual([[id], 1]);
    expect(exits()).toMatchObject([{ kind: 'not-alive', cause: SILENT }]);
    expect(exits()[0]?.text).toBe(`${id} of lobby ended (${SILENT}) on alpha`);
    expect(await metricsText(plane.metrics)).toContain(
      'drover_instance_not_alive_total{configuration="lobby"} 1',
    );
    await clock.advance(1000);
    const kinds = [...plane.master.state.events.entries()].map(([, { value }]) => value);
    expect(kinds).toContainEqual(
      expect.objectContaining({ kind: 'failed', detail: expect.stringContaining(SILENT) }),
    );
  });

  it('is OFFLINE while the ladder ends it, also under a new daemon, and its end is a failure', async () => {
    const [id = ''] = await started(BEATS, { restartPolicy: 'on-failure' });
    node.runtime.stubborn.add(id);
    await clock.advance(52_000);
    expect(said()).toEqual([`OFFLINE not-alive ${SILENT}; ending it: SIGTERM sent`]);
    await plane.replaceWrapper(node);
    await clock.advance(1000);
    expect(said()).toEqual([`OFFLINE not-alive ${SILENT}; ending it: SIGTERM sent`]);
    node.runtime.end(id, { code: 0, signal: null, at: clock.now() });
    await clock.advance(1000);
    expect([node.runtime.alive, exits()[0]?.kind]).toEqual([[id], 'not-alive']);
    await clock.advance(30_000);
    node.runtime.end(id, { code: 1, signal: null, at: clock.now() });
    await clock.advance(500);
    expect(said()).toEqual(['OFFLINE exited exited with code 1, restart 2 in 0.9 s']);
  });

  it('is stopped on request while the ladder ends it', async () => {
    const [id = ''] = await started(BEATS, { static: true });
    node.runtime.stubborn.add(id);
    await clock.advance(52_000);
    await plane.master.writer.setLifecycle(id, 'stop');
    await clock.advance(12_000);
    expect(said()).toEqual([`STOPPED stopped ${SILENT}`]);
    await plane.master.writer.setLifecycle(id, 'start');
    await clock.advance(500);
    expect(said()).toEqual(['ONLINE - -']);
  });

  it('is only said to be silent where the configuration asks for that, until a line comes', async () => {
    const [id = ''] = await started({ logSilenceSeconds: 20, intervalSeconds: 5, do: 'report' });
    await clock.advance(60_000);
    const report = 'nothing is restarted, because liveness.do is report';
    expect(said()).toEqual([`OFFLINE not-alive not alive: no line in its log for 20 s; ${report}`]);
    logs.write(id, 'a player came');
    await clock.advance(6000);
    expect([said(), node.runtime.signals]).toEqual([['ONLINE - -'], []]);
  });

  it('counts no time in which the master is away, or leads anew', async () => {
    const [id = ''] = await started(BEATS);
    await plane.master.stop();
    await clock.advance(120_000);
    await plane.replaceMaster();
    await pass(20);
    expect(node.runtime.signals).toEqual([]);
    await pass(60, [id]);
    expect(node.runtime.signals).toEqual([]);
  });

  it('counts no time in which its node was stopped', async () => {
    await started({ logSilenceSeconds: 20, intervalSeconds: 5, failures: 1 });
    await clock.advance(6000);
    clock.stall(30_000);
    await clock.advance(12_000);
    expect(node.runtime.signals).toEqual([]);
    await clock.advance(20_000);
    expect(node.runtime.signals).toHaveLength(1);
  });

  it('is restarted where others of its configuration go on, and not where most of them fail with it', async () => {
    const ids = await started({ ...BEATS, failures: 1 }, { minimumServiceCount: 10 });
    const [first = '', ...others] = ids;
    await pass(70, others);
    expect(node.runtime.signals).toEqual([`${first} SIGTERM`]);
    await pass(60, ids);
    expect(said()).toEqual(ids.map(() => 'ONLINE - -'));
    await pass(120);
    expect(node.runtime.signals).toHaveLength(1);
    expect(said()).toEqual(ids.map(() => `ONLINE not-alive ${SILENT}; ${SHARED}`));
    await pass(20, others);
    expect(node.runtime.signals).toHaveLength(1);
    await pass(20, others);
    expect(node.runtime.signals).toEqual([`${first} SIGTERM`, `${first} SIGTERM`]);
    expect(said()).toEqual(ids.map(() => 'ONLINE - -'));
  });

  it('does not wait for the stop of another one that is ended already, or wanted no more', async () => {
    const fields = { minimumServiceCount: 4, stopTimeoutSeconds: 600, static: true };
    const [first = '', second = '', third = '', ...others] = await started({ ...BEATS, failures: 1 }, fields);
    for (const id of [first, second]) node.runtime.stubborn.add(id);
    await pass(60, [second, third, ...others]);
    await plane.master.writer.setLifecycle(second, 'stop');
    await pass(60, others);
    expect(node.runtime.signals).toEqual([`${first} SIGTERM`, `${second} SIGTERM`, `${third} SIGTERM`]);
  });

  it('stays OFFLINE in its stop where it is not alive, and nothing was restarted for that', async () => {
    const [id = ''] = await started({ ...BEATS, do: 'report' }, { static: true });
    await pass(60);
    node.runtime.stubborn.add(id);
    await plane.master.writer.setLifecycle(id, 'stop');
    await clock.advance(200);
    expect(said()).toEqual(['OFFLINE stopping stopping: SIGTERM sent']);
  });

  it('is no good member of a rollout, also where all hang at once', async () => {
    const update = { strategy: 'rolling', minReadySeconds: 60, progressSeconds: 120 } as const;
    const fields = { update, minimumServiceCount: 2 };
    const ids = await started(BEATS, fields);
    await pass(70, ids);
    await plane.putConfiguration({ ...SERVICE, ...fields, liveness: BEATS, command: 'hangs' });
    for (let second = 0; second < 600; second += 10) {
      const former = plane.records().filter(({ id }) => ids.includes(id));
      await pass(
        10,
        former.map(({ id }) => id),
      );
    }
    expect(plane.master.state.rollouts.get('lobby')?.value.state).not.toBe('complete');
  });

  it('is watched by the liveness that its configuration has now', async () => {
    const [id = ''] = await started(BEATS);
    await pass(40);
    await plane.putConfiguration({ ...SERVICE, liveness: { ...BEATS, do: 'report' } });
    await pass(80);
    expect(said()).toEqual([expect.stringContaining(`OFFLINE not-alive ${SILENT}`)]);
    await plane.putConfiguration(SERVICE);
    await pass(20);
    expect([said(), node.runtime.alive]).toEqual([['ONLINE - -'], [id]]);
  });
});
