/** Listeners of extensions: what they hear, and that slow, hanging and throwing ones disturb nobody. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { NodeEvent } from '../../../src/extensions/extension.js';
import { ExtensionFaults, type FaultOwner } from '../../../src/extensions/extension-faults.js';
import { EventQueue } from '../../../src/extensions/node-events.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ExtensionWorld } from '../../support/templates/extension-world.js';
import { until } from '../../support/until.js';

function event(name: string): NodeEvent {
  return { type: 'configuration', name, change: 'added' };
}

function nameOf(heard: NodeEvent): string {
  return heard.type === 'configuration' ? heard.name : heard.type;
}

describe('the events of a node', () => {
  let world: ExtensionWorld;
  let plane: ControlPlane;

  beforeEach(() => {
    world = new ExtensionWorld();
    plane = new ControlPlane({ clock: new SystemClock() });
  });

  afterEach(async () => {
    await plane.stop();
    await world.stop();
  });

  it('reach the listeners of extensions, in order, and end with the node', async () => {
    const heard: string[] = [];
    Reflect.set(globalThis, 'droverTestHeard', heard);
    world.extension(
      'a',
      `context.on((event) => {
        const { type, instanceId, nodeId, ...rest } = event;
        globalThis.droverTestHeard.push(type + ' ' + Object.values(rest).join(' '));
      });
      context.on(async () => { throw new Error('cannot bear it'); });`,
    );
    const registry = await world.start();
    registry.follow(plane.master.state, () => true);
    await plane.start();
    await plane.addNode('node1');
    await plane.putConfiguration({
      name: 'lobby',
      command: 'run',
      runtime: 'process',
      minimumServiceCount: 1,
    });
    await until(() => expect(heard).toContain('instance-state lobby CREATING ONLINE'));
    expect(heard).toEqual(
      expect.arrayContaining([
        'node-condition connected',
        'configuration lobby added',
        'instance-state lobby  CREATING',
        'instance-state lobby CREATING ONLINE',
      ]),
    );
    const [record] = plane.records();
    await plane.removeConfiguration('lobby');
    await plane.master.writer.remove(record?.id ?? '');
    // Gone: no state follows the last one.
    await until(() => expect(heard).toContainEqual(expect.stringMatching(/^instance-state lobby \w+ $/)));
    expect(heard).toContain('configuration lobby removed');
    expect(world.status('a')).toMatchObject({ state: 'active', error: 'cannot bear it' });
    await registry.stop();
    const { length } = heard;
    await plane.putConfiguration({ name: 'late', command: 'run', runtime: 'process' });
    expect(heard).toHaveLength(length);
  });
});

describe('the queue of one listener', () => {
  const clock = new FakeClock();
  const faults: string[] = [];
  const queueOf = (listener: (heard: NodeEvent) => void | Promise<void>): EventQueue =>
    new EventQueue({
      listener,
      clock,
      onFault: (error) => faults.push(String(error)),
      onDropped: (count) => faults.push(`dropped ${count}`),
    });

  beforeEach(() => {
    faults.length = 0;
  });

  it('hands over one event at a time and waits for the answer', async () => {
    const heard: string[] = [];
    let answer = (): void => {};
    const queue = queueOf((one) => {
      heard.push(nameOf(one));
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    for (const name of ['a', 'b', 'c']) queue.add(event(name));
    expect(heard).toEqual([]);
    await clock.settle();
    expect(heard).toEqual(['a']);
    answer();
    await clock.settle();
    expect(heard).toEqual(['a', 'b']);
    queue.stop();
  });

  it('goes on after a throw, a rejection, and 30 s without an answer', async () => {
    const heard: string[] = [];
    const queue = queueOf((one) => {
      heard.push(nameOf(one));
      if (nameOf(one) === 'throws') throw new Error('thrown');
      if (nameOf(one) === 'rejects') return Promise.reject(new Error('rejected'));
      return nameOf(one) === 'hangs' ? new Promise<void>(() => {}) : undefined;
    });
    for (const name of ['throws', 'rejects', 'hangs', 'last']) queue.add(event(name));
    await clock.settle();
    expect(heard).toEqual(['throws', 'rejects', 'hangs']);
    await clock.advance(30_000);
    expect(heard).toEqual(['throws', 'rejects', 'hangs', 'last']);
    expect(faults).toEqual([
      'Error: thrown',
      'Error: rejected',
      'Error: a listener did not answer within 30 s and is not waited for',
    ]);
  });

  it('drops the oldest beyond 10,000, and says how many', async () => {
    const heard: string[] = [];
    let answer = (): void => {};
    const queue = queueOf((one) => {
      heard.push(nameOf(one));
      return heard.length > 1
        ? undefined
        : new Promise((resolve) => {
            answer = resolve;
          });
    });
    queue.add(event('first'));
    await clock.settle();
    for (let index = 0; index < 25_000; index++) queue.add(event(String(index)));
    answer();
    await until(() => expect(heard.at(-1)).toBe('24999'));
    const dropped = 25_001 - heard.length;
    expect(dropped).toBeGreaterThan(0);
    expect(heard.length).toBeLessThanOrEqual(10_001);
    expect(faults).toEqual([`dropped ${dropped}`]);
    expect(heard.slice(1)).toEqual(
      Array.from({ length: heard.length - 1 }, (_, index) => String(dropped + index)),
    );
  });

  it('holds nobody up that adds to it', async () => {
    let isCalled = false;
    const queue = queueOf(() => {
      isCalled = true;
    });
    queue.add(event('a'));
    expect(isCalled).toBe(false);
    await clock.settle();
    expect(isCalled).toBe(true);
  });
});

describe('an error that nobody caught', () => {
  it('is found to be an extension by where it comes from, or by its stack, and else is not', async () => {
    const running = new AsyncLocalStorage<FaultOwner | undefined>();
    onTestFinished(() => running.disable());
    const faults = new ExtensionFaults(running);
    const reported: string[] = [];
    const owner = {
      directory: '/node/extensions/a',
      report: (error: unknown) => reported.push(String(error)),
    };
    const inside = new Promise<boolean>((resolve) =>
      faults.run(owner, () => setTimeout(() => resolve(faults.takes(new Error('from a timer'))), 1)),
    );
    expect(await inside).toBe(true);
    const outside = new Promise<boolean>((resolve) =>
      faults.run(owner, () =>
        faults.runOutside(() => setTimeout(() => resolve(faults.takes(new Error('ours'))), 1)),
      ),
    );
    expect(await outside).toBe(false);
    const planted = new Error('by its stack');
    planted.stack = 'Error: by its stack\n    at file:///node/extensions/a/index.js:1:1';
    expect(faults.takes(planted)).toBe(true);
    expect(faults.takes(new Error('a bug of ours'))).toBe(false);
    expect(faults.takes('nothing')).toBe(false);
    // The origin of a microtask's error is that of whatever ran before it.
    expect(running.run({ ...owner, report: () => undefined }, () => faults.takes(planted))).toBe(true);
    expect(reported).toEqual(['Error: from a timer', 'Error: by its stack', 'Error: by its stack']);
  });
});
