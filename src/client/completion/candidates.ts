/** Finds the completions of a shell line. The line is split into words at blanks. */
import type { Command } from 'commander';
import { askForNames, candidatesAt, FILES, type NameSource } from '../../command-tree/help/candidates.js';
import { type KnownWord, plain } from '../../command-tree/help/wanted-word.js';
import { chooseTarget, type Surroundings, type TargetOptions } from '../contexts/choose-target.js';
import { ContextFile } from '../contexts/context-file.js';
import { within } from '../within.js';

/** Short, because the person who pressed Tab is waiting. */
const LIMIT_MS = 300;

/** Returns the words that complete a line. Never throws and prints nothing. */
export async function completeLine(
  program: Command,
  environment: NodeJS.ProcessEnv,
  line: string,
): Promise<readonly KnownWord[]> {
  const target = { context: valueIn(line, '--context'), root: valueIn(line, '--root') };
  const surroundings = { environment, directory: process.cwd(), say: () => undefined };
  const found = await candidatesFor(program, line, masterNames(target, surroundings, program.version()));
  return found.toSorted((a, b) => Number(a.word === FILES) - Number(b.word === FILES));
}

/**
 * Returns the candidates that begin with the last word of the line. `FILES` is among them where a file path may
 * stand.
 */
export async function candidatesFor(
  program: Command,
  line: string,
  names: NameSource,
): Promise<readonly KnownWord[]> {
  // The first word is the program's name.
  const words = line.trimStart().split(/\s+/).slice(1);
  const typed = words.pop() ?? '';
  const all = await candidatesAt(program, words, typed, names);
  return all.filter(({ word }) => word === FILES || word.startsWith(typed));
}

/**
 * The names that the file of contexts and the chosen master know. Names that do not arrive within the limit, in
 * milliseconds, are left out silently.
 */
export function masterNames(
  wanted: TargetOptions,
  surroundings: Surroundings,
  version = '',
  limitMs = LIMIT_MS,
): NameSource {
  return async (kind, template = '') => {
    const found = await within(limitMs, async (signal) => {
      if (kind === 'contexts') {
        const { contexts } = await new ContextFile(surroundings.environment).read();
        return [...contexts.keys()].sort().map(plain);
      }
      const target = await chooseTarget(wanted, surroundings);
      // Pressing Tab must not ask for a password.
      if (target.key.kind === 'command') return [];
      const { HttpConnection } = await import('../connection/http-connection.js');
      const { ApiClient } = await import('../api-client.js');
      const api = new ApiClient(new HttpConnection(target, { version }));
      return askForNames(api, kind, template, { signal });
    });
    return found ?? [];
  };
}

function valueIn(line: string, option: string): string | undefined {
  return new RegExp(`\\s${option}[\\s=]+(\\S+)\\s`).exec(line)?.[1];
}
