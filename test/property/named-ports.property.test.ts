/**
 * Whatever is placed, stopped, updated and removed in any order: no two instances of one node or one address have the
 * same port of one protocol, unless both share it as instances of one configuration on one node, and each has what its
 * configuration asks for. What shares a port joins the others.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { placementAgain } from '../../controllers/master/placement/again.js';
import { BusyPorts } from '../../controllers/master/placement/busy-ports.js';
import { FleetChanges } from '../../controllers/master/placement/fleet-changes.js';
import { PlacementLedger } from '../../controllers/master/placement/ledger.js';
import { Places } from '../../controllers/master/placement/places.js';
import { plan } from '../../controllers/master/placement/plan.js';
import { type Configuration, configurationSchema } from '../../src/model/configuration.js';
import { DroverError } from '../../src/model/errors.js';
import { isSamePort, type NamedPort, portNeedsOf, portsOf } from '../../src/model/fields/ports.js';
import type { InstanceRecord } from '../../src/model/instance.js';
import { newInstance, withContentAt, withPlace } from '../../src/state/instance-changes.js';
import { MasterState } from '../../src/state/master-state.js';
import { instanceKey, nodeKey, revisionKey } from '../../src/store/keys.js';
import { nodeRecord } from '../support/control-plane/records.js';
import { FakeClock } from '../support/fake-clock.js';
import { MemoryStore } from '../support/store/memory-store.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 60);
const NODES = ['a', 'b', 'c'];
const protocol = fc.constantFrom('tcp' as const, 'udp' as const, 'both' as const);
const range = fc
  .tuple(fc.integer({ min: 30_000, max: 30_006 }), fc.integer({ min: 0, max: 5 }))
  .map(([min, more]) => ({ min, max: min + more }));
const wanted = fc.oneof(
  fc.tuple(range, protocol).map(([one, of]) => ({ ...one, protocol: of })),
  protocol.map((of) => ({ sameAs: 'main' as const, protocol: of })),
  fc.tuple(fc.integer({ min: 1, max: 2 }), protocol).map(([next, of]) => ({ next, protocol: of })),
);
const content = fc
  .record({
    name: fc.constantFrom('ark', 'ark', 'rust'),
    availablePorts: range,
    a: fc.option(wanted),
    b: fc.option(wanted),
    isStatic: fc.boolean(),
    isShared: fc.boolean(),
  })
  .map(({ name, availablePorts, a, b, isStatic, isShared }) =>
    configurationSchema.safeParse({
      name,
      ...(isShared && { sharePort: 'reuse' }),
      command: 'run',
      runtime: 'process',
      ramMB: 1,
      static: isStatic,
      availablePorts,
      ports: { ...(a && { a }), ...(b && { b }) },
    }),
  )
  .filter(({ success }) => success)
  .map(({ data = expect.fail('valid') }) => data);
const step = fc.record({
  do: fc.constantFrom('create', 'create', 'create', 'update', 'stop', 'start', 'busy', 'remove'),
  which: fc.nat(),
  of: fc.nat({ max: 2 }),
  port: fc.integer({ min: 30_000, max: 30_010 }),
});

class World {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore();
  readonly state = new MasterState(this.store, pino({ level: 'silent' }));
  readonly changes = new FleetChanges();
  readonly busyPorts = new BusyPorts(this.clock, this.changes);
  readonly options = {
    nodes: this.state.nodes,
    instances: this.state.instances,
    revisions: this.state.revisions,
    ledger: new PlacementLedger(this.state.instances, this.changes),
    busyPorts: this.busyPorts,
    changes: this.changes,
    hostAddressOf: (_configuration: Configuration, { address }: { readonly address: string }) => address,
    beats: { contact: () => ({ isConnected: true }) as never, lastBeatAt: () => 0 },
    chooseTemplates: () => ({ templates: [], problems: [] }),
    clock: this.clock,
  };
  readonly places = new Places(this.options);
  readonly ids: string[] = [];

  async start(contents: readonly Configuration[]): Promise<void> {
    this.state.nodes.onChange((id) => this.changes.note('node', id));
    await this.state.start();
    for (const [index, nodeId] of NODES.entries())
      await this.#write(
        nodeKey(nodeId),
        nodeRecord(nodeId, {
          // Two nodes behind one address.
          address: index < 2 ? '10.0.0.1' : '10.0.0.2',
          knows: ['ports', 'sharePort'],
          capacity: { maxRamMB: 1000, maxCpu: 10_000 },
          runtimes: [{ key: 'process', available: true, version: '1', reason: null }],
        }),
      );
    for (const [index, value] of contents.entries()) await this.#write(revisionKey(`f0${index}`), value);
  }

  record(which: number): InstanceRecord | undefined {
    return this.state.instances.get(this.ids[which % this.ids.length] ?? '')?.value;
  }

  async put(record: InstanceRecord): Promise<void> {
    await this.#write(instanceKey(record.id), record);
  }

  async place(record: InstanceRecord): Promise<InstanceRecord> {
    const [planned] = plan(this.places.factsOfRecord(record)).steps;
    const placed = planned?.do === 'place' ? withPlace(record, planned.placement) : record;
    await this.put(placed);
    return placed;
  }

  async remove(id: string): Promise<void> {
    const revision = await this.store.transact([{ do: 'remove', key: instanceKey(id) }]);
    await this.state.instances.until(revision);
  }

  /** The instances that have ports, also those of static ones that wait. */
  judge(contents: readonly Configuration[]): void {
    const held = [...this.state.instances.entries()].flatMap(([id, { value }]) => {
      const place = value.placement ?? (value.static ? value.home : null);
      const address = value.placement?.hostAddress ?? '';
      return place === null
        ? []
        : portsOf(place).map((one) => ({ id, nodeId: place.nodeId, address, one, value }));
    });
    for (const [index, a] of held.entries())
      for (const b of held.slice(index + 1))
        if (a.id !== b.id && (a.nodeId === b.nodeId || (a.address !== '' && a.address === b.address)))
          expect(
            isSamePort(a.one, b.one) && !isShared(a, b),
            `${a.id} and ${b.id}: ${JSON.stringify([a.one, b.one])}`,
          ).toBe(false);
    for (const [, { value }] of this.state.instances.entries()) {
      const configuration = contents[Number(value.revision.slice(2))];
      if (value.placement === null || configuration === undefined) continue;
      const own = portsOf(value.placement);
      expect(value.placement.sharedBy).toBe(configuration.sharePort && configuration.name);
      for (const { name, min, max, sharedBy, group } of portNeedsOf(configuration)) {
        const number = own.find((one) => one.name === name)?.port ?? 0;
        expect(number >= min && number <= max, `${name} is ${number}, not of ${min}-${max}`).toBe(true);
        for (const one of group)
          expect(own).toContainEqual({
            name: one.name,
            port: number + one.above,
            protocol: one.protocol,
            ...(sharedBy !== undefined && { sharedBy }),
          });
      }
    }
  }

  /** What has just been made has the port of those like it on its node, where nobody has found a port busy. */
  judgeNew({ id, revision, placement }: InstanceRecord): void {
    if (placement?.sharedBy === undefined || placement.nodeId === 'a') return;
    const others = [...this.state.instances.entries()].flatMap(([, { value }]) =>
      value.id !== id && value.placement?.nodeId === placement.nodeId ? [value] : [],
    );
    if (!others.some((other) => other.revision === revision)) return;
    const joined = others.filter((other) => other.placement?.sharedBy === placement.sharedBy);
    expect(joined.map((other) => other.placement?.port)).toContain(placement.port);
  }

  async stop(): Promise<void> {
    await this.state.stop();
    await this.store.close();
  }

  async #write(key: string, value: object): Promise<void> {
    const revision = await this.store.transact([{ do: 'put', key, value }]);
    await Promise.all(
      [this.state.nodes, this.state.instances, this.state.revisions].map((one) => one.until(revision)),
    );
  }
}

