/** Completes a line that is being typed, with words of the tree, ids and names. */
import type { Command } from 'commander';
import { type WantedWord, wantedWord } from '../command-tree/help/wanted-word.js';
import type { Reads } from '../operations/reads.js';
import type { Writes } from '../operations/writes.js';
import { visibleInstances } from '../state/instance-writes.js';

/** The records whose names complete a line. */
export type CompletionNeeds = Pick<
  Reads & Writes,
  'instances' | 'configurations' | 'nodes' | 'keys' | 'sessions' | 'templates'
>;

/** The most candidates of one completion: a longer list helps no reader. */
const MAX_CANDIDATES = 50;

/** Returns candidates for the last word of the line, and that word, in the form of node:readline. */
export function completionsOf(
  program: Command,
  dependencies: CompletionNeeds,
  line: string,
): [string[], string] {
  const words = line.trimStart().split(/\s+/);
  const typed = words.pop() ?? '';
  const wanted = wantedWord(program, words, typed);
  const candidates = candidatesOf(wanted, dependencies);
  const fitting = candidates.filter((candidate) => candidate.startsWith(typed)).slice(0, MAX_CANDIDATES);
  return [fitting.length === 1 ? [`${fitting[0]} `] : fitting, typed];
}

function candidatesOf(wanted: WantedWord, dependencies: CompletionNeeds): readonly string[] {
  switch (wanted.kind) {
    case 'known':
      return wanted.words.map(({ word }) => word);
    case 'argument':
      return valuesOf(wanted.argument, dependencies);
    case 'value':
      if (wanted.option === '--configuration') return valuesOf('configuration', dependencies);
      return wanted.option === '--node' ? valuesOf('node', dependencies) : [];
    case 'nothing':
      return [];
    default:
      return wanted satisfies never;
  }
}

/** Candidates for an argument, by the name that its command gives it. */
function valuesOf(argument: string, dependencies: CompletionNeeds): string[] {
  switch (argument) {
    case 'id':
      return [...visibleInstances(dependencies)].map(({ id }) => id).sort();
    case 'configuration':
    case 'name':
      return [...dependencies.configurations.entries()].map(([name]) => name).sort();
    case 'node':
      return [...dependencies.nodes.entries()].map(([id]) => id).sort();
    case 'label':
      return [...dependencies.keys.entries()].map(([label]) => label).sort();
    case 'session-id':
      return [...dependencies.sessions.entries()].map(([id]) => id).sort();
    case 'pattern':
      return [...dependencies.templates.groups()].flatMap(([group, names]) => [
        `${group}/*`,
        ...names.map((name) => `${group}/${name}`),
      ]);
    default:
      return [];
  }
}
