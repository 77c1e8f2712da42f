/** Writes the tables of docs/commands.md from the command tree. The prose around them, and the notes here, are by hand. */
import { Command } from 'commander';
import { ALIASES } from '../../../src/client/aliases.js';
import { addCommands } from '../../../src/command-tree/build-tree.js';
import { COMMAND_PATHS, type CommandPath, descriptionOf } from '../../../src/command-tree/commands.js';

/** What a page says beyond the line of the help. */
const NOTES: Partial<Record<CommandPath, string>> = {
  'instance list': 'state, node, address, pid, age, restarts, message',
  'instance why': '[what that means](operations.md#why)',
  'instance logs':
    '1 to 1000, default 100, of a part of the log 1000; times are [exact to the second](api.md#times-of-log-lines)',
  'instance stop': 'says so when `minimumServiceCount` has another one made in its place',
  'instance start': 'or tries at once what waits to be restarted',
  'instance execute': 'quotes around the whole are taken off',
  'config list':
    'with line and reason; configurations that are gone and have instances left; [warnings](configuration.md#warnings)',
  'config reload': 'also what is broken, and what has no effect',
  'config why': 'also after the configuration is gone',
  'config diff': 'with the fields that differ',
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

/** The page with the tables that the tree makes, between their marks. Throws when a mark is missing. */
export function withTables(page: string): string {
  const program = tree();
  const tables = {
    commands: table(['command', 'what'], [...program.entries()].map(rowOfCommand)),
    options: table(['option', 'of', 'meaning'], rowsOfOptions(program)),
    aliases: table(
      ['typed', 'is'],
      [
        ...ALIASES.map(({ words, path }) => [code(`drover ${words.join(' ')}`), code(`drover ${path}`)]),
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

function rowOfCommand([path, command]: [string, Command]): string[] {
  const options = command.options.map(({ long, flags }) => {
    const value = / <.*$/.exec(flags)?.[0] ?? '';
    return `[${long}${value}]`;
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
  return [...commands].flatMap(([path, command]) =>
    command.options.map(({ flags, description }) => [code(flags), code(path), description]),
  );
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
