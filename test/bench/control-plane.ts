/**
 * The control plane alone: real controllers, channel and LMDB stores (durable), fake runtimes. How many instances a
 * second go from a record to ONLINE, how the cost grows, and what a settled world costs.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../src/loop/system-clock.js';
import { openStore } from '../../src/store/lmdb/open.js';
import { ControlPlane } from '../support/control-plane/control-plane.js';
import { benchPlacement } from './placement.js';
import type { Row } from './table.js';

const CLIENTS = 256;

const CONFIGURATION = {
  name: 'bench',
  runtime: 'process',
  command: 'true',
  ramMB: 1,
  cpu: 1,
  minimumServiceCount: 0,
  availablePorts: { min: 10_000, max: 60_000 },
};

export async function benchControlPlane(): Promise<Row[]> {
  await measure(3000); // Warms the JIT; the figure is for a daemon that has run for a while.
  const small = await measure(1000);
  const large = await measure(10_000);
  return [
    {
      figure: 'control plane: 10,000 instances placed and ONLINE, per second',
      value: `${Math.round(large.perSecond)}`,
      baseline: `1,000 instances: ${Math.round(small.perSecond)}`,
      target: '>= 10,000',
      ok: large.perSecond >= 10_000,
    },
    {
      figure: 'control plane: cost per instance, 10,000 against 1,000',
      value: `${(small.perSecond / large.perSecond).toFixed(2)} x`,
      baseline: '1.00 x',
      target: '<= 1.30 x',
      ok: small.perSecond / large.perSecond <= 1.3,
    },
    {
      figure: 'control plane: store writes and rounds that changed in a settled world (one resync of all)',
      value: `${large.settledWrites} writes`,
      baseline: '0',
      target: '0',
      ok: large.settledWrites === 0,
    },
    ...(await benchPlacement()),
  ];
}

async function measure(count: number): Promise<{ perSecond: number; settledWrites: number }> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-'));
  const masterStore = await openStore({ directory: join(directory, 'master') });
  const nodeStore = await openStore({ directory: join(directory, 'node') });
  const plane = new ControlPlane({ clock: new SystemClock(), masterStore });
  try {
    await plane.start();
    const node = await plane.addNode('alpha', { nodeStore });
    await plane.putConfiguration(CONFIGURATION);
    const started = performance.now();
    const allOnline = untilOnline(plane, count);
    await createMany(plane, count);
    await allOnline;
    const seconds = (performance.now() - started) / 1000;
    await plane.whenIdle();
    const revision = await plane.store.barrier();
    const starts = node.runtime.starts.length;
    plane.master.term?.controllers.resyncNow();
    await plane.whenIdle();
    return {
      perSecond: count / seconds,
      settledWrites: (await plane.store.barrier()) - revision + node.runtime.starts.length - starts,
    };
  } finally {
    await plane.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** As so many clients at once do: each asks for the next when it has its answer. */
async function createMany(plane: ControlPlane, count: number): Promise<void> {
  let left = count;
  const client = async (): Promise<void> => {
    while (left-- > 0) await plane.master.led().controllers.creations.create(CONFIGURATION.name);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

function untilOnline(plane: ControlPlane, count: number): Promise<void> {
  let online = 0;
  return new Promise((resolve) => {
    plane.master.state.instances.onChange((_id, after, before) => {
      if (after?.value.status.state === 'ONLINE' && before?.value.status.state !== 'ONLINE') online++;
      if (online === count) resolve();
    });
  });
}
