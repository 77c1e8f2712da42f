/** `drover describe`: what several commands say of one thing, one after the other. */

import type { View } from '../command-tree/command.js';
import { type CommandPath, descriptionOf, runCommand, type Shown } from '../command-tree/commands.js';
import type { ApiCalls } from '../command-tree/runs/api-calls.js';
import { commandRuns } from '../command-tree/runs/command-runs.js';
import { quietCall } from './live/live-view.js';

/**
 * Runs the commands. Programs get the data of the first one; people get all texts but that of `config show`. A part that
 * is refused is left out: there may be no rollout. Throws a ClientError when the first is refused.
 */
export async function describeThing(
  api: ApiCalls,
  paths: readonly CommandPath[],
  name: string,
): Promise<Shown> {
  const call = quietCall(new AbortController().signal);
  const asked = await Promise.allSettled(
    paths.map((path) => runCommand(commandRuns(api), path, descriptionOf(path).input(name as never), call)),
  );
  const shown = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [first] = shown;
  if (first === undefined || asked[0]?.status !== 'fulfilled')
    throw asked.find((one) => one.status === 'rejected')?.reason;
  const told = shown.filter(({ isVerbatim }) => isVerbatim !== true);
  const textOf = async (view: View) => (await Promise.all(told.map((one) => one.text(view)))).join('\n\n');
  return { ...first, isVerbatim: false, text: textOf };
}
