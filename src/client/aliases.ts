/** Aliases of commands, for people who are used to kubectl. An alias has all options of its command. */
import type { Command } from 'commander';
import { addCommand, type TreeHost } from '../command-tree/build-tree.js';
import type { CommandPath } from '../command-tree/commands.js';
import {
  declareSelection,
  SELECTING,
  type SelectionOptions,
  selectionOf,
} from '../command-tree/selection/selection.js';
import type { ClientHost } from './commands/client-host.js';
import type { TargetOptions } from './contexts/choose-target.js';
import { kindOf } from './named-thing.js';
import { write } from './print.js';

interface Alias {
  readonly words: readonly [verb: string, noun: string];
  /** Other spellings of the noun. */
  readonly also: readonly string[];
  readonly path: CommandPath;
  /** The command to run instead when a name is typed: `get configs lobby` runs `config show`. */
  readonly one?: CommandPath;
}

const VERBS: Readonly<Record<string, string>> = {
  get: 'lists, by the names that kubectl has for them',
  describe: 'one thing in full, by the names that kubectl has for them',
  delete: 'removals, by the names that kubectl has for them',
};

const CONFIG = ['config', 'configs', 'configuration', 'configurations'];

export const ALIASES: readonly Alias[] = [
  alias('get', ['instances', 'instance'], 'instance list'),
  { ...alias('get', ['configs', ...CONFIG], 'config list'), one: 'config show' },
  alias('get', ['nodes', 'node'], 'cluster nodes'),
  alias('get', ['templates', 'template'], 'template list'),
  alias('get', ['keys', 'key'], 'key list'),
  alias('get', ['sessions', 'session'], 'session list'),
  alias('get', ['tokens', 'token'], 'cluster token list'),
  alias('get', ['extensions', 'extension'], 'extension list'),
  alias('describe', ['instance', 'instances'], 'instance info'),
  alias('describe', ['config', ...CONFIG], 'config show'),
  alias('describe', ['node', 'nodes'], 'cluster why'),
  alias('delete', ['instance', 'instances'], 'instance delete'),
  alias('delete', ['config', ...CONFIG], 'config delete'),
  alias('delete', ['key', 'keys'], 'key delete'),
  alias('delete', ['session', 'sessions'], 'session revoke'),
  alias('delete', ['token', 'tokens'], 'cluster token revoke'),
  alias('delete', ['node', 'nodes'], 'cluster forget'),
];

/** Names of their own for commands that people use most. */
const SHORT: Readonly<Record<string, CommandPath>> = {
  scale: 'config scale',
  ps: 'instance list',
  status: 'cluster status',
  history: 'config history',
  rollback: 'config rollback',
};

export function addAliases(program: Command, host: TreeHost, client: ClientHost): void {
  for (const [verb, about] of Object.entries(VERBS)) {
    // `delete` already exists as a command with an option; the other verbs are new groups.
    const own = program.commands.find((command) => command.name() === verb);
    const group = own ?? program.command(verb).description(about).helpCommand('help', 'show this');
    for (const known of ALIASES.filter(({ words }) => words[0] === verb)) addAlias(group, known, host);
  }
  for (const [name, path] of Object.entries(SHORT))
    addCommand(program, path, host, name).description(`the same as "${path}"`);
  for (const verb of ['restart', 'stop'] as const) addActing(program, verb, host, client);
  program
    .command('version')
    .description('the version of this program')
    .action(async () => {
      await write(client.surroundings.stdout, `${program.version()}\n`);
    });
  addCommand(program, 'instance execute', host, 'exec').description(
    'the same as "instance execute"; -- before the line keeps its options',
  );
}

/** Adds `restart` and `stop` of instances, or of a configuration. `stop` alone goes on to end Drover. */
function addActing(program: Command, verb: 'restart' | 'stop', host: TreeHost, client: ClientHost): void {
  const own = program.commands.find((command) => command.name() === verb);
  const command = own?.argument('[id...]') ?? addCommand(program, `instance ${verb}`, host, verb);
  if (own !== undefined) declareSelection(own);
  const about = verb === 'stop' ? 'instances, or all of a configuration; without a name: end Drover' : 'instances, or a configuration step by step';
  command.usage('[options] [id...|configuration]').description(`${verb} ${about}`);
  command.action(async (names: readonly string[], options: SelectionOptions & TargetOptions) => {
    const [name = ''] = names;
    if (verb === 'stop' && names.length === 0 && SELECTING.every((one) => options[one] === undefined))
      return host.perform('stop', {}, command);
    if (names.length === 1 && (await kindOf(await client.open(options), name)) === 'config') {
      if (verb === 'restart') return host.perform('config restart', { name }, command);
      return host.perform('instance stop', { selection: { filter: { configuration: name } } }, command);
    }
    return host.perform(`instance ${verb}`, { selection: selectionOf(names, options) }, command);
  });
}

function addAlias(group: Command, { words, also, path, one }: Alias, host: TreeHost): void {
  const command = addCommand(group, path, host, words[1]).aliases([...also]);
  if (one === undefined) {
    command.description(`the same as "${path}"`);
    return;
  }
  command
    .description(`the same as "${path}", with a name "${one}"`)
    .argument('[name]')
    .action((name: string | undefined) => {
      const isOne = name !== undefined;
      return host.perform(isOne ? one : path, isOne ? { name } : {}, command);
    });
}

function alias(verb: string, [noun = '', ...also]: readonly string[], path: CommandPath): Alias {
  return { words: [verb, noun], also: also.filter((other) => other !== noun), path };
}
