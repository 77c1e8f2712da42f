/**
 * Every change wakes what it concerns: masters that never look at everything again settle in the same world as one
 * that is told to. A step that `resyncNow` brings about is a wake that got lost before.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TraceEvent } from '../../../src/loop/trace.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE = 60_000;
const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
const SMALL = { maxRamMB: 200, maxCpu: 1000 };

/** Notes the steps of the master's controllers. */
class StepWatch extends Metrics {
  readonly steps: string[] = [];
  override readonly trace = (event: TraceEvent): void => {
    if (event.kind === 'step') this.steps.push(`${event.controller}: ${JSON.stringify(event.step)}`);
  };
}

let clock: FakeClock;
let watch: StepWatch;
let store: FlakyStore;
let plane: ControlPlane;
let alpha: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  watch = new StepWatch();
  store = new FlakyStore(clock);
  plane = new ControlPlane({
    clock,
    metrics: watch,
    isResynced: false,
    masterStore: store,
    addressOf: (nodeId) => `${nodeId}.example`,
  });
  await plane.start();
  alpha = await plane.addNode('alpha');
});

afterEach(async () => {
  store.latencyMs = 0;
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

const writer = () => plane.master.writer;
const nodes = () => plane.master.nodeWriter;

async function service(fields: object = {}): Promise<void> {
  await plane.putConfiguration({ ...SERVICE, ...fields });
  await clock.advance(500);
}

async function create(name = 'lobby'): Promise<string> {
  const created = plane.master.led().controllers.creations.create(name);
  await clock.advance(500);
  return (await created).id;
}

/** Ids of the instances that are wanted on a node; null: on none. */
function wantedOn(nodeId: string | null): string[] {
  return plane
    .records()
    .filter(({ desired, placement }) => desired.goal === 'run' && (placement?.nodeId ?? null) === nodeId)
    .map(({ id }) => id);
}

function only(ids: readonly string[]): string {
  const [id, ...others] = ids;
  if (id === undefined || others.length > 0) expect.fail(`one instance is expected, not ${ids.join(', ')}`);
  return id;
}

/** The world becomes this, and nothing more is to be done. */
async function settlesAs(...world: string[]): Promise<void> {
  await clock.advance(3 * MINUTE);
  expect(plane.describe()).toEqual(world);
  watch.steps.length = 0;
  plane.master.term?.controllers.resyncNow();
  await clock.advance(5000);
  expect(watch.steps, 'steps that no change had brought about').toEqual([]);
  expect(plane.describe()).toEqual(world);
}

describe('a master that looks at nothing again by itself settles after', () => {
  it('what clients do to instances', async () => {
    await service({ minimumServiceCount: 2, maximumServiceCount: 3 });
    const third = await create();
    const [first = ''] = wantedOn('alpha');
    await writer().setLifecycle(third, 'stop');
    await writer().setLifecycle(first, 'restart');
    await clock.advance(5000);
    await writer().setLifecycle(third, 'start');
    await writer().reportState(first, { state: 'STOPPED' });
    await clock.advance(5000);
    await writer().remove(first);
    await settlesAs('lobby ONLINE - alpha:-', 'lobby ONLINE - alpha:-');
  });

  it('configurations that change twice before they are seen, and go', async () => {
    await Promise.all([
      plane.putConfiguration({ ...SERVICE, command: 'first' }),
      plane.putConfiguration({ ...SERVICE, command: 'second' }),
      plane.putConfiguration({ ...SERVICE, name: 'game', command: 'first' }),
      plane.removeConfiguration('game'),
    ]);
    await service({ command: 'third' });
    await settlesAs('lobby ONLINE - alpha:-');
    const { revisions, configurations } = plane.master.state;
    const used = [
      ...plane.records().map(({ revision }) => revision),
      ...[...configurations.entries()].map(([, { value }]) => value.hash),
    ];
    expect(revisions.size).toBe(new Set(used).size);
  });

  it('an instance that has no place until another gives it up', async () => {
    await nodes().cordon('alpha');
    const beta = await plane.addNode('beta', { capacity: SMALL });
    await service({ ramMB: 200, minimumServiceCount: 0, restartPolicy: 'never' });
    const first = await create();
    await create();
    await create();
    await create();
    expect(wantedOn('beta')).toEqual([first]);
    await writer().setLifecycle(first, 'stop');
    await clock.advance(20_000);
    await writer().remove(only(wantedOn('beta')));
    await clock.advance(20_000);
    beta.runtime.end(only(wantedOn('beta')), { code: 0, signal: null });
    await settlesAs('lobby ONLINE - beta:-', 'lobby STOPPED exited beta:-', 'lobby STOPPED stopped beta:-');
  });

  it('a place that was promised to one that is not wanted any more', async () => {
    await nodes().cordon('alpha');
    await plane.addNode('beta', { capacity: SMALL });
    await service({ ramMB: 200, minimumServiceCount: 0 });
    const first = await create();
    const second = await create();
    await create();
    await writer().remove(first);
    while (plane.records().some(({ id }) => id === first)) await clock.advance(1);
    // Its place is looked for in 50 ms; until then the stop is under way.
    await clock.advance(45);
    store.latencyMs = 20;
    const stopped = writer().setLifecycle(second, 'stop');
    await clock.advance(100);
    await stopped;
    store.latencyMs = 0;
    await settlesAs('lobby ONLINE - beta:-', 'lobby STOPPED stopped -:-');
  });

  it('ports that foreign programs take and give back', async () => {
    alpha.foreignPorts.add(30_000).add(30_001);
    await service({ availablePorts: { min: 30_000, max: 30_001 } });
    await clock.advance(20_000);
    expect(alpha.runtime.alive).toEqual([]);
    alpha.foreignPorts.clear();
    await clock.advance(2 * MINUTE);
    expect(alpha.runtime.alive).toHaveLength(1);
    await settlesAs(...plane.describe());
  });

  it('a node that is lost, and instances of which somebody says then that they are up', async () => {
    await service({ minimumServiceCount: 2 });
    const [first = ''] = wantedOn('alpha');
    await plane.addNode('beta');
    await alpha.wrapper.stop();
    await clock.advance(90_000);
    expect(wantedOn('beta')).toHaveLength(2);
    await writer().reportState(first, { state: 'ONLINE' });
    await settlesAs(
      'lobby OFFLINE node-lost alpha:-',
      'lobby OFFLINE node-lost alpha:-',
      'lobby ONLINE - beta:-',
      'lobby ONLINE - beta:-',
    );
    await plane.replaceWrapper(alpha);
    await settlesAs('lobby ONLINE - alpha:-', 'lobby ONLINE - alpha:-');
  });

  it('a node that is forgotten', async () => {
    await service({ minimumServiceCount: 2 });
    const beta = await plane.addNode('beta');
    await alpha.wrapper.stop();
    plane.nodes.delete('alpha');
    await nodes().forget('alpha', { force: true });
    await settlesAs('lobby ONLINE - beta:-', 'lobby ONLINE - beta:-');
    expect(beta.runtime.alive).toHaveLength(2);
    await alpha.store.close();
  });

  it('nodes that join, and a drain that is called off', async () => {
    await nodes().cordon('alpha');
    await service({ ramMB: 200, minimumServiceCount: 2 });
    await plane.addNode('beta', { capacity: SMALL });
    await plane.addNode('gamma', { capacity: SMALL });
    await clock.advance(5000);
    const before = plane.records().map(({ id }) => id);
    await writer().reportState(only(wantedOn('beta')), { state: 'ONLINE', players: 1 });
    await plane.addNode('delta', { capacity: SMALL });
    await nodes().drain('beta', 10 * MINUTE);
    await clock.advance(5000);
    expect(wantedOn('delta')).toHaveLength(1);
    await nodes().uncordon('beta');
    await settlesAs('lobby ONLINE - beta:-', 'lobby ONLINE - gamma:-');
    expect(plane.records().map(({ id }) => id)).toEqual(before);
  });

  it('a drain that is called off in the middle of a round: of each pair one stays, and both where both are used', async () => {
    await service({ minimumServiceCount: 0 });
    const originals: string[] = [];
    for (let count = 0; count < 6; count++) originals.push(await create());
    await plane.addNode('beta');
    for (const id of originals) await writer().reportState(id, { state: 'ONLINE', players: 1 });
    await nodes().drain('alpha', MINUTE);
    await clock.advance(MINUTE - 1000);
    const pairs = originals.map((id) => [id, only([...plane.master.state.replacements.get(id)])]);
    await writer().reportState(pairs.at(-1)?.[1] ?? '', { state: 'ONLINE', players: 1 });
    // At the deadline one round removes all originals, one after the other.
    store.latencyMs = 100;
    while (wantedOn('alpha').length > 4) await clock.advance(10);
    const calledOff = nodes().uncordon('alpha');
    await clock.advance(10_000);
    await calledOff;
    store.latencyMs = 0;
    await clock.advance(20_000);
    const left = new Set(plane.records().map(({ id }) => id));
    expect(pairs.map((pair) => pair.filter((id) => left.has(id)).length)).toEqual([1, 1, 1, 1, 1, 2]);
    expect(wantedOn('alpha'), 'the round was cut short').not.toEqual([originals.at(-1)]);
    await settlesAs(...plane.describe());
  });

  it('a drain, and an original that is started again after it was called off', async () => {
    await service({ minimumServiceCount: 0 });
    const original = await create();
    await plane.addNode('beta');
    await writer().reportState(original, { state: 'ONLINE', players: 1 });
    await nodes().drain('alpha', 10 * MINUTE);
    await clock.advance(5000);
    const replacement = only(wantedOn('beta'));
    await writer().setLifecycle(original, 'stop');
    await nodes().uncordon('alpha');
    await clock.advance(15_000);
    expect(wantedOn(null)).toEqual([]);
    await writer().setLifecycle(original, 'start');
    // Of the two the one stays that is up.
    await settlesAs('lobby ONLINE - beta:-');
    expect(plane.records().map(({ id }) => id)).toEqual([replacement]);
  });

  it('a drain that a maximum holds up, when another instance is not wanted any more', async () => {
    // A static one whose node takes nothing; it takes no content of one that is not static.
    await service({ static: true, minimumServiceCount: 0, maximumServiceCount: 2 });
    const unplaced = await create();
    await writer().setLifecycle(unplaced, 'stop');
    await nodes().cordon('alpha');
    await clock.advance(5000);
    await writer().setLifecycle(unplaced, 'start');
    await plane.addNode('beta', { capacity: SMALL });
    await service({ ramMB: 200, minimumServiceCount: 0, maximumServiceCount: 2 });
    await writer().reportState(await create(), { state: 'ONLINE', players: 1 });
    await plane.addNode('gamma', { capacity: SMALL });
    await nodes().drain('beta', 60 * MINUTE);
    await clock.advance(5000);
    expect(plane.master.term?.controllers.drains.progressOf('beta')?.waitingFor).toEqual([
      expect.stringContaining('allows none beside it'),
    ]);
    expect(wantedOn(null)).toEqual([unplaced]);
    await writer().remove(unplaced);
    await settlesAs('lobby ONLINE - beta:-', 'lobby ONLINE - gamma:-');
  });

  it('a drain that has nowhere to go while a port is believed to be busy', async () => {
    const availablePorts = { min: 30_000, max: 30_000 };
    await service({ availablePorts });
    const beta = await plane.addNode('beta');
    beta.foreignPorts.add(30_000);
    await service({ name: 'game', availablePorts, minimumServiceCount: 0, nodes: ['beta'] });
    await writer().remove(await create('game'));
    await clock.advance(5000);
    beta.foreignPorts.clear();
    await nodes().drain('alpha', 0);
    await clock.advance(5000);
    expect(plane.master.term?.controllers.drains.progressOf('alpha')?.waitingFor).toEqual([
      expect.stringContaining('1 of them held by other programs'),
    ]);
    await settlesAs('lobby ONLINE - beta:30000');
  });
});
