/** `waitsFor` over a real master with a wrapper, fake runtimes and a virtual clock. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

let clock: FakeClock;
let plane: ControlPlane;
let alpha: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  plane = new ControlPlane({ clock });
  await plane.start();
  alpha = await plane.addNode('alpha');
});

afterEach(async () => {
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

async function put(name: string, fields: Partial<ConfigurationInput> = {}): Promise<void> {
  await plane.putConfiguration({ name, runtime: 'process', command: 'run', ramMB: 10, cpu: 1, ...fields });
  await clock.advance(500);
}

const statusOf = (name: string) => plane.records().find((one) => one.configurationName === name)?.status;
const idOf = (name: string) => plane.records().find((one) => one.configurationName === name)?.id ?? '';
const saying = (name: string): string =>
  `${statusOf(name)?.state} ${statusOf(name)?.reason} ${statusOf(name)?.message}`;

it('starts what waits when the others are there, and names the chain until then', async () => {
  await put('app', { waitsFor: [{ configuration: 'db' }] });
  expect(saying('app')).toBe(
    'CREATING waits-for app waits until db is ready (there is no such configuration)',
  );
  await put('db', { waitsFor: [{ configuration: 'migrate', until: 'finished' }] });
  await put('migrate', { restartPolicy: 'never' });
  await clock.advance(1000);
  expect(saying('app')).toBe(
    'CREATING waits-for app waits until db is ready; db waits until migrate has finished',
  );
  alpha.runtime.end(idOf('migrate'), { code: 0, signal: null });
  await clock.advance(2000);
  expect([saying('db'), saying('app')]).toEqual(['ONLINE null null', 'ONLINE null null']);
});

it('says that what should finish has failed, and goes on after a run that did not', async () => {
  await put('migrate', { restartPolicy: 'never' });
  await put('app', { waitsFor: [{ configuration: 'migrate', until: 'finished' }] });
  const id = idOf('migrate');
  alpha.runtime.end(id, { code: 3, signal: null });
  await clock.advance(2000);
  expect(saying('app')).toContain(
    `waits until migrate has finished (${id} exited with code 3: start it again)`,
  );
  await plane.master.writer.setLifecycle(id, 'start');
  await clock.advance(1000);
  alpha.runtime.end(id, { code: 0, signal: null });
  await clock.advance(2000);
  expect(saying('app')).toBe('ONLINE null null');
});

it('holds the first start only: a restart and a stop of the other change nothing', async () => {
  await put('db');
  await put('app', { waitsFor: [{ configuration: 'db' }] });
  await clock.advance(1000);
  await plane.master.writer.setLifecycle(idOf('db'), 'stop');
  await clock.advance(1000);
  await plane.master.writer.setLifecycle(idOf('app'), 'stop');
  await clock.advance(1000);
  await plane.master.writer.setLifecycle(idOf('app'), 'start');
  await clock.advance(1000);
  expect(saying('app')).toBe('ONLINE null null');
});

it('lets an instance start when the wait is taken out of its configuration', async () => {
  await put('app', { waitsFor: [{ configuration: 'db' }] });
  await put('app');
  await clock.advance(1000);
  expect(saying('app')).toBe('ONLINE null null');
});

it('ends first what waits for others, when the node is stopped', async () => {
  await put('db');
  await put('cache', { waitsFor: [{ configuration: 'db' }] });
  await put('app', { waitsFor: [{ configuration: 'cache', until: 'started' }], stopTimeoutSeconds: 5 });
  await clock.advance(1000);
  alpha.runtime.stubborn.add(idOf('app'));
  const gone = alpha.wrapper.stopInstances(() => undefined, new AbortController().signal);
  await clock.advance(4000);
  expect(alpha.runtime.alive).toHaveLength(3);
  await clock.advance(4000);
  await gone;
  const ended = [...alpha.runtime.signals].map((line) => line.split(' ')[0]);
  expect([...new Set(ended)]).toEqual(['app', 'cache', 'db'].map(idOf));
});
