/** What instances use, from the node that measures it to where an operator reads it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RouteNeeds } from '../../../src/api/dependencies.js';
import { detailsOf } from '../../../src/api/routes/instances/instance-details.js';
import { describeInstance } from '../../../src/command-tree/groups/instance-text.js';
import { sumOfUsage } from '../../../src/model/run/instance-usage.js';
import { ProcessUsage } from '../../../src/runtime/limits/process-usage.js';
import { advisoryLimits } from '../../../src/runtime/limits/resource-limits.js';
import { ProcessTable } from '../../../src/runtime/process-table.js';
import type { Usage } from '../../../src/runtime/runtime.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { given } from '../../support/control-plane/given.js';
import { kill } from '../../support/daemon/root-processes.js';
import { FakeClock } from '../../support/fake-clock.js';
import { metricsText } from '../../support/metrics-text.js';
import { until } from '../../support/until.js';

const MB = 1024 * 1024;

describe('what an instance uses', () => {
  const clock = new FakeClock();
  let plane: ControlPlane;
  let node: TestNode;
  let id: string;
  let used: Usage;

  beforeEach(async () => {
    used = { cpuSeconds: 10, memoryBytes: 45 * MB, processes: 3 };
    const limits = { ...advisoryLimits('this test has none'), usage: () => used };
    plane = new ControlPlane({ clock, limits });
    plane.metrics.addSources({
      ...plane.master.metricSources(),
      configurationFileErrors: () => 0,
      health: () => [],
    });
    await plane.start();
    node = await plane.addNode('alpha');
    await plane.putConfiguration({
      name: 'lobby',
      runtime: 'process',
      command: 'run',
      ramMB: 64,
      cpu: 10,
      minimumServiceCount: 1,
    });
    await clock.advance(10_500);
    id = plane.records()[0]?.id ?? '';
  });
  afterEach(() => plane.stop());

  const shown = async (): Promise<string[]> =>
    (await metricsText(plane.metrics)).split('\n').filter((line) => line.includes('instance="'));

  it('is told with every look, and stands in the metrics and in the text of the instance', async () => {
    used = { ...used, cpuSeconds: 11.2 };
    await clock.advance(10_000);
    expect(plane.master.usageOf(id)).toEqual({ ...used, cpuPercent: expect.closeTo(12, 1) });
    expect(sumOfUsage(plane.master.usage.ofNode('alpha'))).toMatchObject({ processes: 3 });
    expect(await shown()).toEqual([
      `drover_instance_cpu_seconds_total{instance="${id}",configuration="lobby",node="alpha"} 11.2`,
      `drover_instance_memory_bytes{instance="${id}",configuration="lobby",node="alpha"} ${45 * MB}`,
      `drover_instance_processes{instance="${id}",configuration="lobby",node="alpha"} 3`,
    ]);
    const [record] = plane.records();
    if (record === undefined) throw new Error('the record is gone');
    const { configurations } = plane.master.state;
    const usageOf = (one: string) => plane.master.usageOf(one);
    expect(
      await describeInstance(
        await detailsOf(record, given<RouteNeeds>({ configurations, usageOf, beats: plane.master.beats })),
        clock.now(),
      ),
    ).toMatch(/^uses +45 MB of RAM, 12 % of a core, 11 s of CPU time since its start, 3 processes$/m);
  });

  it('is gone with the instance', async () => {
    await plane.removeConfiguration('lobby');
    await plane.master.writer.remove(id);
    expect(await shown()).toEqual([]);
    await clock.advance(10_000);
    expect(plane.master.usageOf(id)).toBeUndefined();
    expect(sumOfUsage(plane.master.usage.ofNode('alpha'))).toBeUndefined();
  });

  it('is gone with the connection of its node', async () => {
    await node.wrapper.stop();
    await clock.settle();
    expect(plane.master.usageOf(id)).toBeUndefined();
    expect(await shown()).toEqual([]);
  });

  it('comes from a node that says why its limits are advisory', () => {
    expect(plane.master.state.nodes.get('alpha')?.value.advisoryLimits).toBe('this test has none');
  });
});

describe('what processes use', () => {
  const RUN = { instanceId: 'aaaaaa', run: 1 };
  const rootId = `usage-${process.pid}`;
  const usage = new ProcessUsage(new ProcessTable(), rootId);
  const started: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of started.splice(0)) {
      if (child.pid === undefined || child.exitCode !== null) continue;
      const exited = once(child, 'exit');
      kill(-child.pid);
      await exited;
    }
  });

  function start(command: string, mark: string): number {
    const env = { PATH: '/usr/bin:/bin', DROVER_RUN: mark };
    const child = spawn('/bin/sh', ['-c', command], { detached: true, env, stdio: 'ignore' });
    started.push(child);
    return child.pid ?? 0;
  }

  it('is the sum over the session of the leader and other processes with its mark, also while these stay', async () => {
    const pid = start('sleep 100 & wait', 'a title was written over it');
    start('exec sleep 100', `${rootId}/aaaaaa/1`);
    start('exec sleep 100', `${rootId}/aaaaaa/2`);
    for (const _pass of ['first', 'again'])
      await until(async () => {
        const of = (await usage.read([{ run: RUN, pid }])).get('aaaaaa/1');
        expect(of?.processes).toBe(3);
        expect(of?.memoryBytes).toBeGreaterThan(3 * 64 * 1024);
      });
  });

  it('counts the processor time of children that have ended', async () => {
    const pid = start('sh -c "i=0; while [ \\$i -lt 200000 ]; do i=\\$((i+1)); done"; sleep 100; :', '');
    await until(async () => {
      const of = (await usage.read([{ run: RUN, pid }])).get('aaaaaa/1');
      expect(of).toMatchObject({ processes: 2 });
      expect(of?.cpuSeconds).toBeGreaterThan(0.05);
    });
  });

  it('is not known of what does not run', async () => {
    expect((await usage.read([{ run: RUN, pid: 2 ** 22 + 1 }])).size).toBe(0);
  });
});
