/**
 * What a plan foretells is what then happens: random changes of configurations on a small control plane, each planned first
 * and then made. `DROVER_PROPERTY_RUNS` makes longer runs; the seed stands in the message of a failure.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ConfigurationInput } from '../../src/model/configuration.js';
import { configurationSchema, hashConfiguration } from '../../src/model/configuration.js';
import { DroverError } from '../../src/model/errors.js';
import type { InstanceRecord } from '../../src/model/instance.js';
import type { PlannedContent, ServiceForecast } from '../../src/operations/plan/forecast.js';
import { ControlPlane } from '../support/control-plane/control-plane.js';
import { FakeClock } from '../support/fake-clock.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 40);
const NAMES = ['lobby', 'arena', 'mail'];

const content = fc.record({
  minimumServiceCount: fc.integer({ min: 0, max: 6 }),
  room: fc.option(fc.integer({ min: 0, max: 3 })),
  ramMB: fc.constantFrom(100, 100, 100, 300),
  command: fc.constantFrom('run', 'run', 'walk'),
  static: fc.constantFrom(false, false, true),
  nodes: fc.constantFrom<readonly string[]>([], [], ['b']),
  ports: fc.constantFrom(undefined, { min: 30_000, max: 30_004 }),
});
/** Null: it goes. */
const change = fc.record({ name: fc.constantFrom(...NAMES), to: fc.option(content, { freq: 5 }) });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      changes: fc.array(change, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('play' as const),
      players: fc.integer({ min: 0, max: 3 }),
      index: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), index: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('ask' as const), index: fc.nat(9) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Content = typeof content extends fc.Arbitrary<infer T> ? T : never;

function inputOf(name: string, { room, ports, ...fields }: Content): ConfigurationInput {
  return {
    name,
    runtime: 'process',
    cpu: 10,
    ...fields,
    nodes: [...fields.nodes],
    ...(room !== null && { maximumServiceCount: fields.minimumServiceCount + room }),
    ...(ports !== undefined && { availablePorts: ports }),
  };
}

class PlannedWorld {
  readonly clock = new FakeClock();
  readonly plane = new ControlPlane({ clock: this.clock });

  async start(): Promise<void> {
    await this.plane.start();
    for (const nodeId of ['a', 'b'])
      await this.plane.addNode(nodeId, { capacity: { maxRamMB: 700, maxCpu: 10_000 } });
    await this.settle();
  }

  /** Stops take their time, and so do creations that follow each other. */
  async settle(): Promise<void> {
    await this.clock.advance(30_000);
    await this.plane.whenIdle();
  }

  standing(name: string): InstanceRecord[] {
    return this.plane
      .records()
      .filter(({ configurationName, desired }) => configurationName === name && desired.goal !== 'remove');
  }

  async do(one: Step): Promise<void> {
    if (one.do === 'change') return this.#change(one.changes);
    const record = this.plane.records().filter(({ desired }) => desired.goal === 'run')[one.index];
    if (record === undefined) return;
    const { writer } = this.plane.master;
    if (one.do === 'play')
      await writer.reportState(record.id, {
        state: 'ONLINE',
        players: one.players,
        lastHeartbeat: undefined,
      });
    else if (one.do === 'stop') await writer.setLifecycle(record.id, 'stop');
    else if (this.plane.master.state.configurations.get(record.configurationName) !== undefined)
      await writer.updateWhenEmpty(record.id).catch(refusedUpdate);
    await this.settle();
  }

  /** The last change of a name counts, as of a file that is written twice. */
  async #change(changes: readonly { readonly name: string; readonly to: Content | null }[]): Promise<void> {
    const byName = new Map(changes.map(({ name, to }) => [name, to]));
    const contents = [...byName].map(([name, to]): PlannedContent => {
      if (to === null) return { name, to: null };
      const configuration = configurationSchema.parse(inputOf(name, to));
      return { name, to: { configuration, hash: hashConfiguration(configuration) } };
    });
    const before = new Map(NAMES.map((name) => [name, this.standing(name)]));
    const { services, shortages } = this.plane.master.forecaster.forecast(contents);
    for (const [name, to] of byName) {
      if (to === null) await this.plane.removeConfiguration(name);
      else await this.plane.putConfiguration(inputOf(name, to));
    }
    await this.settle();
    for (const { name } of contents) {
      const foretold = untilPlayersLeave(services.get(name));
      expect(this.#happened(before.get(name) ?? [], this.standing(name)), name).toEqual(foretold);
    }
    if (contents.length === 1) this.#checkShortage(contents[0]?.name ?? '', before, shortages);
  }

  #checkShortage(
    name: string,
    before: ReadonlyMap<string, readonly InstanceRecord[]>,
    shortages: readonly { readonly missing: number }[],
  ): void {
    const old = new Set(before.get(name)?.map(({ id }) => id));
    // Those that waited before may compete with the new ones.
    if ([...before.values()].flat().some(isWaiting)) return;
    const missing = this.standing(name).filter((record) => !old.has(record.id) && isWaiting(record)).length;
    expect(
      shortages.reduce((sum, shortage) => sum + shortage.missing, 0),
      name,
    ).toBe(missing);
  }

  #happened(before: readonly InstanceRecord[], after: readonly InstanceRecord[]): object {
    const old = new Map(before.map((record) => [record.id, record]));
    const stayed = after.filter(
      ({ id, desired }) => old.has(id) && desired.goal === old.get(id)?.desired.goal,
    );
    const restarted = stayed.filter(
      ({ id, desired }) => desired.restartToken !== old.get(id)?.desired.restartToken,
    );
    return {
      create: after.filter(({ id }) => !old.has(id)).length,
      replace: 0,
      restart: restarted.length,
      stop: before.length - stayed.length,
      keep: stayed.length - restarted.length,
    };
  }
}

/** What is foretold of the time before the players that are waited for have left. */
function untilPlayersLeave(forecast: ServiceForecast | undefined): object {
  if (forecast === undefined) throw new Error('nothing is foretold');
  const { older: _older, waitForPlayers, restart, keep, ...others } = forecast;
  return { ...others, restart: restart - waitForPlayers, keep: keep + waitForPlayers };
}

/** Its node does not fit the content: nothing is asked then. */
function refusedUpdate(error: unknown): void {
  if (!DroverError.is(error, 'DRV_UPDATE_REFUSED')) throw error;
}

function isWaiting({ desired, placement }: InstanceRecord): boolean {
  return desired.goal === 'run' && placement === null;
}

it('foretells what is created, restarted, ended, left alone and without a place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const world = new PlannedWorld();
      await world.start();
      try {
        for (const one of steps) await world.do(one);
      } finally {
        await world.plane.stop();
      }
    }),
    { numRuns: RUNS },
  );
});
