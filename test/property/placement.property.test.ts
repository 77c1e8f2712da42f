/**
 * Whatever happens to a fleet, a shortlist that looks only at what changed answers as one look at every node would.
 * `DROVER_PROPERTY_RUNS` makes longer runs; the seed stands in the message of a failure.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { BusyPorts } from '../../controllers/master/placement/busy-ports.js';
import { questionOf } from '../../controllers/master/placement/candidates.js';
import { FleetChanges } from '../../controllers/master/placement/fleet-changes.js';
import { PlacementLedger } from '../../controllers/master/placement/ledger.js';
import { Shortlist, type ShortlistSources } from '../../controllers/master/placement/shortlist.js';
import { type Configuration, configurationSchema } from '../../src/model/configuration.js';
import { portsOf } from '../../src/model/fields/ports.js';
import type { InstancePlacement, InstanceRecord } from '../../src/model/instance.js';
import { MasterState } from '../../src/state/master-state.js';
import { instanceKey, nodeKey } from '../../src/store/keys.js';
import type { Operation } from '../../src/store/store.js';
import { plainAnswerNow } from '../support/control-plane/plain-placement.js';
import { instanceRecord, nodeRecord, placedOn } from '../support/control-plane/records.js';
import { FakeClock } from '../support/fake-clock.js';
import { MemoryStore } from '../support/store/memory-store.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 100);
const NODES = ['a', 'b', 'c', 'd', 'e'];
const HOSTS = ['10.0.0.1', '10.0.0.2'];
const SERVICE = { runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
const PORTS = { min: 30_030, max: 30_034 };

const CONFIGURATIONS: readonly Configuration[] = [
  { name: 'spread', ...SERVICE, availablePorts: PORTS },
  { name: 'packed', ...SERVICE, availablePorts: { min: 30_032, max: 30_065 }, placement: 'pack' as const },
  { name: 'portless', ...SERVICE, ramMB: 250, nodes: ['a', 'b', 'x'] },
  {
    name: 'several',
    ...SERVICE,
    availablePorts: PORTS,
    ports: {
      near: { next: 1, protocol: 'udp' as const },
      query: { min: 30_031, max: 30_035, protocol: 'tcp' as const },
    },
  },
].map((input) => configurationSchema.parse(input));

const node = fc.constantFrom(...NODES);
const port = fc.integer({ min: PORTS.min, max: PORTS.max + 1 });
const event = fc.oneof(
  fc.record({
    do: fc.constant('node' as const),
    node,
    host: fc.constantFrom(...HOSTS),
    condition: fc.constantFrom(
      'connected' as const,
      'connected' as const,
      'returning' as const,
      'lost' as const,
    ),
    cordoned: fc.constantFrom(false, false, true),
    maxRamMB: fc.constantFrom(0, 300, 1000),
    available: fc.constantFrom(true, true, true, false),
  }),
  fc.record({ do: fc.constant('forget' as const), node }),
  fc.record({
    do: fc.constant('instance' as const),
    id: fc.integer({ min: 0, max: 15 }),
    of: fc.integer({ min: 0, max: CONFIGURATIONS.length - 1 }),
    node: fc.option(node),
    host: fc.constantFrom(...HOSTS),
    port: fc.option(port),
    query: fc.option(port),
    goal: fc.constantFrom('run' as const, 'run' as const, 'stop' as const),
  }),
  fc.record({ do: fc.constant('remove' as const), id: fc.integer({ min: 0, max: 15 }) }),
  fc.record({
    do: fc.constant('busy' as const),
    node,
    port,
    protocol: fc.constantFrom('tcp' as const, 'udp' as const),
  }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 30_000, 60_000) }),
  fc.record({ do: fc.constant('ask' as const), of: fc.integer({ min: 0, max: CONFIGURATIONS.length - 1 }) }),
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

class World {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore();
  readonly state = new MasterState(this.store, pino({ level: 'silent' }));
  readonly changes = new FleetChanges();
  readonly sources: ShortlistSources = {
    nodes: this.state.nodes,
    ledger: new PlacementLedger(this.state.instances, this.changes),
    busyPorts: new BusyPorts(this.clock, this.changes),
    hostAddressOf: (_configuration, { address }) => address,
    changes: this.changes,
    now: () => this.clock.monotonic(),
    isAwaited: ({ condition }) => condition === 'returning',
  };
  readonly shortlists = CONFIGURATIONS.map(
    (configuration) => new Shortlist(this.sources, questionOf(configuration)),
  );

  async start(): Promise<void> {
    this.state.nodes.onChange((id) => this.changes.note('node', id));
    await this.state.start();
  }

  async happen(happening: Event): Promise<void> {
    switch (happening.do) {
      case 'node':
        return this.#write({ do: 'put', key: nodeKey(happening.node), value: nodeOf(happening) });
      case 'forget':
        return this.#remove(nodeKey(happening.node));
      case 'instance':
        return this.#write({
          do: 'put',
          key: instanceKey(idOf(happening.id)),
          value: instanceOf(happening),
        });
      case 'remove':
        return this.#remove(instanceKey(idOf(happening.id)));
      case 'busy':
        return this.sources.busyPorts.add(happening.node, happening.port, happening.protocol);
      case 'wait':
        return this.clock.advance(happening.ms);
      case 'ask':
        return this.compare(happening.of);
      default:
        return happening satisfies never;
    }
  }

  compare(index: number): void {
    const [shortlist, configuration] = [this.shortlists[index], CONFIGURATIONS[index]];
    if (shortlist === undefined || configuration === undefined) return;
    const { choice, refusal } = plainAnswerNow(this.sources, configuration, null);
    expect(shortlist.best()).toEqual(choice);
    expect(shortlist.room(1)).toBe(choice === undefined ? 0 : 1);
    if (choice === undefined) expect(shortlist.refusal(null)).toEqual(refusal);
    for (const nodeId of NODES) {
      const home = { nodeId, ports: portsOf({ port: 30_033 }), isBinding: true };
      const bound = plainAnswerNow(this.sources, configuration, home);
      const atHome = shortlist.at(nodeId, home.ports);
      expect(atHome?.lacks === undefined ? atHome : undefined).toEqual(bound.choice);
      if (bound.choice === undefined) expect(shortlist.refusal(nodeId, atHome)).toEqual(bound.refusal);
    }
  }

  async stop(): Promise<void> {
    await this.state.stop();
    await this.store.close();
  }

  async #remove(key: string): Promise<void> {
    if ((await this.store.get(key)) !== undefined) await this.#write({ do: 'remove', key });
  }

  async #write(operation: Operation): Promise<void> {
    const revision = await this.store.transact([operation]);
    await Promise.all([this.state.nodes.until(revision), this.state.instances.until(revision)]);
  }
}

function idOf(index: number): string {
  return `inst${String(index).padStart(2, '0')}`;
}

function nodeOf({ node: nodeId, host, maxRamMB, available, ...fields }: Event & { do: 'node' }): object {
  const { condition, cordoned } = fields;
  return nodeRecord(nodeId, {
    condition,
    cordoned,
    address: host,
    capacity: { maxRamMB, maxCpu: 1000 },
    runtimes: [{ key: 'process', available, version: '1', reason: available ? null : 'broken' }],
  });
}

function namedPorts(query: number | null): Pick<InstancePlacement, 'ports'> {
  return query === null ? {} : { ports: [{ name: 'query', port: query, protocol: 'udp' }] };
}

function instanceOf({
  id,
  of,
  node: nodeId,
  host,
  port: held,
  query,
  goal,
}: Event & { do: 'instance' }): InstanceRecord {
  const { name = '', ramMB = 0, cpu = 0 } = CONFIGURATIONS[of] ?? {};
  const placement =
    nodeId === null ? null : { ...placedOn(nodeId, held), ...namedPorts(query), hostAddress: host };
  const record = instanceRecord(idOf(id), { configurationName: name, ramMB, cpu, placement });
  const reason = goal === 'stop' ? 'stopped' : null;
  return { ...record, desired: { goal, restartToken: 0 }, status: { ...record.status, reason } };
}

it('answers from what changed as from a look at every node', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 60 }), async (events) => {
      const world = new World();
      await world.start();
      try {
        for (const happening of events) await world.happen(happening);
        for (const index of CONFIGURATIONS.keys()) world.compare(index);
      } finally {
        await world.stop();
      }
    }),
    { numRuns: RUNS },
  );
});

it('gives every port of a range out, lowest first, under addresses of many nodes', async () => {
  const world = new World();
  await world.start();
  const [configuration] = CONFIGURATIONS;
  if (configuration === undefined) expect.fail('there is one');
  for (const nodeId of NODES)
    await world.happen({
      do: 'node',
      node: nodeId,
      host: '10.0.0.1',
      condition: 'connected',
      cordoned: false,
      maxRamMB: 1000,
      available: true,
    });
  const given: (string | number | null | undefined)[][] = [];
  for (let id = 0; id < 5; id++) {
    const choice = world.shortlists[0]?.best();
    given.push([choice?.nodeId, choice?.ports[0]?.port]);
    await world.happen({
      do: 'instance',
      id,
      of: 0,
      node: choice?.nodeId ?? null,
      host: '10.0.0.1',
      port: choice?.ports[0]?.port ?? null,
      query: null,
      goal: 'run',
    });
  }
  expect(given).toEqual([
    ['a', 30_030],
    ['b', 30_031],
    ['c', 30_032],
    ['d', 30_033],
    ['e', 30_034],
  ]);
  expect(world.shortlists[0]?.best()).toBeUndefined();
  await world.happen({ do: 'remove', id: 2 });
  expect(world.shortlists[0]?.best()).toMatchObject({ nodeId: 'c', ports: [{ port: 30_032 }] });
  await world.stop();
});
