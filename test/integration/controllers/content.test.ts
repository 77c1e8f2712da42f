/** How a changed configuration reaches instances without anybody's doing: what holds at once, and what was never ready. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { FakeNodeLogs, withLogs } from '../../support/api/fake-node-logs.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };

let clock: FakeClock;
let logs: FakeNodeLogs;
let plane: ControlPlane;
let node: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  logs = new FakeNodeLogs();
  plane = new ControlPlane({ clock, adaptInstallation: (installation) => withLogs(installation, logs) });
  await plane.start();
  node = await plane.addNode('alpha', { capacity: { maxRamMB: 1000, maxCpu: 400 } });
});

afterEach(() => plane.stop());

async function configure(fields: Partial<ConfigurationInput> = {}): Promise<void> {
  await plane.putConfiguration({ ...SERVICE, ...fields });
  await clock.advance(500);
}

function one(): InstanceRecord {
  const [record, ...others] = plane.records();
  return record === undefined || others.length > 0 ? expect.fail('one instance is expected') : record;
}

const isCurrent = () => one().revision === plane.master.state.configurations.get('lobby')?.value.hash;
const commands = () => node.runtime.starts.map(({ command }) => command);
const crash = async (): Promise<void> => {
  node.runtime.end(one().id, { code: 1, signal: null, at: clock.now() });
  await clock.advance(500);
};

it('gives what runs the fields that hold at once, and restarts nothing', async () => {
  await configure();
  const { id } = one();
  await configure({
    stopCommand: 'save',
    stopTimeoutSeconds: 40,
    restartPolicy: 'never',
    instanceGroups: ['a'],
  });
  expect(isCurrent()).toBe(true);
  expect(commands()).toEqual(['run']);
  await plane.master.writer.setLifecycle(id, 'stop');
  await clock.advance(500);
  expect(node.runtime.written).toEqual([`${id} save\n`]);
  // Half of the new time is over: the signal.
  await clock.advance(20_000);
  expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
});

it('goes by the new restart policy with the next crash', async () => {
  await configure();
  await configure({ restartPolicy: 'never' });
  await crash();
  await clock.advance(120_000);
  expect(commands()).toEqual(['run']);
  expect(one().status).toMatchObject({ state: 'STOPPED', reason: 'exited' });
  // What has ended by its policy is not started again by another one.
  await configure({ restartPolicy: 'always' });
  await clock.advance(120_000);
  expect(commands()).toEqual(['run']);
});

it('asks a running process for what readiness says now, and leaves alone what is ready', async () => {
  await configure({ readiness: { logLine: 'Doen' } });
  const { id } = one();
  logs.write(id, 'Done');
  await clock.advance(500);
  expect(one().status).toMatchObject({ state: 'CREATING', reason: 'starting' });
  await configure({ readiness: { logLine: 'Done' } });
  expect(one()).toMatchObject({ id, status: { state: 'ONLINE', hasBeenReady: true } });
  await configure({ readiness: { logLine: 'never said' } });
  expect(isCurrent()).toBe(true);
  expect(one()).toMatchObject({ id, status: { state: 'ONLINE' } });
  expect(commands()).toEqual(['run']);
});

it('takes back that a process was late, when it may take longer by now', async () => {
  const readiness = { logLine: 'Done', timeoutSeconds: 10 };
  await configure({ readiness });
  await clock.advance(10_000);
  expect(one().status.reason).toBe('not-ready');
  await configure({ readiness: { ...readiness, timeoutSeconds: 3000 } });
  expect(one().status).toMatchObject({
    reason: 'starting',
    message: expect.stringContaining('up to 3000 s'),
  });
});

it('keeps what runs as it was made, where a change asks for a restart', async () => {
  await configure();
  await configure({ command: 'better', stopCommand: 'save' });
  await clock.advance(120_000);
  await crash();
  await clock.advance(120_000);
  expect(commands()).toEqual(['run', 'run']);
  expect(isCurrent()).toBe(false);
});

it('tries a mended command at once, and the broken one not again', async () => {
  await configure({ command: 'broken' });
  for (let crashes = 0; crashes < 3; crashes++) {
    await crash();
    await clock.advance(10_000);
  }
  const before = commands().length;
  node.runtime.end(one().id, { code: 1, signal: null, at: clock.now() });
  await configure({ command: 'mended' });
  expect(commands().slice(before)).toEqual(['mended']);
  expect(one()).toMatchObject({ madeBy: 'enforcer', status: { state: 'ONLINE' } });
});

it('restarts what is up but not ready in time, with the mended content', async () => {
  await configure({ command: 'broken', readiness: { logLine: 'Done', timeoutSeconds: 10 } });
  await configure({ command: 'mended', readiness: { logLine: 'Done', timeoutSeconds: 10 } });
  expect(commands(), 'it may still be ready').toEqual(['broken']);
  await clock.advance(20_000);
  expect(commands()).toEqual(['broken', 'mended']);
});

it('places what fits nowhere by the content in force', async () => {
  await configure({ ramMB: 2000 });
  expect(one()).toMatchObject({ placement: null, status: { reason: 'no-node-fits' } });
  const { id } = one();
  await configure({ ramMB: 200 });
  expect(one()).toMatchObject({
    id,
    ramMB: 200,
    placement: { nodeId: 'alpha' },
    status: { state: 'ONLINE' },
  });
});
