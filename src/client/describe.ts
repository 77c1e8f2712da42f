/** `drover describe`: what several commands say of one thing, one after the other. */

import type { View } from '../command-tree/command.js';
import { type CommandPath, descriptionOf, runCommand, type Shown } from '../command-tree/commands.js';
import type { ApiCalls } from '../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../command-tree/runs/client-error.js';
import { commandRuns } from '../command-tree/runs/command-runs.js';
import { quietCall } from './live/live-view.js';

/**
 * Runs the commands. Programs get the data of the first one; people get all texts but that of `config show`. Throws a
 * ClientError unless one of the commands knows the name.
 */
export async function describeThing(
  api: ApiCalls,
  paths: readonly CommandPath[],
  name: string,
): Promise<Shown> {
  const call = quietCall(new AbortController().signal);
  const shown: Shown[] = [];
  let unknown: unknown;
  let configuration = name;
  for (const path of paths)
    try {
      const typed = path === 'rollout status' ? configuration : name;
      const one = await runCommand(commandRuns(api), path, descriptionOf(path).input(typed as never), call);
      configuration = (one.json() as { readonly configurationName?: string }).configurationName ?? name;
      shown.push(one);
    } catch (error) {
      // There may be no rollout, and a configuration that is gone may have instances left.
      if (!(error instanceof ClientError) || error.exitCode !== EXIT.notFound) throw error;
      unknown ??= error;
    }
  const [first] = shown;
  if (first === undefined) throw unknown;
  const told = shown.filter(({ isVerbatim }) => isVerbatim !== true);
  const textOf = async (view: View) => (await Promise.all(told.map((one) => one.text(view)))).join('\n\n');
  return { ...first, isVerbatim: false, text: textOf };
}