interface Held {
  readonly nodeId: string;
  readonly one: NamedPort;
  readonly value: InstanceRecord;
}

function isShared(a: Held, b: Held): boolean {
  const name = a.value.configurationName;
  const isOfOne = name === b.value.configurationName && a.nodeId === b.nodeId;
  return isOfOne && a.one.sharedBy === name && b.one.sharedBy === name;
}

it('gives no port of one address and protocol to two instances that do not share it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { minLength: 3, maxLength: 3 }),
      fc.array(step, { minLength: 5, maxLength: 40 }),
      async (contents, steps) => {
        const world = new World();
        await world.start(contents);
        try {
          for (const { do: deed, which, of, port } of steps) {
            const record = world.record(which);
            const configuration = contents[of] ?? expect.fail('there is one');
            const taken = { configuration, hash: `f0${of}` };
            if (deed === 'create') {
              const id = `inst${String(world.ids.length).padStart(2, '0')}`;
              world.ids.push(id);
              world.judgeNew(await world.place(newInstance(taken, { id, madeBy: 'enforcer', now: 1 })));
            } else if (deed === 'busy') world.busyPorts.add('a', port, which % 2 === 0 ? 'tcp' : 'udp');
            else if (record === undefined) continue;
            else if (deed === 'remove') await world.remove(record.id);
            else if (deed === 'stop') await world.put({ ...record, placement: null });
            else if (deed === 'start' && record.placement === null) await world.place(record);
            else if (deed === 'update' && record.placement !== null) {
              if (record.configurationName !== configuration.name) continue;
              try {
                const next = { ...record, revision: taken.hash, static: configuration.static };
                const placement = placementAgain(world.options, { before: record, next, content: taken });
                await world.put(withContentAt(next, placement));
              } catch (error) {
                if (!DroverError.is(error, 'DRV_UPDATE_REFUSED')) throw error;
              }
            }
            world.judge(contents);
          }
        } finally {
          await world.stop();
        }
      },
    ),
    { numRuns: RUNS },
  );
});
