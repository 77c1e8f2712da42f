/** Aliases of commands, for people who are used to kubectl. An alias has all options of its command. */
import type { Command } from 'commander';
import { addCommand, type TreeHost } from '../command-tree/build-tree.js';
import { invalid } from '../command-tree/command.js';
import { type CommandPath, descriptionOf } from '../command-tree/commands.js';
import { lengthOfTime } from '../command-tree/parsers.js';
import {
  declareSelection,
  SELECTING,
  type SelectionOptions,
  selectionOf,
} from '../command-tree/selection/selection.js';
import type { ClientHost, ClientOptions } from './commands/client-host.js';
import type { TargetOptions } from './contexts/choose-target.js';
import type { describeThing } from './describe.js';
import { kindOf } from './named-thing.js';
import { write } from './print.js';

interface Alias {
  readonly words: readonly [verb: string, noun: string];
  /** Other spellings of the noun. */
  readonly also: readonly string[];
  readonly path: CommandPath;
  /** The command to run instead when a name is typed: `get configs lobby` runs `config show`. */
  readonly one?: CommandPath;
  /** For people it says all of such a thing; `path` has the data for programs. */
  readonly described?: DescribedKind;
}

type DescribedKind = Parameters<typeof describeThing>[1];

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
  { ...alias('describe', ['instance', 'instances'], 'instance info'), described: 'instance' },
  { ...alias('describe', ['config', ...CONFIG], 'config show'), described: 'config' },
  { ...alias('describe', ['node', 'nodes'], 'cluster why'), described: 'node' },
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
    for (const known of ALIASES.filter(({ words }) => words[0] === verb))
      addAlias(group, known, host, client);
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
  addDescribe(program, host, client);
  addExecute(program, host, client);
}

/** Lets `describe` take a bare name. */
function addDescribe(program: Command, host: TreeHost, client: ClientHost): void {
  const group = program.commands.find((command) => command.name() === 'describe')?.argument('[name]');
  if (group === undefined) return;
  client.addOutput(group);
  client.addTarget(group);
  group.action(async (name: string | undefined, options: ClientOptions) => {
    if (name === undefined) throw invalid('name an instance or a configuration');
    const kind = (await kindOf(await client.open(options), name)) ?? 'config';
    await describeFor(group, kind, name, host, client);
  });
}

function addExecute(program: Command, host: TreeHost, client: ClientHost): void {
  const rule = 'It must be a length of time such as 2s or 1m, 10m at most.';
  const command = addCommand(program, 'instance execute', host, 'exec')
    .description('the same as "instance execute"; -- before the line keeps its options')
    .option('--wait <time>', 'then print what it writes for so long', lengthOfTime(600_000, rule));
  command.action(async (id: string, words: readonly string[], options: ClientOptions & { wait?: number }) => {
    const input = { id, command: words.join(' ') };
    if (options.wait === undefined) return host.perform('instance execute', input, command);
    const { executeAndFollow } = await import('./live/logs.js');
    await executeAndFollow(await client.open(options), input, options.wait, await client.liveOutput());
  });
}

/** Adds `restart` and `stop` of instances, or of a configuration. `stop` alone goes on to end Drover. */
function addActing(program: Command, verb: 'restart' | 'stop', host: TreeHost, client: ClientHost): void {
  const own = program.commands.find((command) => command.name() === verb);
  const command = own?.argument('[id...]') ?? addCommand(program, `instance ${verb}`, host, verb);
  if (own !== undefined) declareSelection(own);
  const about =
    verb === 'stop'
      ? 'instances, or all of a configuration; without a name: end Drover'
      : 'instances, or a configuration step by step';
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

function addAlias(
  group: Command,
  { words, also, path, one, described }: Alias,
  host: TreeHost,
  client: ClientHost,
): void {
  const command = addCommand(group, path, host, words[1]).aliases([...also]);
  if (described !== undefined) {
    command.description(`all of it, with why and rollout; for programs the same as "${path}"`);
    command.action((name: string) => describeFor(command, described, name, host, client));
    return;
  }
  if (one === undefined) {
    command.description(`the same as "${path}"`);
    return;
  }
  command
    .description(`the same as "${path}", with a name "${one}"`)
    .argument('[name]')
    .action((name: string | undefined, options: object) => {
      const isOne = name !== undefined;
      return host.perform(isOne ? one : path, isOne ? { name } : options, command);
    });
}

async function describeFor(
  command: Command,
  kind: DescribedKind,
  name: string,
  host: TreeHost,
  client: ClientHost,
): Promise<void> {
  const options = command.optsWithGlobals<ClientOptions>();
  const path = ALIASES.find(({ described }) => described === kind)?.path ?? 'config show';
  const isForPeople = options.output === 'table' || options.output === 'wide';
  if (!isForPeople) return host.perform(path, descriptionOf(path).input(name as never), command);
  const { describeThing: ask } = await import('./describe.js');
  const api = await client.open(options);
  const text = await ask(api, kind, name);
  await client.print({ text, json: () => undefined, names: undefined }, options.output, api.now);
}

function alias(verb: string, [noun = '', ...also]: readonly string[], path: CommandPath): Alias {
  return { words: [verb, noun], also: also.filter((other) => other !== noun), path };
}
