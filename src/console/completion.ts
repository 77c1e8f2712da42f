/** Completes a line that is being typed on the console, with words of the tree, ids and names. */
import type { Command } from 'commander';
import { askForNames, candidatesAt } from '../command-tree/help/candidates.js';
import type { ApiCalls } from '../command-tree/runs/api-calls.js';

/** The most candidates of one completion: a longer list helps no reader. */
const MAX_CANDIDATES = 50;

/** Returns candidates for the last word of the line, and that word, in the form of node:readline. Never throws. */
export async function completionsOf(
  program: Command,
  api: ApiCalls,
  line: string,
): Promise<[string[], string]> {
  const words = line.trimStart().split(/\s+/);
  const typed = words.pop() ?? '';
  const candidates = await candidatesAt(program, words, typed, async (kind, template = '') => {
    // Leave out extension commands, which are in the tree already, and contexts, which a console does not have.
    if (kind === 'extensionCommands' || kind === 'contexts') return [];
    const found = await askForNames(api, kind, template).catch(() => []);
    return found.toSorted((a, b) => (a.word < b.word ? -1 : 1));
  });
  const all = candidates.map(({ word }) => word).filter((word) => word.startsWith(typed));
  const fitting = all.slice(0, MAX_CANDIDATES);
  return [fitting.length === 1 ? [`${fitting[0]} `] : fitting, typed];
}
