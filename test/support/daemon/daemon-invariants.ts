/**
 * The checks at the end of every end-to-end test: desired equals observed, and no process or file is left after Ctrl-C.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { InstanceInfo } from '../../../src/model/instance.js';
import { checkPort } from '../../../src/runtime/ports.js';
import { until } from '../until.js';
import type { DaemonWorld } from './daemon.js';

/** Checks I2 and I4: waits until every instance is as desired. Resolves with the ports of the instances. */
export async function untilSettled(world: DaemonWorld): Promise<number[]> {
  return await until(async () => {
    const instances = await world.api.instances();
    const wanted = instances.filter(({ configurationName }) => !world.failing.has(configurationName));
    await expectMinimums(world, wanted);
    await expectProcesses(world, wanted);
    const known = instances.map(({ id }) => id);
    expect(known, 'a working directory of nobody').toEqual(
      expect.arrayContaining(readdirSync(world.paths.running)),
    );
    return instances.flatMap(({ allocatedPort }) => allocatedPort ?? []);
  });
}

async function expectMinimums(world: DaemonWorld, instances: readonly InstanceInfo[]): Promise<void> {
  for (const { name, minimumServiceCount } of await world.api.configurations()) {
    if (world.failing.has(name)) continue;
    const online = instances.filter((one) => one.configurationName === name && one.state === 'ONLINE');
    expect(online.length, `ONLINE of ${name}`).toBeGreaterThanOrEqual(minimumServiceCount);
  }
}

/**
 * Checks that each ONLINE instance has exactly one leader process, a STOPPED instance none, and that no other instance
 * has a process.
 */
async function expectProcesses(world: DaemonWorld, instances: readonly InstanceInfo[]): Promise<void> {
  const marked = await world.processes.marked();
  for (const { id, state, processPid } of instances) {
    expect(['ONLINE', 'STOPPED'], `state of ${id}`).toContain(state);
    const leaders = marked.filter(({ instanceId, isLeader }) => isLeader && instanceId === id);
    expect(
      leaders.map(({ pid }) => pid),
      `processes of ${id}`,
    ).toEqual(state === 'ONLINE' ? [processPid] : []);
  }
  const known = (await world.api.instances()).map(({ id }) => id);
  expect(known, 'a process of nobody').toEqual(
    expect.arrayContaining(marked.map(({ instanceId }) => instanceId)),
  );
}

/** Checks I3, after Ctrl-C: no process, socket, lock or port of this root is left. */
export async function expectNothingLeft(world: DaemonWorld, ports: readonly number[]): Promise<void> {
  const { paths, processes, apiPort } = world;
  await until(async () => {
    expect(await processes.marked(), 'processes of instances').toEqual([]);
    expect(await processes.owners(), 'owner processes').toEqual([]);
    expect(await processes.sessionOwners(), 'owners of sessions').toEqual({ sessionOwners: [], shells: [] });
  });
  const sockets = readFileSync('/proc/net/unix', 'latin1');
  expect(sockets, 'lock of the owner').not.toContain(paths.lockKey);
  expect(readFileSync(paths.lockFile, 'utf8'), 'holder of the lock').toBe('');
  const left = readdirSync(paths.sockets, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.name.endsWith('.log'))
    .map(({ name }) => name);
  expect(left, 'sockets').toEqual([]);
  for (const port of [apiPort, ...ports])
    expect(await checkPort(port), `port ${port}`).toEqual({ free: true });
}
