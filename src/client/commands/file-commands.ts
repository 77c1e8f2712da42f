/** `apply`, `diff`, `plan`, `validate` and `delete -f`: configurations from files. `file-runs.ts` implements them. */
import type { Command } from 'commander';
import { invalid } from '../../command-tree/command.js';
import { quoteText } from '../../model/words.js';
import type { RenderOptions } from '../configurations/render.js';
import type { Format } from '../print.js';
import type { ClientHost, ClientOptions } from './client-host.js';

/** The options of the file commands. Each command declares some of them. */
export interface FileOptions extends ClientOptions {
  readonly filename: readonly string[];
  readonly showValues?: true;
  readonly dryRun?: true;
  readonly prune?: true;
  readonly fingerprint?: string;
  readonly detailedExitcode?: true;
  readonly ignoreNotFound?: true;
  readonly strict?: true;
}

const FILES = '-f, --filename <files...>';
const WHERE = 'files of configurations, directories of them, or - for standard input';
const EXITCODE = ['--detailed-exitcode', 'end with exit code 2 when there are changes'] as const;
const STRICT = ['--strict', 'a field that is not known is an error, not a warning'] as const;
const SHOW_VALUES = [
  '--show-values',
  'show values of environmentVariables and properties that look like secrets too',
] as const;

interface FileCommand {
  readonly about: string;
  readonly options: readonly (readonly [flags: string, about: string])[];
  readonly formats?: readonly Format[];
}

const FILE_COMMANDS: Readonly<Record<'apply' | 'diff' | 'plan' | 'validate', FileCommand>> = {
  apply: {
    about:
      'make configurations what files say; deletes nothing without --prune; exit code 8 where one is held back',
    options: [
      ['--dry-run', 'only say what would be done'],
      ['--prune', 'delete all other configurations too; instances stay, unless their onDelete is "stop"'],
      ['--fingerprint <fingerprint>', 'only if what "plan" said is still what would happen'],
      STRICT,
      SHOW_VALUES,
    ],
  },
  diff: {
    about: 'what "apply" would change; prints nothing where nothing would',
    options: [EXITCODE, SHOW_VALUES],
  },
  plan: {
    about:
      'what "apply" would change, and what becomes of the instances; exit code 8 where a content is held back',
    options: [
      ['--prune', 'as for "apply --prune": all other configurations go'],
      EXITCODE,
      STRICT,
      SHOW_VALUES,
    ],
    formats: ['table', 'markdown', 'json', 'yaml'],
  },
  validate: {
    about: 'check files of configurations as a master does, here, without one',
    options: [STRICT],
    formats: ['table', 'json', 'yaml'],
  },
};

export function addFileCommands(program: Command, host: ClientHost): void {
  for (const name of ['apply', 'diff', 'plan', 'validate'] as const) {
    const { about, options, formats } = FILE_COMMANDS[name];
    const command = program.command(name).description(about);
    if (name === 'validate') command.argument('[files...]', `as -f: ${WHERE}`).option(FILES, WHERE);
    else command.requiredOption(FILES, WHERE);
    for (const [flags, meaning] of options) command.option(flags, meaning);
    host.addOutput(command, formats);
    if (name !== 'validate') host.addTarget(command);
    if (name === 'apply') host.addYes(command);
    command.action(async () => {
      const options = command.optsWithGlobals<FileOptions>();
      const filename = [...command.args, ...(options.filename ?? [])];
      if (filename.length === 0) throw invalid('name what to check: FILE..., or -f FILE');
      await (await runs())[name](host, { ...options, filename });
    });
  }
}

/** Adds `render`, which takes a name of the master instead of files, too. */
export function addRender(program: Command, host: ClientHost): void {
  const command = program
    .command('render')
    .description('print a configuration with all that it extends: of the master by its name, or of files')
    .argument('[name]')
    .option(FILES, WHERE);
  host.addShown(command, ['table', 'json', 'yaml']).action(async (name: string | undefined) => {
    const { render } = await import('../configurations/render.js');
    await render(host, name, command.optsWithGlobals<RenderOptions>());
  });
}

/** Adds the group `delete`, to which `aliases.ts` adds commands. */
export function addDelete(program: Command, host: ClientHost): void {
  const command = program
    .command('delete')
    .description('delete the configurations that files name (-f), or one thing by kind and name')
    .helpCommand('help', 'show this')
    .option(FILES, WHERE)
    .option('--ignore-not-found', 'what is not there is no failure')
    .allowExcessArguments();
  host.addShown(command);
  host.addYes(command);
  command.action(async () => {
    const { filename, ...options } = command.optsWithGlobals<Partial<FileOptions> & ClientOptions>();
    const [word] = command.args;
    if (word !== undefined) {
      const kinds = command.commands.map((known) => known.name()).join(', ');
      throw invalid(`there is no kind ${quoteText(word)} to delete: there are ${kinds}`);
    }
    if (filename === undefined) throw invalid('name what to delete: -f FILE, or a kind and a name');
    await (await runs()).remove(host, { ...options, filename });
  });
}

function runs() {
  return import('./file-runs.js');
}
