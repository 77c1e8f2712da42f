/** Completes a line of the shell, for the master that it names. */
import type { Command } from 'commander';
import type { KnownWord } from '../../command-tree/help/wanted-word.js';
import { candidatesFor, FILES } from './candidates.js';
import { MasterNames } from './master-names.js';

/** Never throws, and says nothing. */
export async function completeLine(
  program: Command,
  environment: NodeJS.ProcessEnv,
  line: string,
): Promise<readonly KnownWord[]> {
  const names = new MasterNames({
    environment,
    directory: process.cwd(),
    say: () => undefined,
    version: program.version() ?? '',
    target: { context: valueIn(line, '--context'), root: valueIn(line, '--root') },
  });
  const found = await candidatesFor(program, line, names);
  return found.toSorted((a, b) => Number(a.word === FILES) - Number(b.word === FILES));
}

function valueIn(line: string, option: string): string | undefined {
  return new RegExp(`\\s${option}[\\s=]+(\\S+)\\s`).exec(line)?.[1];
}
