/** Where instances go: spread or packed, at a cold start too, and what those are told that fit nowhere. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane, EVENTS_WRITTEN_MS } from '../../support/control-plane/control-plane.js';
import { NO_FILES } from '../../support/control-plane/explain-facts.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
const SMALL = { maxRamMB: 1000, maxCpu: 1000 };
const LARGE = { maxRamMB: 64_000, maxCpu: 1000 };

let clock: FakeClock;
let plane: ControlPlane;
/** Connections of beta hang in it while it is shut. */
let gate: Gate;

beforeEach(async () => {
  clock = new FakeClock();
  gate = new Gate();
  plane = new ControlPlane({
    clock,
    addressOf: (nodeId) => `${nodeId}.example`,
    adaptTransport: (transport, nodeId) =>
      nodeId === 'beta' ? new GatedTransport(transport, gate) : transport,
  });
  await plane.start();
});

afterEach(async () => {
  gate.open();
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

const settle = (): Promise<void> => clock.advance(500);

/** How many instances of a configuration each node has; `-`: none has it. */
function countsOf(name = 'lobby'): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { configurationName, placement } of plane.records())
    if (configurationName === name)
      counts[placement?.nodeId ?? '-'] = (counts[placement?.nodeId ?? '-'] ?? 0) + 1;
  return counts;
}

const messages = (): (string | null)[] => [
  ...new Set(plane.records().map(({ status }: InstanceRecord) => status.message)),
];

describe('of the nodes that fit', () => {
  beforeEach(async () => {
    await plane.addNode('alpha', { capacity: SMALL });
    await plane.addNode('beta', { capacity: LARGE });
  });

  it('each gets as many replicas as the others, however large one is', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 6 });
    await settle();
    expect(countsOf()).toEqual({ alpha: 3, beta: 3 });
  });

  it('the fullest is filled first where the configuration asks for it', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 12, placement: 'pack' });
    await settle();
    expect(countsOf()).toEqual({ alpha: 10, beta: 2 });
  });

  it('those that ended do not count', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0, nodes: ['alpha'] });
    for (let count = 0; count < 3; count++) {
      const { id } = await plane.master.led().controllers.creations.create('lobby');
      await settle();
      await plane.master.writer.setLifecycle(id, 'stop');
      await settle();
    }
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 4 });
    await settle();
    expect(countsOf()).toEqual({ alpha: 5, beta: 2 });
  });
});

describe('a master that starts', () => {
  beforeEach(async () => {
    await plane.addNode('alpha', { capacity: LARGE });
    await plane.addNode('beta', { capacity: LARGE });
    await settle();
  });

  /** Another master takes over, and only alpha finds it. */
  async function replaceMaster(): Promise<void> {
    gate.shut();
    await plane.replaceMaster();
    await clock.advance(200);
  }

  it('waits for the nodes that were there before it places what it makes itself', async () => {
    await replaceMaster();
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 4 });
    await clock.advance(3000);
    expect(countsOf()).toEqual({ '-': 4 });
    expect(messages()).toEqual([null]);
    const { id } = plane.records()[0] ?? expect.fail('they are recorded');
    const explainer = plane.master.explainer(NO_FILES);
    expect(await explainer.instance(id)).toMatchObject({
      verdict: expect.stringMatching(/waits for beta: the master has just started/),
      next: expect.stringMatching(/^It gets a node in [\d.]+ s at most\.$/),
    });
    gate.open();
    await clock.advance(4000);
    expect(countsOf()).toEqual({ alpha: 2, beta: 2 });
  });

  it('waits until they are lost at most: 2 s and nodeTimeoutMs where no other master leads', async () => {
    await replaceMaster();
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 4 });
    await clock.advance(7500);
    expect(countsOf()).toEqual({ '-': 4 });
    await clock.advance(1100);
    expect(countsOf()['-']).toBeUndefined();
  });

  it('places at once what a client asks for', async () => {
    await replaceMaster();
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0, nodes: ['alpha'] });
    await plane.putConfiguration({ ...SERVICE, name: 'game', minimumServiceCount: 0 });
    const [lobby, game] = [
      plane.master.led().controllers.creations.create('lobby'),
      plane.master.led().controllers.creations.create('game'),
    ];
    await clock.advance(1);
    expect((await lobby).placement?.nodeId).toBe('alpha');
    expect((await game).placement).not.toBeNull();
  });

  it('does not wait for nodes that the configuration does not allow, nor for lost ones', async () => {
    await replaceMaster();
    await plane.putConfiguration({ ...SERVICE, nodes: ['alpha'] });
    await clock.advance(200);
    expect(countsOf()).toEqual({ alpha: 1 });
    await clock.advance(20_000);
    await replaceMaster();
    await plane.putConfiguration({ ...SERVICE, name: 'game' });
    await clock.advance(200);
    expect(countsOf('game')).toEqual({ alpha: 1 });
  });
});

it('tells all that wait what is free now, and writes nothing while that stays the same', async () => {
  await plane.addNode('alpha', { capacity: SMALL });
  await plane.putConfiguration({ ...SERVICE, name: 'big', ramMB: 5000, minimumServiceCount: 300 });
  await settle();
  expect(messages()).toEqual(['0/1 nodes fit: 1 short of RAM (need 5000 MB, free 1000 MB)']);
  await clock.advance(EVENTS_WRITTEN_MS);
  const told = await plane.store.barrier();
  await plane.putConfiguration({ ...SERVICE, name: 'game', nodes: ['beta'], minimumServiceCount: 0 });
  await clock.advance(60_000);
  // The configuration and its revision are one transaction.
  expect(await plane.store.barrier()).toBe(told + 1);
  await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 2 });
  await clock.advance(1000);
  expect(countsOf()).toEqual({ alpha: 2 });
  expect(messages()).toContain('0/1 nodes fit: 1 short of RAM (need 5000 MB, free 800 MB)');
  expect(messages()).toHaveLength(2);
});

it('gives all that wait a place when a node comes that has room for some', async () => {
  await plane.addNode('alpha', { capacity: SMALL });
  await plane.putConfiguration({ ...SERVICE, name: 'big', ramMB: 5000, minimumServiceCount: 300 });
  await settle();
  await plane.addNode('gamma', { capacity: LARGE });
  await settle();
  expect(countsOf('big')).toEqual({ gamma: 12, '-': 288 });
});
