/** The conditions of `drover wait`, and when each holds. */
import type { InstanceInfo } from '../../model/instance.js';
import type { ShownRollout } from '../../operations/rollouts/rollouts.js';
import type { FollowedTopics } from './followed-topics.js';

/** The topics of the change stream that the conditions use. */
type World = Pick<FollowedTopics, 'instances' | 'configurations' | 'nodes' | 'rollouts'>;

export const KINDS = ['instance', 'config', 'node', 'rollout'] as const;
export type Kind = (typeof KINDS)[number];
export const GOALS = ['online', 'minimum', 'stopped', 'gone', 'complete', 'ended'] as const;
export type Goal = (typeof GOALS)[number];

/** The states that a commit of the configurations directory may be waited for. */
export const COMMIT_GOALS = ['in-force', 'rolled-out'] as const;
export type CommitGoal = (typeof COMMIT_GOALS)[number];

export type Condition = (world: World, name: string) => boolean;

/** The conditions of each kind. Only `gone` holds for things that do not exist. */
export const CONDITIONS: Readonly<Record<Kind, Readonly<Partial<Record<Goal, Condition>>>>> = {
  instance: {
    online: (world, id) => world.instances.get(id)?.state === 'ONLINE',
    stopped: (world, id) => {
      const instance = world.instances.get(id);
      return instance !== undefined && isAtRest(instance);
    },
    gone: (world, id) => world.instances.get(id) === undefined,
  },
  config: {
    online: (world, name) => {
      const all = instancesOf(world, name);
      return all.length > 0 && all.every(isOnline) && hasMinimum(world, name);
    },
    minimum: hasMinimum,
    stopped: (world, name) => {
      const all = instancesOf(world, name);
      return all.every(isAtRest) && (all.length > 0 || world.configurations.get(name) !== undefined);
    },
    gone: (world, name) =>
      world.configurations.get(name) === undefined && instancesOf(world, name).length === 0,
  },
  node: {
    online: (world, id) => world.nodes.get(id)?.condition === 'connected',
    stopped: (world, id) => {
      const node = world.nodes.get(id);
      return node !== undefined && node.condition !== 'connected';
    },
    gone: (world, id) => world.nodes.get(id) === undefined,
  },
  rollout: {
    // A rollout that has not yet taken up a change does not count as ended.
    complete: (world, name) => endedRollout(world, name)?.state === 'complete',
    ended: (world, name) => endedRollout(world, name) !== undefined,
  },
};

function endedRollout(world: World, name: string): ShownRollout | undefined {
  const rollout = world.rollouts.get(name);
  return rollout === undefined || rollout.endedAt === null || rollout.isBehind ? undefined : rollout;
}

/** True when no process runs and none is about to start: the instance was stopped as wanted, or ended for good. */
export function isAtRest({ state, reason, processPid }: InstanceInfo): boolean {
  return state === 'STOPPED' && processPid === null && /^(?:stopped|exited|timed-out)$/.test(reason ?? '');
}

function isOnline({ state }: InstanceInfo): boolean {
  return state === 'ONLINE';
}

function hasMinimum(world: World, name: string): boolean {
  const minimum = world.configurations.get(name)?.configuration.minimumServiceCount;
  return minimum !== undefined && instancesOf(world, name).filter(isOnline).length >= minimum;
}

function instancesOf(world: World, name: string): InstanceInfo[] {
  return world.instances.values().filter(({ configurationName }) => configurationName === name);
}
