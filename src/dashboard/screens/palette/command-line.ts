/** The line of the console while it is typed: the command in it, and its completions. Pure. */
import type { ListedCommand } from '../../../api/http/command-runner.js';
import type { Candidates } from '../../../api/routes/command-routes.js';

/** Returns the known command with which the line begins, the longest if several fit; undefined: none fits. */
export function commandOf(commands: readonly ListedCommand[], line: string): ListedCommand | undefined {
  const typed = ` ${line.trim().split(/\s+/).join(' ')} `;
  const found = commands.filter(({ path }) => typed.startsWith(` ${path} `));
  return found.sort((a, b) => b.path.length - a.path.length)[0];
}

/** True when the line begins with a known command, so that Enter runs it instead of going to a place. */
export function isRunnable(commands: readonly ListedCommand[], line: string): boolean {
  return /^\s*help\b/.test(line) || commandOf(commands, line) !== undefined;
}

/** True when the page must ask the operator before it runs the line. */
export function isDestructive(commands: readonly ListedCommand[], line: string): boolean {
  const command = commandOf(commands, line);
  return command?.destroys === true && !/\s(?:--help|-h)(?:\s|$)/.test(line);
}

export interface Completion {
  /** The whole line with the completion in it. */
  readonly line: string;
  readonly label: string;
  readonly about: string;
}

/** An answer of the server, and the line that was asked about. */
export interface Answered extends Candidates {
  readonly asked: string;
}

/**
 * Returns the completions of `line`, each as a whole line with its description. An answer to an earlier line gives
 * only the completions that still fit: Enter must never run another line than the operator sees.
 */
export function completionsOf(
  commands: readonly ListedCommand[],
  line: string,
  { asked, word, candidates }: Answered,
): Completion[] {
  const more = line.slice(asked.length);
  if (!line.startsWith(asked) || !asked.endsWith(word) || /\s/.test(more)) return [];
  const typed = word + more;
  const before = line.slice(0, line.length - typed.length);
  const fitting = more === '' ? candidates : candidates.filter((candidate) => candidate.startsWith(typed));
  return fitting.map((candidate) => {
    const label = candidate.trimEnd();
    return { line: `${before}${label} `, label, about: aboutOf(commands, before, label) };
  });
}

function aboutOf(commands: readonly ListedCommand[], before: string, word: string): string {
  const path = `${before}${word}`.trim().split(/\s+/).join(' ');
  const itself = commands.find((command) => command.path === path);
  if (itself !== undefined) return itself.about;
  if (!word.startsWith('-')) return wordsBelow(commands, path);
  const option = commandOf(commands, before)?.options.find(({ flags }) =>
    flags.split(/[\s,]+/).includes(word),
  );
  return option?.about ?? '';
}

/** The words that follow a group, such as `list, create, delete`; '' for anything else. */
function wordsBelow(commands: readonly ListedCommand[], group: string): string {
  const words = commands
    .filter(({ path }) => path.startsWith(`${group} `))
    .map(({ path }) => path.slice(group.length + 1).split(' ')[0]);
  return [...new Set(words)].join(', ');
}
