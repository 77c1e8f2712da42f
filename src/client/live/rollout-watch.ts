/** `drover rollout watch`: prints each change of a rollout until it ends. */
import { rolloutSentence } from '../../command-tree/groups/rollouts.js';
import { jsonLine, plainLines } from '../../command-tree/printed-text.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { failedError } from '../../command-tree/runs/client-error.js';
import type { Screen } from '../../command-tree/table.js';
import { paint } from '../../command-tree/tones.js';
import type { ShownRollout } from '../../operations/rollouts/rollouts.js';
import type { ApiClient } from '../api-client.js';
import { screenText } from '../print.js';
import { followTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';

/**
 * Resolves when the rollout is complete, or nobody reads the output. Throws a ClientError: exit code 1 for any other
 * end of the rollout, or the API's error for a name without a rollout. `isJson`: prints a line of JSON for each change.
 * `screen`: the terminal on which instances are drawn as cells, in place; undefined: a line for each change.
 */
export async function watchRollout(
  api: ApiClient,
  name: string,
  { isJson, screen }: { readonly isJson: boolean; readonly screen: Screen | undefined },
  output: LiveOutput,
): Promise<void> {
  await api.get<ShownRollout>(`/rollouts/${pathPart(name)}`);
  const topics = { rollouts: { filter: { configuration: [name] } } };
  let said = '';
  for await (const { rollouts } of followTopics(api.connection, topics, output)) {
    const rollout = rollouts.get(name);
    if (rollout === undefined) throw failedError(`the configuration ${name} is gone`);
    const sentence = rolloutSentence(rollout);
    const drawn = screen && screenText(`${cellsOf(rollout)}\n${sentence}`, screen);
    const text = isJson ? jsonLine(rollout) : (drawn ?? plainLines(sentence));
    // Draw over what was drawn before.
    const over = drawn === undefined || said === '' ? '' : `\x1b[${said.split('\n').length - 1}A\x1b[J`;
    if (text !== said && !(await output.write(over + text))) return;
    said = text;
    // Right after a change of the configuration, the rollout may still be that of the former content: wait for its
    // next state.
    if (rollout.endedAt === null || rollout.isBehind) continue;
    if (rollout.state === 'complete') return;
    throw failedError(rolloutSentence(rollout));
  }
}

/** The most cells of a bar; with more instances a cell stands for several. */
const MOST_CELLS = 60;

/** A cell for each instance: good, new and not good yet, old; then their counts. */
function cellsOf({ configurationName, counts: { good, updated, outdated, total } }: ShownRollout): string {
  const scale = Math.min(1, MOST_CELLS / Math.max(1, total));
  const cells = (cell: string, count: number): string => cell.repeat(Math.ceil(count * scale));
  const bar = [
    paint('good', cells('■', good)),
    paint('warn', cells('▣', updated - good)),
    paint('quiet', cells('□', outdated)),
  ].join('');
  return `${configurationName}  ${bar}  ${good} of ${total} good, ${updated - good} new, ${outdated} old`;
}
