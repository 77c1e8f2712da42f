/** `rollout ...` in the daemon. */
import type { CommandRuns } from '../../command-tree/commands.js';
import type { ROLLOUT_COMMANDS } from '../../command-tree/groups/rollouts.js';
import {
  actOnRollout,
  listRollouts,
  type RolloutAction,
  requireRollout,
} from '../../operations/rollouts/rollouts.js';
import type { CommandDependencies } from '../context.js';
import { findConfiguration } from '../find.js';

type RolloutRuns = Pick<CommandRuns, keyof typeof ROLLOUT_COMMANDS>;

/** `actor`: the caller's name in the audit trail. */
export function rolloutRuns(dependencies: CommandDependencies, actor: string): RolloutRuns {
  const act =
    (action: RolloutAction) =>
    async ({ name }: { readonly name: string }) => {
      findConfiguration(dependencies, name);
      return actOnRollout(dependencies, name, { action, by: actor });
    };
  return {
    'rollout list': () => listRollouts(dependencies),
    'rollout status': ({ name }) => {
      findConfiguration(dependencies, name);
      return requireRollout(dependencies, name);
    },
    'rollout pause': act('pause'),
    'rollout resume': act('resume'),
    'rollout promote': act('promote'),
    'rollout retry': act('retry'),
  };
}
