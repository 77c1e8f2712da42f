/** `drover rollout watch`: prints each change of a rollout until it ends. */
import { rolloutSentence } from '../../command-tree/groups/rollouts.js';
import { jsonLine, plainLines } from '../../command-tree/printed-text.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { ShownRollout } from '../../operations/rollouts/rollouts.js';
import type { ApiClient } from '../api-client.js';
import { followTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';

/**
 * Resolves when the rollout is complete, or nobody reads the output. Throws a ClientError: exit code 1 for any other
 * end of the rollout, or the API's error for a name without a rollout. `isJson`: prints a line of JSON for each change.
 */
export async function watchRollout(
  api: ApiClient,
  name: string,
  isJson: boolean,
  output: LiveOutput,
): Promise<void> {
  await api.get<ShownRollout>(`/rollouts/${pathPart(name)}`);
  const topics = { rollouts: { filter: { configuration: [name] } } };
  let said = '';
  for await (const { rollouts } of followTopics(api.connection, topics, output)) {
    const rollout = rollouts.get(name);
    if (rollout === undefined) throw new ClientError(EXIT.failed, `the configuration ${name} is gone`);
    const text = isJson ? jsonLine(rollout) : plainLines(rolloutSentence(rollout));
    if (text !== said && !(await output.write(text))) return;
    said = text;
    // Right after a change of the configuration, the rollout may still be that of the former content: wait for its
    // next state.
    if (rollout.endedAt === null || rollout.isBehind) continue;
    if (rollout.state === 'complete') return;
    throw new ClientError(EXIT.failed, rolloutSentence(rollout));
  }
}
