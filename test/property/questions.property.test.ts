/**
 * Asking changes nothing: two control planes go through the same random life, and one of them is asked everything that
 * clients, `why`, plans and metrics can ask, at random moments. Both decide the same at the same times.
 * `DROVER_PROPERTY_RUNS` makes longer runs; the seed stands in the message of a failure.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { configurationSchema, hashConfiguration } from '../../src/model/configuration.js';
import { DroverError } from '../../src/model/errors.js';
import type { InstanceRecord } from '../../src/model/instance.js';
import { ControlPlane } from '../support/control-plane/control-plane.js';
import { NO_FILES } from '../support/control-plane/explain-facts.js';
import { FakeClock } from '../support/fake-clock.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 10);
const NAMES = ['lobby', 'arena'];
const NODES = ['a', 'b'];

const content = fc.record({
  minimumServiceCount: fc.integer({ min: 0, max: 4 }),
  maximumServiceCount: fc.constantFrom(undefined, 4),
  command: fc.constantFrom('run', 'walk'),
  static: fc.constantFrom(false, false, true),
  availablePorts: fc.constantFrom(undefined, { min: 30_000, max: 30_004 }),
  surplus: fc.constantFrom('keep' as const, 'remove' as const, 'remove' as const),
  onDelete: fc.constantFrom('keep' as const, 'stop' as const, 'stop' as const),
  update: fc.record({
    strategy: fc.constantFrom('rolling' as const, 'idle' as const, 'manual' as const),
    minReadySeconds: fc.constantFrom(0, 5),
    players: fc.constantFrom('wait' as const, 'wait' as const, 'wait' as const, 'ignore' as const),
    playersSeconds: fc.constantFrom(0, 20, 40, 40),
    canary: fc.constantFrom(0, 1),
    progressSeconds: fc.constantFrom(20, 600),
  }),
});
const index = fc.nat(9);
const name = fc.constantFrom(...NAMES);
const node = fc.constantFrom(...NODES);
const deed = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), name, content }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take-away' as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('play' as const), players: fc.constantFrom(0, 1, 1) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), index }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('drain' as const), node, withinMs: fc.constantFrom(0, 30_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('uncordon' as const), node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('occupy' as const), node, port: fc.nat(4) }) },
  /** The next master decides nothing for a while, as one that still reads its files. */
  { weight: 3, arbitrary: fc.record({ do: fc.constant('take-over' as const) }) },
);
/** `waits`: how the time until the next deed is divided. */
const step = fc.record({
  deed,
  waits: fc.array(fc.integer({ min: 1, max: 15_000 }), { minLength: 1, maxLength: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Content = typeof content extends fc.Arbitrary<infer T> ? T : never;

class World {
  readonly clock = new FakeClock();
  readonly plane: ControlPlane;
  /** Each write and its moment: writes of one moment have no order. */
  readonly writes: string[] = [];
  readonly #isAsked: boolean;
  #ids = 0;

  constructor(isAsked: boolean) {
    this.#isAsked = isAsked;
    const newInstanceId = (): string => `i${String(this.#ids++).padStart(5, '0')}`;
    this.plane = new ControlPlane({ clock: this.clock, newInstanceId });
    this.#watch();
  }

  async live(steps: readonly Step[]): Promise<void> {
    await this.plane.start();
    for (const nodeId of NODES)
      await this.plane.addNode(nodeId, { capacity: { maxRamMB: 700, maxCpu: 10_000 } });
    await this.#wait(5000);
    try {
      for (const { deed: one, waits } of steps) {
        await this.#do(one);
        for (const ms of waits) await this.#wait(ms);
      }
      // Patience, deadlines and delays end.
      for (let rest = 0; rest < 6; rest++) await this.#wait(20_000);
    } finally {
      await this.plane.stop();
    }
  }

  async #wait(ms: number): Promise<void> {
    await this.#ask();
    await this.clock.advance(ms);
  }

  #watch(): void {
    const { instances, nodes, rollouts } = this.plane.master.state;
    for (const mirror of [instances, nodes, rollouts])
      mirror.onChange((key, after) => {
        const at = String(this.clock.monotonic()).padStart(7, '0');
        this.writes.push(`${at} ${key} ${JSON.stringify(after?.value)}`);
      });
  }

  async #do(one: Step['deed']): Promise<void> {
    const { master } = this.plane;
    switch (one.do) {
      case 'put':
        return this.plane.putConfiguration(inputOf(one.name, one.content));
      case 'take-away':
        return this.plane.removeConfiguration(one.name);
      case 'play':
        for (const { id, desired } of this.plane.records())
          if (desired.goal === 'run')
            await master.writer.reportState(id, { state: 'ONLINE', players: one.players });
        return;
      case 'stop':
        return this.#chosen(one.index, ({ id }) => master.writer.setLifecycle(id, 'stop'));
      case 'crash':
        return this.#chosen(one.index, async ({ id, placement }) =>
          this.plane.nodes.get(placement?.nodeId ?? '')?.runtime.end(id, { code: 1, signal: null }),
        );
      case 'drain':
        return master.nodeWriter.drain(one.node, one.withinMs);
      case 'uncordon':
        return master.nodeWriter.uncordon(one.node);
      case 'occupy':
        this.plane.nodes.get(one.node)?.foreignPorts.add(30_000 + one.port);
        return;
      case 'take-over':
        return this.#takeOver();
      default:
        one satisfies never;
    }
  }

  async #takeOver(): Promise<void> {
    await this.plane.takeOver(async () => {
      this.#watch();
      await this.#wait(3000);
      // What was anchored before counts by the old wall clock.
      this.clock.jumpWallClock(10_000);
      await this.#wait(4000);
    });
  }

  async #chosen(which: number, act: (record: InstanceRecord) => Promise<unknown>): Promise<void> {
    const record = this.plane.records().filter(({ desired }) => desired.goal === 'run')[which];
    if (record !== undefined) await act(record);
  }

  /** Every question that there is, of everything that there is. */
  async #ask(): Promise<void> {
    if (!this.#isAsked) return;
    const { master } = this.plane;
    const { state } = master;
    const { forecaster } = master.led().controllers;
    const explainer = master.explainer(NO_FILES);
    for (const [nodeId] of state.nodes.entries()) {
      master.term?.controllers.drains.progressOf(nodeId);
      master.usedOf(nodeId);
      await explainer.node(nodeId).catch(asRefused);
    }
    for (const each of NAMES) {
      master.term?.controllers.decisions.serviceOf(each);
      await explainer.configuration(each).catch(asRefused);
      for (const to of [configurationOf(each, OTHER), null])
        await forecaster.forecast([
          { name: each, to: to && { configuration: to, hash: hashConfiguration(to) } },
        ]);
    }
    for (const { id } of this.plane.records()) {
      master.usageOf(id);
      await explainer.instance(id).catch(asRefused);
    }
    const sources = master.metricSources();
    for (const each of NAMES) sources.actualOf(each);
    sources.unreadableRecords();
    expect([...master.nodeFigures(), ...sources.instances(), ...sources.rollouts()]).toBeDefined();
  }
}

