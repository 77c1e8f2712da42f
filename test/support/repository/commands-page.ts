/**
 * Writes the tables of docs/commands.md from the command tree. The prose around them, and the notes here, are written
 * by hand.
 */
import { Command, type Option } from 'commander';
import { ALIASES } from '../../../src/client/aliases.js';
import { ClientHost } from '../../../src/client/commands/client-host.js';
import { addOwnCommands } from '../../../src/client/commands/own-commands.js';
import { addCommands } from '../../../src/command-tree/build-tree.js';
import { COMMAND_PATHS, type CommandPath, descriptionOf } from '../../../src/command-tree/commands.js';
import { pathOf } from '../../../src/command-tree/help/usage.js';

const COMMON: ReadonlySet<string> = new Set(['--output', '--context', '--root', '--color', '--yes']);

/** Notes of the page on a command, beyond its line of help. */
const NOTES: Partial<Record<CommandPath, string>> = {
  'instance list': 'state, node, address, pid, age, restarts, message',
  'instance adopt': '[when it is refused](operations.md#take-up-a-directory-again)',
  'instance why': '[what that means](operations.md#why)',
  'instance logs':
    '1 to 1000, default 100, of a part of the log 1000; times are [exact to the second](api.md#times-of-log-lines)',
  'instance stop': 'says so when `minimumServiceCount` has another one made in its place',
  'instance start': 'or tries at once what waits to be restarted',
  'instance execute': 'quotes around the whole are taken off',
  'config list':
    'with line and reason; configurations that are gone and have instances left, or that a caller removed beside their files; [warnings](configuration.md#warnings)',
  'config reload': 'also what is broken, and what has no effect',
  'config why': 'also after the configuration is gone',
  'config diff': 'with the fields that differ',
  'config scale':
    '[the file is written](configuration.md#changes-beside-the-files), or the state where git has the file',
  'template list': 'and which configurations use them',
  'template sync':
    '[what that is for](templates.md#fetching-ahead-of-need); waits half a minute at most, and says of each node what it has',
  'cluster status':
    'also configurations that are gone and have instances left, and [records that cannot be read](operations.md#a-record-that-cannot-be-read)',
  'cluster why': 'and which of its instances are not well',
  'cluster drain':
    '[how it goes](cluster.md#taking-a-node-out-of-service); players are waited for, 30 days at most',
  'cluster token create': '[adding a node](cluster.md#adding-a-node)',
  'node info': 'and whether limits hold',
  'key create':
    '[keys](operations.md#keys-and-audit) and their [restrictions](operations.md#restrictions-of-a-key)',
  'key list': 'restrictions and last use',
  'session list': '[sessions](api.md#sessions)',
};

/** The page with the tables of the command tree between their marks. Throws when a mark is missing. */
export function withTables(page: string): string {
  const program = tree();
  const own = ownCommands();
  const tables = {
    commands: table(['command', 'what'], [...program.entries()].map(rowOfCommand)),
    options: table(['option', 'of', 'meaning'], rowsOfOptions(program)),
    'commands of the client': table(['command', 'what'], [...own.entries()].map(rowOfCommand)),
    'options of the client': table(['option', 'of', 'meaning'], rowsOfOptions(own)),
    aliases: table(
      ['typed', 'is'],
      [
        ...ALIASES.map(([verb, nouns, path]) => [
          code(`drover ${verb} ${nouns.split(' ')[0]}`.replace('  ', ' ')),
          code(`drover ${path}`),
        ]),
        [code('drover get config <name>'), code('drover config show <name>')],
        [code('drover restart <id>'), code('drover instance restart <id>')],
        [code('drover restart <configuration>'), code('drover config restart <configuration>')],
        [code('drover stop <id>'), code('drover instance stop <id>')],
        [code('drover stop <configuration>'), code('drover instance stop --configuration <configuration>')],
        [code('drover exec <id> -- <line>'), code('drover instance execute <id> <line>')],
      ],
    ),
  };
  return Object.entries(tables).reduce(putTable, page);
}

function putTable(page: string, [name, rows]: [string, string]): string {
  const [begin, end] = [`<!-- ${name}: made by "npm run commands" -->`, `<!-- ${name}: end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/commands.md has no place for the table of ${name}`);
  return `${page.slice(0, from + begin.length)}\n\n${rows}\n\n${page.slice(to)}`;
}

/** The commands by path, as the parser knows them; `help` last. */
function tree(): Map<string, Command> {
  const program = new Command('drover').helpCommand(false);
  const commands = new Map<string, Command>();
  addCommands(program, {
    addOptions: (command, path) => void commands.set(path ?? 'help', command),
    perform: async () => undefined,
    show: async () => undefined,
    footer: [],
  });
  return commands;
}

/** The commands that only the client has, as they are typed. */
function ownCommands(): Map<string, Command> {
  const program = new Command('drover').helpCommand(false);
  const unused = (): never => {
    throw new Error('no command is run');
  };
  addOwnCommands(
    program,
    new ClientHost({
      connect: unused,
      terminal: unused,
      readInput: unused,
      environment: {},
      stdout: process.stdout,
    }),
  );
  // The hidden command is left out, which the scripts for shell completion call.
  const visible = program.createHelp().visibleCommands(program);
  return new Map(
    program.commands
      .filter((command) => visible.includes(command))
      .flatMap((command) => endsOf(command))
      .map((end) => [`drover ${pathOf(end)}`, end]),
  );
}

function endsOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(endsOf);
}

function rowOfCommand([path, command]: [string, Command]): string[] {
  const options = ownOptionsOf(command).map(({ long, flags, mandatory }) => {
    const value = / <.*$/.exec(flags)?.[0] ?? '';
    return mandatory ? `${long}${value}` : `[${long}${value}]`;
  });
  const known = COMMAND_PATHS.find((one) => one === path);
  const about = known === undefined ? command.description() : descriptionOf(known).about;
  const note = known === undefined ? undefined : NOTES[known];
  const words = command.usage().replace(/^\[options\] ?/, '');
  return [
    code([path, words, ...options].filter((part) => part !== '').join(' ')),
    note === undefined ? about : `${about}; ${note}`,
  ];
}

function rowsOfOptions(commands: ReadonlyMap<string, Command>): string[][] {
  // An option that several commands share is one row.
  const rows = new Map<string, string[]>();
  for (const [path, command] of commands)
    for (const { flags, description } of ownOptionsOf(command)) {
      const alike = rows.get(`${flags} ${description}`);
      if (alike === undefined) rows.set(`${flags} ${description}`, [code(flags), code(path), description]);
      else alike[1] += `, ${code(path)}`;
    }
  return [...rows.values()];
}

/** The options of a command, without the options that all commands of the client have. */
function ownOptionsOf(command: Command): readonly Option[] {
  return command.options.filter(({ long }) => !COMMON.has(long ?? ''));
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
