/**
 * Placement: what a choice costs while the fleet grows, and how soon 10,000 instances that fit nowhere are recorded and
 * explained. The first is the controller's facts, plan and ledger alone; the second a whole daemon.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { BusyPorts } from '../../controllers/master/placement/busy-ports.js';
import { questionOf } from '../../controllers/master/placement/candidates.js';
import { FleetChanges } from '../../controllers/master/placement/fleet-changes.js';
import { PlacementLedger } from '../../controllers/master/placement/ledger.js';
import { placementAt } from '../../controllers/master/placement/plan.js';
import { Shortlist } from '../../controllers/master/placement/shortlist.js';
import { SystemClock } from '../../src/loop/system-clock.js';
import { type Configuration, configurationSchema } from '../../src/model/configuration.js';
import { MasterState } from '../../src/state/master-state.js';
import { nodeKey } from '../../src/store/keys.js';
import { inSteps } from '../../src/store/transaction.js';
import { instanceRecord, nodeRecord } from '../support/control-plane/records.js';
import { MemoryStore } from '../support/store/memory-store.js';
import type { Row } from './table.js';
import { BenchDaemon, type InstanceInfo, ms } from './world.js';

const CONFIGURATIONS = 20;
/** So many of one configuration in turn. */
const PER_TURN = 20;
const WAITING = 10_000;
const TARGET_WAITING_MS = 2000;
const [SHORTEST_REST_MS, LONGEST_REST_MS] = [20, 800];
const FITS_NOWHERE = {
  name: 'many',
  command: 'true',
  runtime: 'process',
  ramMB: 2_000_000,
  cpu: 1,
  minimumServiceCount: WAITING,
};

export async function benchPlacement(): Promise<Row[]> {
  await measureChoices({ nodes: 500, instances: 10_000 });
  const small = await measureChoices({ nodes: 500, instances: 10_000 });
  const large = await measureChoices({ nodes: 1000, instances: 100_000 });
  const shared = await measureChoices({ nodes: 500, instances: 10_000, isOneAddress: true });
  const [byPut, byFile] = await measureWaiting();
  const choices = '500 nodes, 10,000 instances';
  return [
    ratioRow('placement: cost of a choice, 1,000 nodes and 100,000 instances', large, small, choices, 1.3),
    ratioRow('placement: the same, 500 nodes behind one address', shared, small, choices, 1.3),
    waitingRow('its configuration comes by PUT', byPut),
    waitingRow('its file is there at the start (from the spawn)', byFile),
  ];
}

function ratioRow(figure: string, us: number, baseline: number, of: string, most: number): Row {
  return {
    figure,
    value: `${us.toFixed(1)} us (${(us / baseline).toFixed(2)} x)`,
    baseline: `${of}: ${baseline.toFixed(1)} us`,
    target: `<= ${most.toFixed(2)} x`,
    ok: us / baseline <= most,
  };
}

function waitingRow(how: string, tookMs: number): Row {
  return {
    figure: `${WAITING} instances that fit nowhere, recorded and explained; ${how}`,
    value: ms(tookMs),
    baseline: '-',
    target: `<= ${TARGET_WAITING_MS} ms`,
    ok: tookMs <= TARGET_WAITING_MS,
  };
}

interface Fleet {
  readonly nodes: number;
  readonly instances: number;
  readonly isOneAddress?: boolean;
}

/** Microseconds for each choice, with its promise. */
async function measureChoices({ nodes, instances, isOneAddress = false }: Fleet): Promise<number> {
  const store = new MemoryStore();
  const state = new MasterState(store, pino({ level: 'silent' }));
  const changes = new FleetChanges();
  const ledger = new PlacementLedger(state.instances, changes);
  const clock = new SystemClock();
  state.nodes.onChange((nodeId) => changes.note('node', nodeId));
  await state.start();
  const ids = Array.from({ length: nodes }, (_, index) => `node-${index}`);
  for (const step of inSteps(ids))
    await state.nodes.until(
      await store.transact(
        step.map((id) => ({ do: 'put', key: nodeKey(id), value: largeNode(id, isOneAddress) })),
      ),
    );
  const configurations = Array.from({ length: CONFIGURATIONS }, (_, index) => configurationOf(index));
  const sources = {
    nodes: state.nodes,
    ledger,
    busyPorts: new BusyPorts(clock, changes),
    hostAddressOf: (_configuration: Configuration, { address }: { readonly address: string }) => address,
    changes,
    now: () => clock.monotonic(),
    isAwaited: () => false,
  };
  const shortlists = configurations.map((configuration) => ({
    configuration,
    shortlist: new Shortlist(sources, questionOf(configuration)),
  }));
  const started = performance.now();
  for (let made = 0; made < instances; ) {
    const { configuration, shortlist } = shortlists[(made / PER_TURN) % CONFIGURATIONS] ?? expected();
    for (const last = made + PER_TURN; made < last; ) {
      const choice = shortlist.best();
      if (choice === undefined) throw new Error('no node fits');
      const { name: configurationName, ramMB, cpu } = configuration;
      const record = instanceRecord(`i${made++}`, { configurationName, ramMB, cpu });
      ledger.promise(record, placementAt(choice, []));
    }
  }
  const took = performance.now() - started;
  await state.stop();
  await store.close();
  return (took * 1000) / instances;
}

function expected(): never {
  throw new Error('there are as many shortlists as configurations');
}

function largeNode(nodeId: string, isOneAddress: boolean): object {
  return nodeRecord(nodeId, {
    address: isOneAddress ? '10.0.0.1' : `${nodeId}.example.org`,
    capacity: { maxRamMB: 1_000_000, maxCpu: 1_000_000 },
  });
}

function configurationOf(index: number): Configuration {
  return configurationSchema.parse({
    name: `bench-${index}`,
    runtime: 'process',
    command: 'true',
    ramMB: 512,
    cpu: 10,
    availablePorts: { min: 10_000, max: 60_000 },
  });
}

async function measureWaiting(): Promise<[number, number]> {
  const byPut = await BenchDaemon.start();
  let took: number;
  try {
    const started = performance.now();
    await byPut.request('PUT', '/configurations/many', FITS_NOWHERE);
    took = await untilExplained(byPut, started);
  } finally {
    await byPut.stop();
  }
  const byFile = await BenchDaemon.start();
  try {
    await byFile.kill('SIGTERM');
    await writeFile(join(byFile.root, 'configurations', 'many.json'), JSON.stringify(FITS_NOWHERE));
    const started = performance.now();
    await byFile.startAgain();
    return [took, await untilExplained(byFile, started)];
  } finally {
    await byFile.stop();
  }
}

/** A list of 10,000 is a load of its own, so the looks come closer to each other only towards the end. */
async function untilExplained(daemon: BenchDaemon, started: number): Promise<number> {
  for (let left = WAITING; left > 0; left = WAITING - (await explainedBy(daemon))) {
    if (performance.now() - started > 120_000) throw new Error(`${left} were not explained in time`);
    await delay(Math.max(SHORTEST_REST_MS, (LONGEST_REST_MS * left) / WAITING));
  }
  return performance.now() - started;
}

/** By the instances themselves: the metrics are kept for a second. */
async function explainedBy(daemon: BenchDaemon): Promise<number> {
  const instances = (await daemon.request('GET', '/instances')) as (InstanceInfo & { message: unknown })[];
  return instances.filter(({ message }) => message !== null).length;
}
