/** Aliases of commands, for people who are used to kubectl. An alias has all options of its command. */
import type { Command } from 'commander';
import { addCommand, type TreeHost } from '../command-tree/build-tree.js';
import { invalid } from '../command-tree/command.js';
import type { CommandPath } from '../command-tree/commands.js';
import { lengthOfTime } from '../command-tree/parsers.js';
import { kindOf } from '../command-tree/runs/api-calls.js';
import {
  declareSelection,
  SELECTING,
  type SelectionOptions,
  selectionOf,
} from '../command-tree/selection/selection.js';
import type { ClientHost, ClientOptions } from './commands/client-host.js';
import type { TargetOptions } from './contexts/choose-target.js';

const CONFIGS = 'configs config configuration configurations';

/** A verb of kubectl or none, the spellings of a noun, the first one for the help, and the command that is meant. */
export const ALIASES: readonly (readonly [verb: 'get' | 'delete' | '', nouns: string, path: CommandPath])[] =
  [
    ['get', 'instances instance', 'instance list'],
    ['get', CONFIGS, 'config list'],
    ['get', 'nodes node', 'cluster nodes'],
    ['get', 'templates template', 'template list'],
    ['get', 'keys key', 'key list'],
    ['get', 'sessions session', 'session list'],
    ['get', 'tokens token', 'cluster token list'],
    ['get', 'extensions extension', 'extension list'],
    ['delete', 'instance instances', 'instance delete'],
    ['delete', 'config configs configuration configurations', 'config delete'],
    ['delete', 'key keys', 'key delete'],
    ['delete', 'session sessions', 'session revoke'],
    ['delete', 'token tokens', 'cluster token revoke'],
    ['delete', 'node nodes', 'cluster forget'],
    ['', 'scale', 'config scale'],
    ['', 'ps', 'instance list'],
    ['', 'status', 'cluster status'],
    ['', 'history', 'config history'],
    ['', 'rollback', 'config rollback'],
  ];

/** Parts of what `describe` says of each kind, one after the other; the first is the data for programs. */
const DESCRIBED = {
  instance: ['instance info', 'instance why'],
  config: ['config show', 'config why', 'rollout status', 'config history'],
  node: ['cluster why'],
} as const satisfies Readonly<Record<string, readonly CommandPath[]>>;

export function addAliases(program: Command, host: TreeHost, client: ClientHost): void {
  program
    .command('get')
    .description('lists, by the names that kubectl has for them')
    .helpCommand('help', 'show this');
  for (const [verb, nouns, path] of ALIASES) addAlias(program, verb, nouns, path, host);
  for (const verb of ['restart', 'stop'] as const) addActing(program, verb, host, client);
  addDescribe(program, host, client);
  addExecute(program, host, client);
}

function addDescribe(program: Command, host: TreeHost, client: ClientHost): void {
  const group = program
    .command('describe [name]')
    .description('one thing in full: facts, why, rollout, last runs');
  const show = (command: Command, typed?: keyof typeof DESCRIBED) => async (name?: string) => {
    if (name === undefined) throw invalid('name an instance or a configuration');
    const options = command.optsWithGlobals<ClientOptions>();
    const api = await client.open(options);
    const kind = typed ?? (await kindOf(api, name)) ?? 'config';
    const { describeThing } = await import('./describe.js');
    await client.print(await describeThing(api, DESCRIBED[kind], name), options.output, api.now);
  };
  for (const kind of ['instance', 'config', 'node'] as const) {
    const also = kind === 'config' ? CONFIGS.split(' ').filter((word) => word !== kind) : [`${kind}s`];
    const command = addCommand(group, DESCRIBED[kind][0], host, kind).aliases(also);
    command.description(group.description()).action(show(command, kind));
  }
  client.addShown(group);
  group.action(show(group));
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

function addAlias(program: Command, verb: string, nouns: string, path: CommandPath, host: TreeHost): void {
  const group = program.commands.find((command) => command.name() === verb) ?? program;
  const [noun = '', ...also] = nouns.split(' ');
  const command = addCommand(group, path, host, noun).aliases(also);
  command.description(`the same as "${path}"`);
  if (path === 'config list')
    command
      .description('the same as "config list", with a name "config show"')
      .argument('[name]')
      .action((name: string | undefined, options: object) =>
        name === undefined
          ? host.perform(path, options, command)
          : host.perform('config show', { name }, command),
      );
}
