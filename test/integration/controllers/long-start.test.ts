/** A start that takes long, as one that pulls an image: it is told, holds up nobody, and ends when it is not wanted. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StartSpec } from '../../../src/runtime/runtime.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeRuntime } from '../../support/control-plane/fake-runtime.js';
import { FakeClock } from '../../support/fake-clock.js';

/** Waits in each start until it is told to go on. */
class SlowRuntime extends FakeRuntime {
  readonly pending: { readonly spec: StartSpec; readonly finish: () => void }[] = [];

  constructor() {
    super('slow');
  }

  override async start(spec: StartSpec): ReturnType<FakeRuntime['start']> {
    spec.onProgress?.('pulling image a:1');
    await new Promise<void>((resolve, reject) => {
      spec.signal?.addEventListener('abort', () => reject(spec.signal?.reason), { once: true });
      this.pending.push({ spec, finish: resolve });
    });
    return super.start(spec);
  }
}

describe('a start that takes long', () => {
  let clock: FakeClock;
  let slow: SlowRuntime;
  let plane: ControlPlane;
  beforeEach(async () => {
    clock = new FakeClock();
    slow = new SlowRuntime();
    plane = new ControlPlane({ clock, moreRuntimes: [slow] });
    await plane.start();
    await plane.addNode('alpha');
  });
  afterEach(() => plane.stop());

  const settle = (): Promise<void> => clock.advance(200);
  const SLOW = { name: 'image', runtime: 'slow', command: 'run', ramMB: 100, cpu: 10 };

  it('says what it does, and then runs', async () => {
    await plane.putConfiguration(SLOW);
    await settle();
    expect(plane.records()[0]?.status).toMatchObject({
      state: 'CREATING',
      reason: 'starting',
      message: 'pulling image a:1',
      pid: null,
    });
    slow.pending[0]?.spec.onProgress?.('pulling image a:1: 42 %, 12 of 30 MB');
    await settle();
    expect(plane.records()[0]?.status.message).toBe('pulling image a:1: 42 %, 12 of 30 MB');
    slow.pending[0]?.finish();
    await settle();
    expect(plane.records()[0]?.status).toMatchObject({ state: 'ONLINE', message: null, pid: 1000 });
  });

  it('holds up no other instance, however many there are', async () => {
    await plane.putConfiguration({ ...SLOW, minimumServiceCount: 40 });
    await settle();
    expect(slow.pending).toHaveLength(40);
    await plane.putConfiguration({ ...SLOW, name: 'quick', runtime: 'process' });
    await settle();
    expect(plane.describe().filter((line) => line.startsWith('quick'))).toEqual(['quick ONLINE - alpha:-']);
  });

  it('ends when the instance is stopped, and is no failure', async () => {
    await plane.putConfiguration(SLOW);
    await settle();
    const id = plane.records()[0]?.id ?? '';
    await plane.master.writer.setLifecycle(id, 'stop');
    await settle();
    expect(slow.pending[0]?.spec.signal?.aborted).toBe(true);
    expect(plane.records()[0]?.status).toMatchObject({ state: 'STOPPED', reason: 'stopped', restarts: 0 });
    expect(slow.starts).toEqual([]);
  });

  it('ends with the daemon, and is begun anew by the next', async () => {
    await plane.putConfiguration(SLOW);
    await settle();
    const node = plane.nodes.get('alpha');
    if (node === undefined) throw new Error('no node');
    await plane.replaceWrapper(node);
    await clock.advance(5000);
    expect(slow.pending.map(({ spec }) => spec.signal?.aborted)).toEqual([true, false]);
    slow.pending[1]?.finish();
    await clock.advance(5000);
    expect(plane.describe()).toEqual(['image ONLINE - alpha:-']);
    expect(slow.starts).toHaveLength(1);
  });
});
