/** A line of the console that is being typed: which command it is, and what completes it. Pure. */
import type { ListedCommand } from '../../../api/http/command-runner.js';
import type { Candidates } from '../../../api/routes/command-routes.js';

/** The command that a line runs; undefined: none that is known. */
export function commandOf(commands: readonly ListedCommand[], line: string): ListedCommand | undefined {
  const typed = ` ${line.trim().split(/\s+/).join(' ')} `;
  const found = commands.filter(({ path }) => typed.startsWith(` ${path} `));
  return found.reduce<ListedCommand | undefined>(
    (longest, one) => (longest === undefined || one.path.length > longest.path.length ? one : longest),
    undefined,
  );
}

/** Whether a line is one to be run, and not a name to go to. */
export function isRunnable(commands: readonly ListedCommand[], line: string): boolean {
  return /^\s*help\b/.test(line) || commandOf(commands, line) !== undefined;
}

/** Whether a person is to be asked first. */
export function isDestructive(commands: readonly ListedCommand[], line: string): boolean {
  const command = commandOf(commands, line);
  return command?.destroys === true && !/\s(?:--help|-h)(?:\s|$)/.test(line);
}

export interface Completion {
  /** The whole line with it. */
  readonly line: string;
  readonly label: string;
  readonly about: string;
}

/** An answer of the server, and the line that it is for. */
export interface Answered extends Candidates {
  readonly asked: string;
}

/**
 * What the server offers for `line`, each as a whole line, with what it is. While its answer is that for a line before,
 * this is what still fits: what Enter takes must never be of another line.
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

/** Of a group, what it has: `list, create, delete`. Of anything else ''. */
function wordsBelow(commands: readonly ListedCommand[], group: string): string {
  const words = commands
    .filter(({ path }) => path.startsWith(`${group} `))
    .map(({ path }) => path.slice(group.length + 1).split(' ')[0]);
  return [...new Set(words)].join(', ');
}
