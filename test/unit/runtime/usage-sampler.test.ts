import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { InstanceUsage } from '../../../src/model/run/instance-usage.js';
import type { LedRun } from '../../../src/runtime/limits/process-usage.js';
import { advisoryLimits, runKeyOf } from '../../../src/runtime/limits/resource-limits.js';
import { UsageSampler } from '../../../src/runtime/limits/usage-sampler.js';
import type { RunId, Runtime, Usage } from '../../../src/runtime/runtime.js';
import { FakeRuntime } from '../../support/control-plane/fake-runtime.js';
import { FakeClock } from '../../support/fake-clock.js';

const MB = 1024 * 1024;

function using(cpuSeconds: number, processes = 1): Usage {
  return { cpuSeconds, memoryBytes: 5 * MB, processes };
}

/** A node with one instance per way of measuring, and what each of them says. */
class World {
  readonly clock = new FakeClock();
  readonly groups = new Map<string, Usage>();
  readonly processes = new Map<string, Usage>();
  readonly kills = new Map<string, number>();
  readonly warnings: string[] = [];
  readonly passes: ReadonlyMap<string, InstanceUsage>[] = [];
  readonly led: LedRun[] = [];
  readonly runs: { instanceId: string; run: number; runtime: Runtime; pid: number | null }[] = [];
  readonly sampler: UsageSampler;

  constructor() {
    const { clock, groups, processes, kills, warnings } = this;
    this.sampler = new UsageSampler({
      runs: () => this.runs,
      limits: {
        ...advisoryLimits(''),
        usage: (run) => groups.get(runKeyOf(run)),
        noteKills: (run) => kills.get(runKeyOf(run)) ?? 0,
      },
      processes: {
        read: async (led) => {
          this.led.splice(0, Number.POSITIVE_INFINITY, ...led);
          return processes;
        },
      },
      onSamples: (usages) => this.passes.push(usages),
      clock,
      logger: pino({ level: 'warn' }, { write: (line: string) => warnings.push(JSON.parse(line).msg) }),
    });
    this.sampler.start();
  }

  add(instanceId: string, more: Partial<World['runs'][number]> = {}): void {
    this.runs.push({ instanceId, run: 1, runtime: new FakeRuntime(), pid: 42, ...more });
  }

  async pass(): Promise<ReadonlyMap<string, InstanceUsage> | undefined> {
    const before = this.passes.length;
    await this.clock.advance(10_000);
    return this.passes.length === before ? undefined : this.passes.at(-1);
  }
}

/** A runtime that measures by itself, as docker does. */
class MeasuringRuntime extends FakeRuntime {
  readonly says = new Map<string, Usage>();
  async usage(_runs: readonly RunId[]): Promise<ReadonlyMap<string, Usage>> {
    if (this.says.size === 0) throw new Error('the engine is away');
    return this.says;
  }
}

describe('the usage of instances', () => {
  it('is remembered at its highest memory, until the pass after the end of the run', async () => {
    const world = new World();
    const run = { instanceId: 'aaaaaa', run: 1 };
    world.add('aaaaaa');
    expect(world.sampler.mostMemory(run)).toBeUndefined();
    for (const megabytes of [5, 9, 7]) {
      world.groups.set('aaaaaa.1', { ...using(3), memoryBytes: megabytes * MB });
      await world.pass();
    }
    // Its processes have ended, and nobody has noticed yet.
    world.groups.clear();
    await world.pass();
    expect(world.sampler.mostMemory(run)).toBe(9 * MB);
    world.runs.length = 0;
    await world.pass();
    expect(world.sampler.mostMemory(run)).toBeUndefined();
    await world.sampler.stop();
  });

  it('is measured every ten seconds, the share of the processor from the second time on', async () => {
    const world = new World();
    world.add('aaaaaa');
    world.groups.set('aaaaaa.1', using(3));
    expect((await world.pass())?.get('aaaaaa')).toEqual({ ...using(3), cpuPercent: null });
    world.groups.set('aaaaaa.1', using(8));
    expect((await world.pass())?.get('aaaaaa')).toEqual({ ...using(8), cpuPercent: 50 });
    await world.sampler.stop();
    expect(await world.pass()).toBeUndefined();
    expect(world.clock.pending).toBe(0);
  });

  it('comes from the processes where there is no group, or an empty one that nobody could join', async () => {
    const world = new World();
    world.add('aaaaaa', { pid: 7 });
    world.add('bbbbbb', { pid: 8 });
    world.add('cccccc', { pid: 9 });
    world.groups.set('aaaaaa.1', using(1)).set('bbbbbb.1', using(0, 0));
    world.processes.set('bbbbbb/1', using(4, 2));
    const usages = await world.pass();
    expect([...(usages?.keys() ?? [])]).toEqual(['aaaaaa', 'bbbbbb']);
    expect(usages?.get('bbbbbb')).toMatchObject({ cpuSeconds: 4, processes: 2 });
    expect(world.led.map(({ pid }) => pid)).toEqual([8, 9]);
  });

  it('comes from a runtime that measures by itself, and is missing while that does not answer', async () => {
    const world = new World();
    const runtime = new MeasuringRuntime('docker');
    world.add('aaaaaa', { runtime, pid: null });
    world.add('bbbbbb');
    world.groups.set('bbbbbb.1', using(1));
    expect([...((await world.pass())?.keys() ?? [])]).toEqual(['bbbbbb']);
    runtime.says.set('aaaaaa/1', using(2));
    expect((await world.pass())?.get('aaaaaa')).toMatchObject({ cpuSeconds: 2 });
  });

  it('never shrinks when processes take what they used with them, but starts over with a new start', async () => {
    const world = new World();
    world.add('aaaaaa');
    world.processes.set('aaaaaa/1', using(10));
    await world.pass();
    world.processes.set('aaaaaa/1', using(4));
    expect((await world.pass())?.get('aaaaaa')).toMatchObject({ cpuSeconds: 10, cpuPercent: 0 });
    world.runs.splice(0);
    world.add('aaaaaa', { run: 2 });
    world.processes.set('aaaaaa/2', using(1));
    expect((await world.pass())?.get('aaaaaa')).toMatchObject({ cpuSeconds: 1, cpuPercent: null });
  });

  it('is told to be nothing once when the last instance went, and then no more', async () => {
    const world = new World();
    expect(await world.pass()).toBeUndefined();
    world.add('aaaaaa');
    world.groups.set('aaaaaa.1', using(1));
    await world.pass();
    world.runs.splice(0);
    expect((await world.pass())?.size).toBe(0);
    expect(await world.pass()).toBeUndefined();
  });

  it('of hundreds is all there', async () => {
    const world = new World();
    for (let index = 0; index < 200; index++) {
      world.add(`a${index}`);
      world.groups.set(`a${index}.1`, using(index));
    }
    expect((await world.pass())?.size).toBe(200);
  });

  it('comes with a warning when the memory limit ended a part of an instance that goes on', async () => {
    const world = new World();
    world.add('aaaaaa');
    world.groups.set('aaaaaa.1', using(1));
    world.kills.set('aaaaaa.1', 2);
    await world.pass();
    expect(world.warnings).toEqual([
      expect.stringMatching(/^aaaaaa goes on, .* limit of RAM ended 2 of its/),
    ]);
  });
});
