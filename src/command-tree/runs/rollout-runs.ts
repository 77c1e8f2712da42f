/** `rollout ...`. */

import type { CommandRuns } from '../commands.js';
import type { ROLLOUT_COMMANDS } from '../groups/rollouts.js';
import { type ApiCalls, pathPart } from './api-calls.js';

type RolloutRuns = Pick<CommandRuns, keyof typeof ROLLOUT_COMMANDS>;

export function rolloutRuns(api: ApiCalls): RolloutRuns {
  const pathOf = (name: string): string => `/rollouts/${pathPart(name)}`;
  return {
    'rollout list': () => api.get('/rollouts'),
    'rollout status': ({ name }) => api.get(pathOf(name)),
    'rollout pause': ({ name }) => api.send('POST', `${pathOf(name)}/pause`),
    'rollout resume': ({ name }) => api.send('POST', `${pathOf(name)}/resume`),
    'rollout promote': ({ name }) => api.send('POST', `${pathOf(name)}/promote`),
    'rollout retry': ({ name }) => api.send('POST', `${pathOf(name)}/retry`),
  };
}