const OTHER: Content = {
  minimumServiceCount: 1,
  maximumServiceCount: undefined,
  command: 'walk',
  static: false,
  availablePorts: undefined,
  surplus: 'remove',
  onDelete: 'keep',
  update: {
    strategy: 'rolling',
    minReadySeconds: 0,
    players: 'wait',
    playersSeconds: 20,
    canary: 0,
    progressSeconds: 600,
  },
};

function inputOf(own: string, { maximumServiceCount, availablePorts, ...fields }: Content) {
  return {
    name: own,
    runtime: 'process',
    cpu: 10,
    ramMB: 100,
    ...fields,
    ...(maximumServiceCount !== undefined && { maximumServiceCount }),
    ...(availablePorts !== undefined && { availablePorts }),
  };
}

function configurationOf(own: string, one: Content) {
  return configurationSchema.parse(inputOf(own, one));
}

/** What is not there cannot be explained. */
function asRefused(error: unknown): void {
  if (!DroverError.is(error, 'DRV_INSTANCE_UNKNOWN') && !DroverError.is(error, 'DRV_CONFIGURATION_UNKNOWN'))
    throw error;
}

/** Lives in which a question would start or forget a time, if asking could. */
const full = { ...OTHER, minimumServiceCount: 3, onDelete: 'stop' as const };
const EXAMPLES: Step['deed'][][] = [
  [{ do: 'put', name: 'lobby', content: { ...full, minimumServiceCount: 1 } }, { do: 'take-over' }],
  [{ do: 'take-away', name: 'lobby' }, { do: 'take-over' }],
  [{ do: 'drain', node: 'a', withinMs: 30_000 }, { do: 'take-over' }],
  [
    { do: 'put', name: 'lobby', content: { ...full, command: 'run', update: { ...full.update, canary: 1 } } },
    { do: 'take-over' },
  ],
];

function exampleOf(deeds: readonly Step['deed'][]): [Step[]] {
  const before: Step['deed'][] = [
    { do: 'put', name: 'lobby', content: full },
    { do: 'play', players: 1 },
  ];
  return [[...before, ...deeds].map((one) => ({ deed: one, waits: [2000] }))];
}

it('decides the same whether or not somebody asks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const worlds = [new World(true), new World(false)] as const;
      for (const world of worlds) await world.live(steps);
      expect(worlds[0].writes.toSorted()).toEqual(worlds[1].writes.toSorted());
    }),
    { numRuns: RUNS, examples: EXAMPLES.map(exampleOf) },
  );
});
