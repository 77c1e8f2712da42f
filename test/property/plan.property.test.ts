/**
 * What a plan foretells is what then happens: random changes of configurations on a small control plane, each planned first
 * and then made. `DROVER_PROPERTY_RUNS` makes longer runs; the seed stands in the message of a failure.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type ConfigurationInput,
  configurationSchema,
  hashConfiguration,
} from '../../src/model/configuration.js';
import { DroverError } from '../../src/model/errors.js';
import type { InstanceRecord } from '../../src/model/instance.js';
import { hasEnded } from '../../src/model/rollout.js';
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
  update: fc.option(
    fc.record({
      strategy: fc.constantFrom('rolling' as const, 'rolling' as const, 'idle' as const),
      maxSurge: fc.constantFrom(0, 1, 2, '50%'),
      maxUnavailable: fc.constantFrom(1, 2),
      minReadySeconds: fc.constantFrom(0, 1),
      players: fc.constantFrom('wait' as const, 'ignore' as const),
      canary: fc.constantFrom(0, 0, 1),
      promote: fc.constant('auto' as const),
    }),
  ),
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

function inputOf(name: string, { room, ports, update, ...fields }: Content): ConfigurationInput {
  return {
    name,
    runtime: 'process',
    cpu: 10,
    ...fields,
    nodes: [...fields.nodes],
    ...(room !== null && { maximumServiceCount: fields.minimumServiceCount + room }),
    ...(ports !== undefined && { availablePorts: ports }),
    ...(update !== null && { update }),
  };
}

class PlannedWorld {
  readonly clock = new FakeClock();
  /** The ids follow from the steps alone, so that a seed plays the same again. */
  readonly plane = new ControlPlane({ clock: this.clock, newInstanceId: () => this.#nextId() });
  #ids = 0;

  async start(): Promise<void> {
    await this.plane.start();
    for (const nodeId of ['a', 'b'])
      await this.plane.addNode(nodeId, { capacity: { maxRamMB: 700, maxCpu: 10_000 } });
    await this.settle();
  }

  #nextId(): string {
    return ((++this.#ids * 7919) % 36 ** 4).toString(36).padStart(6, 'a');
  }

  /** Stops take their time, and so do creations and replacements that follow each other. */
  async settle(): Promise<void> {
    await this.clock.advance(60_000);
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
    const { updates } = this.plane.master.led().controllers;
    if (one.do === 'play')
      await writer.reportState(record.id, {
        state: 'ONLINE',
        players: one.players,
        lastHeartbeat: undefined,
      });
    else if (one.do === 'stop') await writer.setLifecycle(record.id, 'stop');
    else if (this.plane.master.state.configurations.get(record.configurationName) !== undefined)
      await updates.updateWhenEmpty(record.id).catch(refusedUpdate);
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
    const isCalm = this.#isCalm();
    const isAsked = this.plane.records().some(({ desired }) => desired.updateWhenEmpty === true);
    // Which one of a pair stays when a rollout ends in the middle is not foretold.
    const rolling = this.#rolling();
    const { services, shortages } = await this.plane.master.led().controllers.forecaster.forecast(contents);
    for (const [name, to] of byName) {
      if (to === null) await this.plane.removeConfiguration(name);
      else await this.plane.putConfiguration(inputOf(name, to));
    }
    await this.settle();
    // Without room for all, who comes first is chance. With players, and beside an earlier rollout, one may stand still.
    const isPlain = isCalm && shortages.length === 0;
    const hasRoom = shortages.length === 0 || !isAsked;
    for (const { name } of contents) {
      const forecast = services.get(name);
      if (forecast === undefined) throw new Error('nothing is foretold');
      if (isPlain || (isManual(byName.get(name)) && hasRoom && !rolling.has(name)))
        check(name, forecast, this.#happened(before.get(name) ?? [], this.standing(name)));
    }
    const [one, ...others] = contents;
    if (one === undefined || others.length > 0) return;
    if (isManual(byName.get(one.name)) && !rolling.has(one.name))
      this.#checkShortage(one.name, before, shortages);
    else if (isPlain && services.get(one.name)?.waitForPlayers === 0)
      expect(this.#hasRolledOut(one.name), one.name).toBe(services.get(one.name)?.heldBack === null);
  }

  #rolling(): ReadonlySet<string> {
    const rollouts = [...this.plane.master.state.rollouts.entries()];
    return new Set(rollouts.filter(([, { value }]) => !hasEnded(value)).map(([name]) => name));
  }

  /** Every rollout has ended, nothing waits for a place, and nobody plays. */
  #isCalm(): boolean {
    return (
      this.#rolling().size === 0 &&
      this.plane.records().every((record) => !isWaiting(record) && (record.status.players ?? 0) === 0)
    );
  }

  /** All instances are what their configuration asks for, and all have a place. */
  #hasRolledOut(name: string): boolean {
    const rollout = this.plane.master.state.rollouts.get(name)?.value;
    return (rollout === undefined || rollout.state === 'complete') && !this.standing(name).some(isWaiting);
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

  /** What takes the place of another one is not told apart from the other new ones once that is gone. */
  #happened(before: readonly InstanceRecord[], after: readonly InstanceRecord[]): Happened {
    const old = new Map(before.map((record) => [record.id, record]));
    const stayed = after.filter(
      ({ id, desired }) => old.has(id) && desired.goal === old.get(id)?.desired.goal,
    );
    const restarted = stayed.filter(
      ({ id, desired }) => desired.restartToken !== old.get(id)?.desired.restartToken,
    );
    return {
      made: after.filter(({ id }) => !old.has(id)).length,
      gone: before.length - stayed.length,
      restarted: restarted.length,
      kept: stayed.length - restarted.length,
    };
  }
}

interface Happened {
  readonly made: number;
  readonly gone: number;
  readonly restarted: number;
  readonly kept: number;
}

/** Nothing is rolled out. */
function isManual(to: Content | null | undefined): boolean {
  return to == null || to.update === null;
}

/** Players stay for ever here, so what waits for them is left alone. */
function check(name: string, foretold: ServiceForecast, happened: Happened): void {
  const { create, replace, restart, stop, keep, waitForPlayers } = foretold;
  const replaced = happened.made - create;
  expect(
    {
      gone: happened.gone - replaced,
      moved: replaced + happened.restarted,
      kept: happened.kept,
      ...(waitForPlayers === 0 && { replaced }),
    },
    name,
  ).toEqual({
    gone: stop,
    moved: replace + restart - waitForPlayers,
    kept: keep + waitForPlayers,
    ...(waitForPlayers === 0 && { replaced: replace }),
  });
}

/** Its node does not fit the content: nothing is asked then. */
function refusedUpdate(error: unknown): void {
  if (!DroverError.is(error, 'DRV_UPDATE_REFUSED')) throw error;
}

function isWaiting({ desired, placement }: InstanceRecord): boolean {
  return desired.goal === 'run' && placement === null;
}

const PLAIN: Content = {
  minimumServiceCount: 1,
  room: null,
  ramMB: 100,
  command: 'run',
  static: false,
  nodes: [],
  ports: undefined,
  update: null,
};
const ROLLING: Content = {
  ...PLAIN,
  minimumServiceCount: 0,
  update: {
    strategy: 'rolling',
    maxSurge: 0,
    maxUnavailable: 1,
    minReadySeconds: 0,
    players: 'wait',
    canary: 0,
    promote: 'auto',
  },
};

async function play(steps: readonly Step[]): Promise<void> {
  const world = new PlannedWorld();
  await world.start();
  try {
    for (const one of steps) await world.do(one);
  } finally {
    await world.plane.stop();
  }
}

it.each<[what: string, contents: Content[]]>([
  [
    'that a content is held back which would empty a static directory, also when it is applied again',
    [{ ...PLAIN, static: true }, ROLLING, ROLLING],
  ],
  [
    'that a rollout is complete when the new maximum has ended the static instances',
    [
      { ...PLAIN, minimumServiceCount: 2, static: true },
      { ...ROLLING, room: 0 },
    ],
  ],
])('foretells %s', async (_what, contents) => {
  await play(contents.map((to) => ({ do: 'change', changes: [{ name: 'mail', to }] })));
});

it('foretells what is created, restarted, ended, left alone and without a place', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), play), { numRuns: RUNS });
});
