/** Finds the completions of a shell line. The line is split into words at blanks. */
import type { Command } from 'commander';
import { pathOf } from '../../command-tree/help/usage.js';
import { type KnownWord, wantedWord } from '../../command-tree/help/wanted-word.js';
import { masterNames, type NameKind, type NameSource } from './master-names.js';

/** Printed instead of candidates: the shell then completes file paths. */
const FILES = ':files';

const PATH_OPTIONS: ReadonlySet<string> = new Set(['--root', '--filename', '--key-file', '--ca']);

/** The kinds of names that complete each argument, by the name of the argument. */
const ARGUMENTS: Readonly<Record<string, readonly NameKind[]>> = {
  id: ['instances'],
  instance: ['instances'],
  configuration: ['configurations'],
  name: ['configurations'],
  node: ['nodes'],
  label: ['keys'],
  'session-id': ['sessions'],
  'token-id': ['joinTokens'],
};

/** The kinds of names for an argument whose kind another argument sets: `wait node <name>`. */
const KINDS: Readonly<Record<string, NameKind>> = {
  instance: 'instances',
  config: 'configurations',
  node: 'nodes',
};

/** Returns the words that complete a line. Never throws and prints nothing. */
export async function completeLine(
  program: Command,
  environment: NodeJS.ProcessEnv,
  line: string,
): Promise<readonly KnownWord[]> {
  const names = masterNames({
    environment,
    directory: process.cwd(),
    say: () => undefined,
    version: program.version() ?? '',
    target: { context: valueIn(line, '--context'), root: valueIn(line, '--root') },
  });
  const found = await candidatesFor(program, line, names);
  return found.toSorted((a, b) => Number(a.word === FILES) - Number(b.word === FILES));
}

/** Returns the candidates that begin with the last word of the line. FILES comes last. */
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

async function candidatesAt(
  program: Command,
  before: readonly string[],
  typed: string,
  names: NameSource,
): Promise<readonly KnownWord[]> {
  const wanted = wantedWord(program, before, typed);
  switch (wanted.kind) {
    case 'known': {
      const isFirst = before.length === 0 && !typed.startsWith('-');
      return isFirst ? [...wanted.words, ...(await names('extensionCommands'))] : wanted.words;
    }
    case 'value':
      if (wanted.option === '--context') return names('contexts');
      if (wanted.option === '--configuration') return names('configurations');
      if (wanted.option === '--node') return names('nodes');
      return PATH_OPTIONS.has(wanted.option) ? [{ word: FILES, about: '' }] : [];
    case 'argument':
      return argument(wanted.command, wanted.argument, { before, typed, names });
    case 'nothing':
      return [];
    default:
      return wanted satisfies never;
  }
}

interface Typing {
  readonly before: readonly string[];
  readonly typed: string;
  readonly names: NameSource;
}

async function argument(
  command: Command,
  name: string,
  { before, typed, names }: Typing,
): Promise<readonly KnownWord[]> {
  const path = pathOf(command);
  if (path.startsWith('context ')) return path === 'context add' ? [] : names('contexts');
  if (path === 'cp') return places(typed, names);
  if (name === 'pattern') return patterns(await names('templates'));
  const kind = path === 'wait' ? KINDS[before[before.indexOf('wait') + 1] ?? ''] : undefined;
  const sources = kind === undefined ? name.split('|').flatMap((one) => ARGUMENTS[one] ?? []) : [kind];
  return (await Promise.all(sources.map((source) => names(source)))).flat();
}

/** Returns the files of a typed template; before its colon, the templates and local files. */
async function places(typed: string, names: NameSource): Promise<readonly KnownWord[]> {
  const [template = '', path] = typed.split(':', 2);
  if (path !== undefined)
    return (await names('files', template)).map(({ word, about }) => ({
      word: `${template}:${word}`,
      about,
    }));
  const templates = (await names('templates')).map(({ word, about }) => ({ word: `${word}:`, about }));
  return [...templates, { word: FILES, about: '' }];
}

function patterns(templates: readonly KnownWord[]): KnownWord[] {
  const groups = new Set(templates.map(({ word }) => `${word.split('/', 1)[0]}/*`));
  return [...[...groups].map((word) => ({ word, about: '' })), ...templates];
}

function valueIn(line: string, option: string): string | undefined {
  return new RegExp(`\\s${option}[\\s=]+(\\S+)\\s`).exec(line)?.[1];
}
