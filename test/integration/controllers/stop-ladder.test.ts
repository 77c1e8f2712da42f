/** How instances end: the ladder of every stop, and what a restart policy makes of ends that nobody asked for. */
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { instanceKey } from '../../../src/store/keys.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
const LADDER = { stopCommand: 'save-all', stopSignal: 'SIGINT', stopTimeoutSeconds: 20 } as const;

let clock: FakeClock;
let plane: ControlPlane;
let node: TestNode;
let lines: string[];

beforeEach(async () => {
  clock = new FakeClock();
  lines = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  plane = new ControlPlane({ clock, logger });
  await plane.start();
  node = await plane.addNode('alpha', { capacity: { maxRamMB: 150, maxCpu: 1000 } });
});

afterEach(async () => {
  await plane.stop();
});

const settle = (): Promise<void> => clock.advance(200);
const record = (id: string): InstanceRecord | undefined => plane.records().find((one) => one.id === id);
const said = (id: string): string => {
  const status = record(id)?.status;
  return `${status?.state} ${status?.reason ?? '-'} ${status?.message ?? '-'}`;
};
const ask = (id: string, what: 'start' | 'stop' | 'restart'): Promise<void> =>
  plane.master.writer.setLifecycle(id, what);

/** One instance of it that is up. */
async function up(configuration: Partial<ConfigurationInput> = {}): Promise<string> {
  await plane.putConfiguration({ ...SERVICE, ...configuration });
  await settle();
  const [id = ''] = node.runtime.alive;
  expect(said(id)).toBe('ONLINE - -');
  return id;
}

