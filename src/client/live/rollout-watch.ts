/** `drover rollout watch`: prints each change of a rollout until it ends. */
import { rolloutSentence } from '../../command-tree/groups/rollouts.js';
import { jsonLine, plainLines } from '../../command-tree/printed-text.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { ShownRollout } from '../../operations/rollouts/rollouts.js';
import { isEntryMessage } from '../../watch-client/messages.js';
import { KEY_OF } from '../../watch-client/topics.js';
import { WatchedEntries } from '../../watch-client/watched-entries.js';
import type { ApiClient } from '../api-client.js';
import { WatchStream } from '../connection/watch-stream.js';
import type { LiveOutput } from './live-output.js';

export interface RolloutQuestion {
  readonly name: string;
  /** A line of JSON for each change, for programs. */
  readonly isJson: boolean;
}

/**
 * Resolves when the rollout is complete, or nobody reads any more. Throws a ClientError, with 1 when it ends otherwise,
 * and what the API says of a name without a rollout.
 */
export async function watchRollout(
  api: ApiClient,
  { name, isJson }: RolloutQuestion,
  output: LiveOutput,
): Promise<void> {
  await api.get<ShownRollout>(`/rollouts/${pathPart(name)}`);
  const watch = new WatchStream(api.connection, { say: output.say });
  watch.subscribe('rollouts', () => ({ filter: { configuration: [name] } }));
  const rollouts = new WatchedEntries(KEY_OF.rollouts);
  let said = '';
  for await (const message of watch.messages(output.signal)) {
    if (message.type === 'error') throw new ClientError(EXIT.failed, message.error);
    if (!isEntryMessage(message)) continue;
    rollouts.take(message);
    if (!rollouts.isWhole) continue;
    const rollout = rollouts.get(name);
    if (rollout === undefined) throw new ClientError(EXIT.failed, `the configuration ${name} is gone`);
    const text = isJson ? jsonLine(rollout) : plainLines(rolloutSentence(rollout));
    if (text !== said && !(await output.write(text))) return;
    said = text;
    // Such as right after a change was written.
    if (rollout.endedAt === null || rollout.isBehind) continue;
    if (rollout.state === 'complete') return;
    throw new ClientError(EXIT.failed, rolloutSentence(rollout));
  }
}
