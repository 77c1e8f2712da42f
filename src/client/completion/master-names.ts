/** Asks the master for names to complete. Names that arrive too late are left out silently. */
import type { KnownWord } from '../../command-tree/help/wanted-word.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import type { InstanceInfo } from '../../model/instance.js';
import type { ApiClient } from '../api-client.js';
import { chooseTarget, type Surroundings, type TargetOptions } from '../contexts/choose-target.js';
import { ContextFile } from '../contexts/context-file.js';
import { within } from '../within.js';

/** The kinds of names that come from a master or from the file of contexts. */
export type NameKind =
  | 'contexts'
  | 'instances'
  | 'configurations'
  | 'nodes'
  | 'keys'
  | 'sessions'
  | 'joinTokens'
  | 'templates'
  | 'files'
  | 'extensionCommands';

/**
 * Returns the names of a kind, or none when they are not available. `template`: the template whose files are wanted.
 */
export type NameSource = (kind: NameKind, template?: string) => Promise<readonly KnownWord[]>;

/** Short, because the person who pressed Tab is waiting. */
const LIMIT_MS = 300;

interface MasterNamesOptions extends Surroundings {
  readonly version: string;
  readonly target: TargetOptions;
  /** The time limit for the master, in milliseconds. Default: 300 ms. */
  readonly limitMs?: number;
}

/** The API path that lists the names of a kind, and how to read its answer. */
interface Source {
  readonly path: string;
  readonly wordsOf: (answer: never) => readonly KnownWord[];
}

const SOURCES: Readonly<Record<Exclude<NameKind, 'contexts' | 'files'>, Source>> = {
  instances: {
    path: '/instances',
    wordsOf: (all: readonly InstanceInfo[]) =>
      all.map(({ id, configurationName, state }) => ({ word: id, about: `${configurationName}, ${state}` })),
  },
  configurations: {
    path: '/configurations',
    wordsOf: (all: readonly { readonly name: string }[]) => all.map(({ name }) => plain(name)),
  },
  nodes: {
    path: '/cluster/nodes',
    wordsOf: (all: readonly { readonly nodeId: string }[]) => all.map(({ nodeId }) => plain(nodeId)),
  },
  keys: {
    path: '/keys',
    wordsOf: (all: readonly { readonly label: string; readonly scope: string }[]) =>
      all.map(({ label, scope }) => ({ word: label, about: scope })),
  },
  sessions: { path: '/sessions', wordsOf: idsOf },
  joinTokens: { path: '/cluster/tokens', wordsOf: idsOf },
  templates: {
    path: '/templates',
    wordsOf: (groups: readonly TemplateGroup[]) =>
      groups.flatMap(({ templates }) => templates).map(({ group, name }) => plain(`${group}/${name}`)),
  },
  extensionCommands: {
    path: '/extensions/commands',
    wordsOf: (all: readonly { readonly name: string; readonly description: string }[]) =>
      all.map(({ name, description }) => ({ word: name, about: description })),
  },
};

interface TemplateGroup {
  readonly templates: readonly { readonly group: string; readonly name: string }[];
}

export function masterNames(options: MasterNamesOptions): NameSource {
  const { version, target, limitMs = LIMIT_MS, ...surroundings } = options;
  return async (kind, template = '') => {
    const found = await within(limitMs, async (signal) => {
      if (kind === 'contexts') {
        const { contexts } = await new ContextFile(surroundings.environment).read();
        return [...contexts.keys()].sort().map(plain);
      }
      const { path, wordsOf } = kind === 'files' ? filesOf(template) : SOURCES[kind];
      const api = await open(target, version, surroundings);
      return api === undefined ? [] : wordsOf(await api.send<never>('GET', path, undefined, { signal }));
    });
    return found ?? [];
  };
}

/** Returns undefined when the key comes from a command: pressing Tab must not ask for a password. */
async function open(
  wanted: TargetOptions,
  version: string,
  surroundings: Surroundings,
): Promise<ApiClient | undefined> {
  const target = await chooseTarget(wanted, surroundings);
  if (target.key.kind === 'command') return undefined;
  const { HttpConnection } = await import('../connection/http-connection.js');
  const { ApiClient: Client } = await import('../api-client.js');
  return new Client(new HttpConnection(target, { version }));
}

function filesOf(template: string): Source {
  const [group = '', name = ''] = template.split('/');
  return {
    path: `/templates/${pathPart(group)}/${pathPart(name)}/files`,
    wordsOf: ({ files }: { readonly files: readonly string[] }) => files.map(plain),
  };
}

function idsOf(all: readonly { readonly id: string }[]): KnownWord[] {
  return all.map(({ id }) => plain(id));
}

function plain(word: string): KnownWord {
  return { word, about: '' };
}
