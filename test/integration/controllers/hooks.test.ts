/** Hooks around a run: their order, their failures, and what a stop or another daemon makes of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE: ConfigurationInput = {
  name: 'lobby',
  runtime: 'process',
  command: 'run',
  ramMB: 100,
  minimumServiceCount: 1,
  stopCommand: 'save-all',
  prepare: [
    { command: 'fetch', when: 'install' },
    { command: 'build', timeoutSeconds: 30 },
  ],
  after: [{ command: 'upload' }],
};

let clock: FakeClock;
let plane: ControlPlane;
let node: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  plane = new ControlPlane({ clock });
  await plane.start();
  // One instance has room, so that no other one takes the place of a stopped one.
  node = await plane.addNode('alpha', { capacity: { maxRamMB: 150, maxCpu: 1000 } });
});

afterEach(async () => {
  await plane.stop();
});

const settle = (): Promise<void> => clock.advance(300);
const commands = (): string[] => node.runtime.starts.map(({ command }) => command);
const said = (): string | undefined =>
  plane.records().map(({ status }) => `${status.state} ${status.reason ?? '-'} ${status.message ?? '-'}`)[0];

async function begin(fields: Partial<ConfigurationInput> = {}): Promise<string> {
  await plane.putConfiguration({ ...SERVICE, ...fields });
  await settle();
  return plane.records()[0]?.id ?? '';
}

async function end(code: number | null, signal: string | null = null): Promise<void> {
  for (const id of node.runtime.alive) node.runtime.end(id, { code, signal });
  await settle();
}

const ask = async (id: string, what: 'start' | 'stop' | 'restart'): Promise<void> => {
  await plane.master.writer.setLifecycle(id, what);
  await settle();
};

describe('before a start', () => {
  it('run one after the other, and the instance is not ONLINE meanwhile', async () => {
    await begin();
    expect(commands()).toEqual(['fetch']);
    expect(said()).toBe('CREATING installing prepare 1 (fetch) runs');
    await end(0);
    expect(said()).toBe('CREATING installing prepare 2 (build) runs');
    await end(0);
    expect(commands()).toEqual(['fetch', 'build', 'run']);
    expect(said()).toBe('ONLINE - -');
    expect(node.installs).toHaveLength(1);
  });

  it('begin anew with the directory when one fails, after a delay, and say which one', async () => {
    await begin();
    await end(0);
    await end(3);
    expect(said()).toBe('CREATING install-failed prepare 2 (build) exited with code 3; next try in 0.9 s');
    await clock.advance(1000);
    expect(commands()).toEqual(['fetch', 'build', 'fetch']);
    await end(0);
    await end(0);
    expect(said()).toBe('ONLINE - -');
    expect(plane.records()[0]?.status.restarts).toBe(0);
  });

  it('of an install run once for the directory of a static instance', async () => {
    await begin({ static: true });
    await end(0);
    await end(0);
    await end(1);
    await end(0);
    expect(commands()).toEqual(['fetch', 'build', 'run', 'upload', 'build']);
  });

  it('of an install do not run again after a stop in the hook behind them', async () => {
    const id = await begin({ static: true });
    await end(0);
    await plane.replaceWrapper(node);
    await settle();
    await plane.putConfiguration({ ...SERVICE, static: true, minimumServiceCount: 0 });
    await ask(id, 'stop');
    await ask(id, 'start');
    expect(commands()).toEqual(['fetch', 'build', 'build']);
  });

  it('are ended by the ladder when they take too long', async () => {
    const id = await begin();
    await end(0);
    await clock.advance(29_000);
    expect(node.runtime.signals).toEqual([]);
    await clock.advance(900);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    expect(node.runtime.written).toEqual([]);
    expect(said()).toContain('install-failed prepare 2 (build) took longer than 30 s; next try');
  });

  it('are ended by a stop, which is no failure', async () => {
    const id = await begin();
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
    await ask(id, 'stop');
    expect(node.runtime.written).toEqual([]);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    expect(said()).toBe('STOPPED stopped -');
    expect(commands()).toEqual(['fetch']);
    await ask(id, 'start');
    expect(commands()).toEqual(['fetch', 'fetch']);
  });

  it('are not ONLINE while the ladder ends them, and no proxy has to learn of it', async () => {
    const expose = { host: 'a.example.org', leaveSeconds: 60 };
    const id = await begin({ expose });
    await end(0);
    node.runtime.stubborn.add(id);
    await clock.advance(30_000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    expect(said()).toBe('CREATING installing prepare 2 (build) runs');
    await plane.putConfiguration({ ...SERVICE, expose, minimumServiceCount: 0 });
    await ask(id, 'stop');
    expect(said()).toBe('CREATING stopping stopping: SIGTERM sent');
  });

  it('count as no end of the program, which crashed before them', async () => {
    await begin({ prepare: [{ command: 'build' }, { command: 'fetch' }] });
    await end(0);
    await end(0);
    await clock.advance(1000);
    const reasons: string[] = [];
    plane.master.state.instances.onChange((_id, record) => {
      const { state, reason } = record?.value.status ?? {};
      reasons.push(`${state} ${reason}`);
    });
    for (const code of [1, 0, 0, 0]) await end(code);
    expect(said()).toBe('ONLINE - -');
    expect(plane.records()[0]?.status.restarts).toBe(1);
    expect(reasons.filter((one) => one === 'OFFLINE exited').length).toBeLessThanOrEqual(1);
    expect([...node.wrapper.used()].map(({ run }) => run)).toEqual([2]);
  });

  it('are tried again under a policy that starts no program again', async () => {
    await begin({ restartPolicy: 'never' });
    await end(1);
    await clock.advance(1000);
    expect(commands()).toEqual(['fetch', 'fetch']);
  });
});

describe('after a run', () => {
  it('run once when all is gone, before the next start', async () => {
    await begin({ prepare: [] });
    await end(1);
    expect(commands()).toEqual(['run', 'upload']);
    expect(said()).toBe('OFFLINE stopping after 1 (upload) runs');
    expect(node.installs).toHaveLength(1);
    await end(0);
    expect(commands()).toEqual(['run', 'upload', 'run']);
    expect(node.installs).toHaveLength(2);
  });

  it('run before a stop is complete, and before a directory is removed', async () => {
    const id = await begin({ prepare: [] });
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
    await plane.master.writer.setLifecycle(id, 'stop');
    await settle();
    await end(0);
    expect(commands()).toEqual(['run', 'upload']);
    expect(said()).toBe('OFFLINE stopping after 1 (upload) runs');
    expect(node.runtime.signals).toEqual([]);
    await end(0);
    expect(said()).toBe('STOPPED stopped exited with code 0');
    await plane.master.writer.remove(id);
    await settle();
    expect(node.removed).toEqual([id]);
    expect(commands()).toEqual(['run', 'upload']);
  });

  it('are waited for by Ctrl-C', async () => {
    await begin({ prepare: [] });
    let isOver = false;
    const gone = node.wrapper
      .stopInstances(() => undefined, new AbortController().signal)
      .then(() => {
        isOver = true;
      });
    await settle();
    await end(0);
    await clock.advance(3000);
    expect([commands(), isOver]).toEqual([['run', 'upload'], false]);
    await end(0);
    await clock.advance(3000);
    await gone;
    expect(node.runtime.alive).toEqual([]);
  });

  it('of a run that is over do not become more when the configuration gets another one', async () => {
    const id = await begin({ prepare: [] });
    const stopped = { ...SERVICE, prepare: [], minimumServiceCount: 0 };
    await plane.putConfiguration(stopped);
    await ask(id, 'stop');
    await end(0);
    await end(0);
    expect(said()).toContain('STOPPED stopped');
    await plane.putConfiguration({ ...stopped, after: [{ command: 'upload' }, { command: 'mail' }] });
    await settle();
    expect(commands()).toEqual(['run', 'upload']);
  });

  it('are not repeated when they fail', async () => {
    await begin({ prepare: [] });
    await end(1);
    await end(9);
    expect(commands()).toEqual(['run', 'upload', 'run']);
    expect(said()).toBe('ONLINE - -');
  });
});

describe('with another daemon', () => {
  it('go on where they are', async () => {
    await begin();
    await end(0);
    await plane.replaceWrapper(node);
    await settle();
    expect(commands()).toEqual(['fetch', 'build']);
    expect(said()).toBe('CREATING installing prepare 2 (build) runs');
    await end(0);
    expect(commands()).toEqual(['fetch', 'build', 'run']);
    await plane.replaceWrapper(node);
    await settle();
    expect(said()).toBe('ONLINE - -');
  });

  it('run once more when nobody saw how they ended', async () => {
    await begin();
    await node.wrapper.stop();
    node.runtime.forgetAll();
    await plane.replaceWrapper(node);
    await clock.advance(2000);
    expect(commands()).toEqual(['fetch', 'fetch']);
    expect(node.runtime.alive).toHaveLength(1);
  });
});