describe('a stop', () => {
  it('asks by the stop command, then signals, then kills', async () => {
    const id = await up(LADDER);
    await ask(id, 'stop');
    await settle();
    expect(node.runtime.written).toEqual([`${id} save-all\n`]);
    expect(said(id)).toBe('ONLINE stopping stopping: stop command sent');
    await clock.advance(9000);
    expect(node.runtime.signals).toEqual([]);
    await clock.advance(1000);
    expect(node.runtime.signals).toEqual([`${id} SIGINT`]);
    await settle();
    expect(said(id)).toBe('STOPPED stopped ended by SIGINT');
  });

  it('logs each rung before the end, and once', async () => {
    const id = await up({ ...LADDER, stopCommand: undefined });
    node.runtime.isAway = true;
    await ask(id, 'stop');
    await clock.advance(5000);
    node.runtime.isAway = false;
    await clock.advance(1000);
    expect(lines.filter((line) => line.includes(id)).slice(-3)).toEqual([
      `stopping ${id} (lobby): SIGINT`,
      `SIGINT for ${id} waits: the container engine does not answer`,
      `${id} (lobby) has stopped: ended by SIGINT`,
    ]);
  });

  it('ends with SIGKILL what neither command nor signal ends', async () => {
    const id = await up({ ...LADDER, stopSignal: 'SIGTERM' });
    node.runtime.stubborn.add(id);
    await ask(id, 'stop');
    await clock.advance(19_900);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    await clock.advance(300);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`, `${id} SIGKILL`]);
    expect(said(id)).toBe('STOPPED stopped ended by SIGKILL');
  });

  it('needs no signal where the command is enough', async () => {
    const id = await up(LADDER);
    await ask(id, 'stop');
    await settle();
    node.runtime.end(id, { code: 0, signal: null });
    await settle();
    expect(said(id)).toBe('STOPPED stopped exited with code 0');
    await clock.advance(30_000);
    expect(node.runtime.signals).toEqual([]);
  });

  it('goes on with the signal at once when the command cannot be written', async () => {
    const id = await up(LADDER);
    node.runtime.isInputFull = true;
    await ask(id, 'stop');
    await settle();
    expect(node.runtime.signals).toEqual([`${id} SIGINT`]);
  });

  it('waits where it is while the runtime does not answer, and never begins with SIGKILL', async () => {
    const id = await up({ stopTimeoutSeconds: 20 });
    node.runtime.stubborn.add(id);
    node.runtime.isAway = true;
    await ask(id, 'stop');
    await clock.advance(60_000);
    expect(said(id)).toBe(
      'ONLINE stopping stopping: the next signal waits: the container engine does not answer',
    );
    node.runtime.isAway = false;
    await clock.advance(1000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    await clock.advance(18_000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    await clock.advance(3000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`, `${id} SIGKILL`]);
  });

  it('gives the signal its half of the time, also when nothing answered as it was due', async () => {
    const id = await up({ ...LADDER, stopSignal: 'SIGTERM' });
    node.runtime.stubborn.add(id);
    await ask(id, 'stop');
    await settle();
    node.runtime.isAway = true;
    await clock.advance(30_000);
    node.runtime.isAway = false;
    await clock.advance(9000);
    expect([node.runtime.written, node.runtime.signals]).toEqual([[`${id} save-all\n`], [`${id} SIGTERM`]]);
    await clock.advance(3000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`, `${id} SIGKILL`]);
  });

  it('signals the main process, and the rest when that has ended', async () => {
    const id = await up();
    node.runtime.shelled.add(id);
    await ask(id, 'stop');
    await settle();
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`, `${id} SIGTERM`]);
    expect(said(id)).toBe('STOPPED stopped ended by SIGTERM');
  });

  it.each([
    ['until it has ended', true, 1000],
    ['for 5 s at most', false, 4900],
  ])('lets what reads from a pipe pass on the last words, %s', async (_, hasEnded, sparedMs) => {
    const id = await up();
    node.runtime.shelled.add(id);
    node.runtime.readers = [{ pid: 500, startTime: 1 }];
    await ask(id, 'stop');
    await clock.advance(sparedMs);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    if (hasEnded) node.runtime.readers = [];
    await clock.advance(1000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`, `${id} SIGTERM`]);
  });

  it('spares the rest while the main process works, over a restart of the daemon, until SIGKILL for all', async () => {
    const id = await up();
    node.runtime.shelled.add(id);
    node.runtime.stubborn.add(id);
    await ask(id, 'stop');
    await clock.advance(4000);
    await plane.replaceWrapper(node);
    await clock.advance(5500);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    await clock.advance(1000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`, `${id} SIGKILL`]);
  });

  it('signals everything at once where stopTo says so', async () => {
    const id = await up({ stopTo: 'all' });
    node.runtime.shelled.add(id);
    await ask(id, 'stop');
    await settle();
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
  });

  it('is not begun again by another request', async () => {
    const id = await up({ ...LADDER, stopSignal: 'SIGTERM' });
    node.runtime.stubborn.add(id);
    await ask(id, 'stop');
    await clock.advance(5000);
    await ask(id, 'stop');
    await plane.master.writer.remove(id);
    await clock.advance(4000);
    expect([node.runtime.written.length, node.runtime.signals]).toEqual([1, []]);
    await clock.advance(2000);
    expect([node.runtime.written.length, node.runtime.signals]).toEqual([1, [`${id} SIGTERM`]]);
    await clock.advance(10_000);
    expect(record(id)).toBeUndefined();
  });

  it('goes on where it was when the daemon is replaced in the middle of it', async () => {
    const id = await up({ ...LADDER, stopSignal: 'SIGTERM' });
    node.runtime.stubborn.add(id);
    await ask(id, 'stop');
    await clock.advance(6000);
    await plane.replaceWrapper(node);
    await clock.advance(3500);
    expect([node.runtime.written.length, node.runtime.signals]).toEqual([1, []]);
    await clock.advance(1000);
    expect([node.runtime.written.length, node.runtime.signals]).toEqual([1, [`${id} SIGTERM`]]);
    await plane.replaceWrapper(node);
    await clock.advance(9500);
    expect(node.runtime.signals.at(-1)).toBe(`${id} SIGKILL`);
    await settle();
    expect(said(id)).toBe('STOPPED stopped ended by SIGKILL');
  });

  it('is the same for a restart, which then starts anew', async () => {
    const id = await up(LADDER);
    await ask(id, 'restart');
    await settle();
    expect(node.runtime.written).toEqual([`${id} save-all\n`]);
    expect(said(id)).toBe('ONLINE stopping restarting: stop command sent');
    node.runtime.end(id, { code: 0, signal: null });
    await settle();
    expect(said(id)).toBe('ONLINE - -');
    expect(node.runtime.starts).toHaveLength(2);
  });

  it('is the same for an assignment that is gone, without its configuration', async () => {
    const id = await up(LADDER);
    await plane.store.transact([{ do: 'remove', key: instanceKey(id) }]);
    await settle();
    expect(node.runtime.written).toEqual([`${id} save-all\n`]);
    await clock.advance(11_000);
    expect(node.runtime.signals).toEqual([`${id} SIGINT`]);
  });

  it('is the same for Ctrl-C, and its instance comes back with the node', async () => {
    const id = await up(LADDER);
    await plane.master.term?.controllers.stop();
    const gone = node.wrapper.stopInstances(() => undefined, new AbortController().signal);
    await settle();
    expect(node.runtime.written).toEqual([`${id} save-all\n`]);
    node.runtime.end(id, { code: 0, signal: null });
    await clock.advance(1000);
    await gone;
    expect(said(id)).toBe('OFFLINE node-stopped its node was stopped; it starts again with the node');
  });

  it('leaves what is wanted alone when a second Ctrl-C cut it short, and counts its end as asked for', async () => {
    const id = await up({ ...LADDER, restartPolicy: 'never' });
    const patience = new AbortController();
    const gone = node.wrapper.stopInstances(() => undefined, patience.signal);
    await settle();
    patience.abort();
    await clock.advance(3000);
    await gone;
    await plane.replaceWrapper(node);
    await settle();
    node.runtime.end(id, { code: 0, signal: null });
    await clock.advance(5000);
    expect(node.runtime.signals).toEqual([]);
    expect([said(id), node.runtime.starts.length]).toEqual(['ONLINE - -', 2]);
  });
});

