/** What can be waited for, and when it is so. */
import type { InstanceInfo } from '../../model/instance.js';
import type { ShownRollout } from '../../operations/rollouts/rollouts.js';

/** What the conditions look at, as the change stream tells it. */
export interface WaitedWorld {
  instances(): readonly InstanceInfo[];
  configuration(name: string): WatchedConfiguration | undefined;
  node(id: string): WatchedNode | undefined;
  rollout(name: string): ShownRollout | undefined;
}

export interface WatchedConfiguration {
  readonly name: string;
  readonly configuration: { readonly minimumServiceCount: number };
}

export interface WatchedNode {
  readonly nodeId: string;
  readonly condition: string;
}

export const KINDS = ['instance', 'config', 'node', 'rollout'] as const;
export type Kind = (typeof KINDS)[number];
export const GOALS = ['online', 'minimum', 'stopped', 'gone', 'complete', 'ended'] as const;
export type Goal = (typeof GOALS)[number];

type Condition = (world: WaitedWorld, name: string) => boolean;

/** A kind without an entry has no such condition. Only `gone` holds of what is not there. */
export const CONDITIONS: Readonly<Record<Kind, Readonly<Partial<Record<Goal, Condition>>>>> = {
  instance: {
    online: (world, id) => instanceOf(world, id)?.state === 'ONLINE',
    stopped: (world, id) => {
      const instance = instanceOf(world, id);
      return instance !== undefined && isAtRest(instance);
    },
    gone: (world, id) => instanceOf(world, id) === undefined,
  },
  config: {
    online: (world, name) => {
      const all = instancesOf(world, name);
      return all.length > 0 && all.every(isOnline) && hasMinimum(world, name);
    },
    minimum: hasMinimum,
    stopped: (world, name) => {
      const all = instancesOf(world, name);
      return all.every(isAtRest) && (all.length > 0 || world.configuration(name) !== undefined);
    },
    gone: (world, name) => world.configuration(name) === undefined && instancesOf(world, name).length === 0,
  },
  node: {
    online: (world, id) => world.node(id)?.condition === 'connected',
    stopped: (world, id) => {
      const node = world.node(id);
      return node !== undefined && node.condition !== 'connected';
    },
    gone: (world, id) => world.node(id) === undefined,
  },
  rollout: {
    // One that has not taken up a change yet has not ended.
    complete: (world, name) => endedRollout(world, name)?.state === 'complete',
    ended: (world, name) => endedRollout(world, name) !== undefined,
  },
};

function endedRollout(world: WaitedWorld, name: string): ShownRollout | undefined {
  const rollout = world.rollout(name);
  return rollout === undefined || rollout.endedAt === null || rollout.isBehind ? undefined : rollout;
}

/** Stopped as wanted, or ended by itself for good: nothing runs, and nothing is about to. */
export function isAtRest({ state, reason, processPid }: InstanceInfo): boolean {
  return state === 'STOPPED' && processPid === null && (reason === 'stopped' || reason === 'exited');
}

function isOnline({ state }: InstanceInfo): boolean {
  return state === 'ONLINE';
}

function hasMinimum(world: WaitedWorld, name: string): boolean {
  const minimum = world.configuration(name)?.configuration.minimumServiceCount;
  return minimum !== undefined && instancesOf(world, name).filter(isOnline).length >= minimum;
}

function instanceOf(world: WaitedWorld, id: string): InstanceInfo | undefined {
  return world.instances().find((instance) => instance.id === id);
}

function instancesOf(world: WaitedWorld, name: string): InstanceInfo[] {
  return world.instances().filter(({ configurationName }) => configurationName === name);
}
