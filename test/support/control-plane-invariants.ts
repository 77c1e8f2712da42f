/**
 * What must hold of a control plane under test: at every instant (no port twice, no process twice, nothing ended that
 * was not asked to end), and once it is left alone (desired equals observed, nothing is left over).
 */
import { expect } from 'vitest';
import type { InstanceRecord } from '../../src/model/instance.js';
import type { ControlPlane } from './control-plane.js';

export interface WatchedWorld {
  readonly plane: ControlPlane;
  /** Every instance ever seen, as it was last, in order of appearance. */
  readonly seen: ReadonlyMap<string, InstanceRecord>;
  /** Runs that were signalled, by instance. */
  readonly signalled: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Instances that have a process, and where. */
export function aliveOn(plane: ControlPlane): [id: string, nodeId: string][] {
  return [...plane.nodes.values()].flatMap(({ nodeId, runtime }) =>
    runtime.alive.map((id): [string, string] => [id, nodeId]),
  );
}

export function checkAlways(world: WatchedWorld): void {
  checkPorts(world);
  checkProcesses(world);
  checkEnded(world);
}

export function checkSettled(world: WatchedWorld): void {
  for (const record of world.plane.records()) checkInstance(world, record);
  checkServices(world);
  checkNodes(world);
  checkRevisions(world);
}

/** All nodes have one address, so a port is taken everywhere. */
function checkPorts(world: WatchedWorld): void {
  const ports = world.plane.records().flatMap(({ placement }) => placement?.port ?? []);
  expect(new Set(ports).size, `ports given out: ${ports.join(' ')}`).toBe(ports.length);
}

function checkProcesses(world: WatchedWorld): void {
  const ids = aliveOn(world.plane).map(([id]) => id);
  expect(new Set(ids).size, `processes of ${ids.join(' ')}`).toBe(ids.length);
}

/** Each request to restart ends one run at most, and so does the stop that is wanted now. */
function checkEnded(world: WatchedWorld): void {
  for (const [id, runs] of world.signalled) {
    const known = world.plane.master.state.instances.get(id)?.value;
    const last = world.seen.get(id);
    const isWanted = known?.desired.goal === 'run';
    const allowed = (last?.desired.restartToken ?? 0) + (isWanted ? 0 : 1);
    expect(runs.size, `runs of ${id} that were ended: ${[...runs].join(', ')}`).toBeLessThanOrEqual(allowed);
  }
}

function checkInstance(world: WatchedWorld, { id, desired, placement, status }: InstanceRecord): void {
  const alive = aliveOn(world.plane).filter(([other]) => other === id);
  const said = `${id}: ${status.state} ${status.reason} ${status.message}`;
  expect(desired.goal, said).not.toBe('remove');
  const isUp = desired.goal === 'run' && placement !== null;
  expect(alive, said).toEqual(isUp ? [[id, placement?.nodeId]] : []);
  if (status.reason === 'reported') return;
  if (desired.goal === 'stop') expect(status, said).toMatchObject({ state: 'STOPPED', pid: null });
  // Its state may be what a tool has put; why it has no place is said in any case.
  else if (placement === null) expect(status, said).toMatchObject({ pid: null, reason: 'no-node-fits' });
  else expect(status, said).toMatchObject({ state: 'ONLINE', reason: null });
}

function checkServices(world: WatchedWorld): void {
  for (const { configuration, minimum, actual } of world.plane.master.metricSources().services()) {
    const { maximumServiceCount: maximum = Number.POSITIVE_INFINITY } =
      world.plane.master.state.configurations.get(configuration)?.value.configuration ?? {};
    const running = world.plane
      .records()
      .filter((record) => record.configurationName === configuration && record.desired.goal === 'run');
    expect(running.length, `wanted instances of ${configuration}`).toBeLessThanOrEqual(maximum);
    expect(actual, `standing instances of ${configuration}`).toBeGreaterThanOrEqual(
      Math.min(minimum, maximum),
    );
  }
}

function checkNodes(world: WatchedWorld): void {
  for (const { nodeId, wrapper } of world.plane.nodes.values()) {
    expect(world.plane.master.state.nodes.get(nodeId)?.value.condition).toBe('connected');
    const held = world.plane
      .records()
      .filter(({ placement }) => placement?.nodeId === nodeId)
      .map(({ id }) => id);
    expect([...wrapper.inUse().instanceIds].toSorted(), `held by ${nodeId}`).toEqual(held.toSorted());
  }
}

function checkRevisions(world: WatchedWorld): void {
  const { revisions, configurations } = world.plane.master.state;
  const used = new Set([
    ...world.plane.records().map(({ revision }) => revision),
    ...[...configurations.entries()].map(([, { value }]) => value.hash),
  ]);
  expect([...revisions.entries()].map(([hash]) => hash).toSorted()).toEqual([...used].toSorted());
}