describe('an end that nobody asked for', () => {
  const FINISHED = 'STOPPED exited exited with code 0; restartPolicy on-failure does not start it again';
  const end = async (id: string, code: number): Promise<void> => {
    node.runtime.end(id, { code, signal: null });
    await settle();
  };

  it('is final with restartPolicy never, and nothing is created in its place', async () => {
    const id = await up({ restartPolicy: 'never' });
    await end(id, 3);
    await clock.advance(600_000);
    expect(said(id)).toBe('STOPPED exited exited with code 3; restartPolicy never does not start it again');
    expect(record(id)?.desired.goal).toBe('run');
    expect([plane.records().length, node.runtime.starts.length]).toEqual([1, 1]);
  });

  it('is final with restartPolicy on-failure where the code is 0, and restarted in place where it is not', async () => {
    const id = await up({ restartPolicy: 'on-failure' });
    await end(id, 3);
    expect(said(id)).toBe('ONLINE - -');
    await end(id, 0);
    await clock.advance(600_000);
    expect(said(id)).toBe(FINISHED);
    expect([plane.records().length, node.runtime.starts.length]).toEqual([1, 2]);
  });

  it('stays final when daemon and master are replaced', async () => {
    const id = await up({ restartPolicy: 'on-failure' });
    await end(id, 0);
    await plane.replaceWrapper(node);
    await plane.replaceMaster();
    await clock.advance(20_000);
    expect(said(id)).toBe(FINISHED);
    expect([plane.records().length, node.runtime.starts.length]).toEqual([1, 1]);
  });

  it('stays final while its node is lost, and counts all the same', async () => {
    const id = await up({ restartPolicy: 'on-failure' });
    await end(id, 0);
    await node.wrapper.stop();
    await clock.advance(200_000);
    expect(said(id)).toBe(FINISHED);
    expect(plane.records()).toHaveLength(1);
  });

  it('gives its RAM back, and a start has it placed and run anew', async () => {
    const id = await up({ restartPolicy: 'on-failure' });
    await end(id, 0);
    await plane.putConfiguration({ ...SERVICE, name: 'other' });
    await settle();
    const [other = ''] = node.runtime.alive;
    expect(other).not.toBe(id);
    await ask(id, 'start');
    await settle();
    expect(said(id)).toContain('short of RAM');
    await plane.removeConfiguration('other');
    await plane.master.writer.remove(other);
    await clock.advance(1000);
    expect(said(id)).toBe('ONLINE - -');
    await end(id, 0);
    expect(said(id)).toBe(FINISHED);
  });

  it.each(['start', 'restart'] as const)('is taken up again by %s', async (what) => {
    const id = await up({ restartPolicy: 'never' });
    await end(id, 0);
    await ask(id, what);
    await clock.advance(1000);
    expect([said(id), node.runtime.alive]).toEqual(['ONLINE - -', [id]]);
  });

  it('can be made a stop, which another instance replaces', async () => {
    const id = await up({ restartPolicy: 'never' });
    await end(id, 0);
    await ask(id, 'stop');
    await clock.advance(1000);
    expect(said(id)).toBe('STOPPED stopped exited with code 0');
    expect(plane.records()).toHaveLength(2);
  });
});
