/** Completes a line that is being typed, with words of the tree, ids and names. */
import type { Command } from 'commander';
import { visibleInstances } from '../operations/instance-details.js';
import type { CommandDependencies } from './context.js';

/** A longer list helps no reader. */
const MAX_CANDIDATES = 50;

/** Returns candidates for the last word of the line, and that word, in the form of node:readline. */
export function completionsOf(
  program: Command,
  dependencies: CommandDependencies,
  line: string,
): [string[], string] {
  const words = line.trimStart().split(/\s+/);
  const typed = words.pop() ?? '';
  const candidates = typed.startsWith('-')
    ? options(program, words)
    : wordsAfter(program, dependencies, words);
  const fitting = candidates.filter((candidate) => candidate.startsWith(typed)).slice(0, MAX_CANDIDATES);
  return [fitting.length === 1 ? [`${fitting[0]} `] : fitting, typed];
}

function wordsAfter(program: Command, dependencies: CommandDependencies, words: readonly string[]): string[] {
  const { command, rest } = descend(program, words);
  if (command.name() === 'help') return descend(program, rest).command.commands.map((child) => child.name());
  if (command.commands.length > 0)
    return rest.length > 0 ? [] : command.commands.map((child) => child.name());
  const argument = command.registeredArguments[rest.length];
  return argument === undefined ? [] : [...(argument.argChoices ?? valuesOf(argument.name(), dependencies))];
}

function options(program: Command, words: readonly string[]): string[] {
  return descend(program, words).command.options.flatMap(({ long }) => (long === undefined ? [] : [long]));
}

/** Returns the command that the words lead to, and the words after it. */
function descend(program: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  let command = program;
  let depth = 0;
  for (const word of words) {
    const next = command.commands.find((child) => child.name() === word);
    if (next === undefined) break;
    command = next;
    depth++;
  }
  return { command, rest: words.slice(depth) };
}

/** Candidates for an argument, by the name that its command gives it. */
function valuesOf(argument: string, dependencies: CommandDependencies): string[] {
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
