/** The help of the program on one screen, and what the help of every command has below its own options. */
import type { Command } from 'commander';
import { pathOf, usageOf } from '../command-tree/help/usage.js';

export const HELP_SCREEN = `Drover keeps declared processes running, on one machine or many.

Everyday
  status, ps, top, describe      is all well; what runs, and uses; one in full
  logs, attach, exec             what it writes, its terminal, a line to it
  restart, stop, scale, wait     by id or configuration; wait until it is so
  run                            a job: its log, and its exit code
Change
  edit, apply, delete            in an editor or from files; before: validate,
  history, rollback, rollout     plan, diff, render; how it goes, and back
Look
  events, exits, get, instance, config, schedule, template, cp, ui
Cluster
  cluster, key, session          nodes, drains, join tokens; who may do what
  secret                         values that only programs get
  webhook, extension             whom it tells, what was added to it
Node
  start, token, join, node, store, import
Setup
  context, completion, help, version

Examples
  drover status                  what is not well, and why
  drover logs lobby -f           all of a configuration, by time
  drover plan -f lobby.json      what would happen, before apply does it
  drover cluster drain ams-1     empty a machine, players first

-o table|wide|name|json|yaml, --context NAME, --root DIRECTORY and
--color auto|always|never go with every command that asks a master.
"drover help" lists all commands; each has --help.
`;

/** The options that the screen above explains. */
const EVERYWHERE: ReadonlySet<string> = new Set(['--output', '--context', '--root', '--color']);
/** Values in the place of arguments, by their names; others stand in capitals. */
const VALUES: Readonly<Record<string, string>> = { id: '8hld9k', node: 'ams-1', count: '4' };
/** Options that an example shows beside those that must be given. */
const MORE: Readonly<Record<string, string>> = { logs: '-f --since 10m', 'instance list': '--state OFFLINE' };

/** Shortens the help of each command that has no commands of its own, and adds an example. */
export function finishHelp(command: Command): void {
  for (const child of command.commands) finishHelp(child);
  if (command.parent === null) {
    command.configureHelp({ ...command.configureHelp(), formatHelp: () => HELP_SCREEN });
    return;
  }
  const shared = command.options.filter(({ long }) => EVERYWHERE.has(long ?? ''));
  const isForMasters = shared.some(({ long }) => long === '--context');
  if (isForMasters) for (const option of shared) option.hideHelp();
  const formats = shared.find(({ long }) => long === '--output')?.argChoices?.join('|');
  const also = `${formats === undefined ? '' : `-o ${formats}, `}--context, --root, --color`;
  if (command.commands.length === 0) command.addHelpText('after', () => `\nExample: ${exampleOf(command)}`);
  if (isForMasters) command.addHelpText('after', `Also ${also}: see "drover --help".`);
}

function exampleOf(command: Command): string {
  const path = pathOf(command);
  const words = usageOf(command)
    .slice(path.length + 1)
    .replace(
      /[<[]([\w-]+)[^>\]]*[>\]]/g,
      (_all, name: string) => VALUES[name] ?? (/^(?:name|config)/.test(name) ? 'lobby' : name.toUpperCase()),
    );
  const needed = command.options
    .filter(({ mandatory }) => mandatory)
    .map(({ long, flags }) => `${long} ${/<(\w+)/.exec(flags)?.[1]?.toUpperCase() ?? ''}`);
  return ['drover', path, words, ...needed, MORE[path] ?? ''].filter((part) => part !== '').join(' ');
}
