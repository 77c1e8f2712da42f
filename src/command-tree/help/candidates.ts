/**
 * Finds the words that complete a line: words of the command tree, and names that a master knows. Console and client
 * use it.
 */
import type { Command } from 'commander';
import type { InstanceInfo } from '../../model/instance.js';
import type { TemplateName } from '../../templates/sync/pattern.js';
import { type ApiCalls, type CallOptions, pathPart } from '../runs/api-calls.js';
import { pathOf } from './usage.js';
import { type KnownWord, plain, type WantedWord, wantedWord } from './wanted-word.js';

/** The kinds of names that come from a master or from the file of contexts. */
export type NameKind = 'contexts' | 'files' | keyof typeof SOURCES;

/**
 * Returns the names of a kind, or none when they are not available. `template`: the template whose files are wanted.
 */
export type NameSource = (kind: NameKind, template?: string) => Promise<readonly KnownWord[]>;

/** Printed instead of candidates: the shell then completes file paths. */
export const FILES = ':files';

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

/** The kind of name that completes `<name>` in `wait <kind> <name>`, by the typed kind. */
const KINDS: Readonly<Record<string, NameKind>> = {
  instance: 'instances',
  config: 'configurations',
  node: 'nodes',
};

/** The API path that lists the names of a kind, and how to read its answer. */
interface Source {
  readonly path: string;
  readonly wordsOf: (answer: never) => readonly KnownWord[];
}

const SOURCES = {
  instances: listOf('/instances', ({ id, configurationName, state }: InstanceInfo) => ({
    word: id,
    about: `${configurationName}, ${state}`,
  })),
  configurations: listOf('/configurations', ({ name }: Record<'name', string>) => plain(name)),
  nodes: listOf('/cluster/nodes', ({ nodeId }: Record<'nodeId', string>) => plain(nodeId)),
  keys: listOf('/keys', ({ label, scope }: Record<'label' | 'scope', string>) => ({
    word: label,
    about: scope,
  })),
  sessions: listOf('/sessions', idOf),
  joinTokens: listOf('/cluster/tokens', idOf),
  templates: {
    path: '/templates',
    wordsOf: (groups: readonly { readonly templates: readonly TemplateName[] }[]) =>
      groups.flatMap(({ templates }) => templates).map(({ group, name }) => plain(`${group}/${name}`)),
  },
  extensionCommands: listOf('/extensions/commands', (one: Record<'name' | 'description', string>) => ({
    word: one.name,
    about: one.description,
  })),
} satisfies Readonly<Record<string, Source>>;

/** The names of a kind, as the master answers. Throws a ClientError. */
export async function askForNames(
  api: ApiCalls,
  kind: Exclude<NameKind, 'contexts'>,
  template: string,
  options?: CallOptions,
): Promise<readonly KnownWord[]> {
  const { path, wordsOf } = kind === 'files' ? filesOf(template) : SOURCES[kind];
  return wordsOf(await api.send<never>('GET', path, undefined, options));
}

/**
 * Returns the candidates for a word. `before`: the words before it. `typed`: the part of the word that is typed
 * already; the result may also hold words that do not begin with it.
 */
export async function candidatesAt(
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
      return ofArgument(wanted, before, typed, names);
    case 'nothing':
      return [];
    default:
      return wanted satisfies never;
  }
}

async function ofArgument(
  { command, argument: name }: Extract<WantedWord, { kind: 'argument' }>,
  before: readonly string[],
  typed: string,
  names: NameSource,
): Promise<readonly KnownWord[]> {
  const path = pathOf(command);
  if (path.startsWith('context ')) return path === 'context add' ? [] : names('contexts');
  if (path === 'cp') return places(typed, names);
  if (name === 'pattern') return patterns(await names('templates'));
  const kind = path === 'wait' ? KINDS[before[before.indexOf('wait') + 1] ?? ''] : undefined;
  const sources = kind === undefined ? name.split('|').flatMap((one) => ARGUMENTS[one] ?? []) : [kind];
  return (await Promise.all(sources.map((source) => names(source)))).flat();
}

/**
 * Completes a place of `drover cp`. After `group/name:` returns the files of that template; before the colon, the
 * templates and local files.
 */
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
  return [...[...groups].map(plain), ...templates];
}

function filesOf(template: string): Source {
  const [group = '', name = ''] = template.split('/');
  return {
    path: `/templates/${pathPart(group)}/${pathPart(name)}/files`,
    wordsOf: ({ files }: { readonly files: readonly string[] }) => files.map(plain),
  };
}

function listOf<T>(path: string, wordOf: (one: T) => KnownWord) {
  return { path, wordsOf: (all: readonly T[]) => all.map(wordOf) };
}

function idOf({ id }: Record<'id', string>): KnownWord {
  return plain(id);
}
