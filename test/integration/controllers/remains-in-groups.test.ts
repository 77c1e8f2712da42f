/** What is in the control group of a run is ended by the supervisor, whatever the run's runtime knows of it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  advisoryLimits,
  type ResourceLimits,
  runKeyOf,
} from '../../../src/runtime/limits/resource-limits.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { NO_FILES } from '../../support/control-plane/explain-facts.js';
import { FakeClock } from '../../support/fake-clock.js';

/** The groups that hold a process, by `<instance>.<run>`. It ends with the second kill. */
const used = new Set<string>();
const killed: string[] = [];

const limits: ResourceLimits = {
  ...advisoryLimits(''),
  pids: (run) => (used.has(runKeyOf(run)) ? [4_194_304] : []),
  kill: async (run) => {
    if (killed.includes(runKeyOf(run))) used.delete(runKeyOf(run));
    killed.push(runKeyOf(run));
  },
};

let clock: FakeClock;
let plane: ControlPlane;
let node: TestNode;
let id: string;

beforeEach(async () => {
  used.clear();
  killed.length = 0;
  clock = new FakeClock();
  plane = new ControlPlane({ clock, limits });
  await plane.start();
  node = await plane.addNode('alpha');
  await plane.putConfiguration({ name: 'a', runtime: 'process', command: 'run', stopTimeoutSeconds: 10 });
  await clock.advance(200);
  [id = ''] = node.runtime.alive;
  used.add(`${id}.1`);
});
afterEach(() => plane.stop());

const runs = (): number[] => node.runtime.starts.map(({ run }) => run);

it('before the next start after a crash, by the whole stop ladder', async () => {
  node.runtime.end(id, { code: 1, signal: null });
  await clock.advance(200);
  expect([runs(), node.runtime.sweeps, killed]).toEqual([[1], [`${id} SIGTERM`], []]);
  await clock.advance(9500);
  expect([runs(), killed]).toEqual([[1], []]);
  await clock.advance(3000);
  expect([runs(), killed]).toEqual([
    [1, 2],
    [`${id}.1`, `${id}.1`],
  ]);
});

it('before the instance counts as gone, with the time of its stop', async () => {
  await plane.master.writer.remove(id);
  await clock.advance(9000);
  expect(node.runtime.alive).not.toContain(id);
  expect([plane.records().some((record) => record.id === id), killed]).toEqual([true, []]);
  await clock.advance(3000);
  expect(killed.length).toBeGreaterThanOrEqual(2);
  expect(plane.records().some((record) => record.id === id)).toBe(false);
});

it('names what an end with code 0 left, and how its server stays in the foreground', async () => {
  node.runtime.names = ['redis-server'];
  node.runtime.end(id, { code: 0, signal: null });
  await clock.advance(200);
  const why =
    'its main process ended with code 0 and left 1 process (redis-server) that was in its group: ' +
    'run it in the foreground (--daemonize no)';
  const message = (): string => plane.records().find((record) => record.id === id)?.status.message ?? '';
  expect(message()).toBe(`${why}; what it left (1 process (redis-server)) is ended before the next start`);
  node.runtime.end(id, { code: 0, signal: null });
  used.clear();
  await clock.advance(500);
  expect(runs()).toEqual([1, 2]);
});

it('counts a server that made itself a daemon, and is not started again, as one that is missing', async () => {
  const explainer = plane.master.explainer(NO_FILES);
  await plane.putConfiguration({
    name: 'b',
    runtime: 'process',
    command: 'run',
    restartPolicy: 'on-failure',
  });
  await clock.advance(200);
  const [daemon = ''] = node.runtime.alive.filter((one) => one !== id);
  used.add(`${daemon}.1`);
  node.runtime.names = ['redis-server'];
  node.runtime.end(daemon, { code: 0, signal: null });
  await clock.advance(60_000);
  const { verdict, isSettled } = await explainer.configuration('b');
  expect([verdict, isSettled]).toEqual([
    `b has 0 of 1 instance ONLINE: ${daemon} has ended, and restartPolicy does not start it again: its process ended (its main process ended with code 0 and left 1 process (redis-server) that was in its group: run it in the foreground (--daemonize no)).`,
    false,
  ]);
  expect((await explainer.instance(daemon)).isSettled).toBe(false);
  expect(plane.master.metricSources().actualOf('b')).toBe(0);
  // It holds its slot all the same: a new one in its place would do no better.
  expect(plane.records().filter(({ configurationName }) => configurationName === 'b')).toHaveLength(1);
});
