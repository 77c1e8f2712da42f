/** `apply`, `diff`, `plan`, `validate` and `delete -f`: configurations from files. `file-runs.ts` implements them. */
import type { Command } from 'commander';
import { DroverError } from '../../model/errors.js';
import { quoteText } from '../../model/words.js';
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
}

const FILES = '-f, --filename <files...>';
const PRUNE = '--prune';
const DETAILED_EXITCODE = '--detailed-exitcode';
const EXITCODE = 'end with exit code 2 when there are changes';
const SHOW_VALUES = '--show-values';
const VALUES = 'show values of environmentVariables and properties too: they may be secrets';
const WHERE = 'files of configurations, directories of them, or - for standard input';

export function addApply(program: Command, host: ClientHost): void {
  const command = program
    .command('apply')
    .description('make configurations what files say; deletes nothing without --prune')
    .requiredOption(FILES, WHERE)
    .option('--dry-run', 'only say what would be done')
    .option(PRUNE, 'delete all other configurations too; instances stay, unless their onDelete is "stop"')
    .option('--fingerprint <fingerprint>', 'only if what "plan" said is still what would happen')
    .option(SHOW_VALUES, VALUES);
  host.addOutput(command);
  host.addTarget(command);
  host.addYes(command);
  command.action(async () => (await runs()).apply(host, command.optsWithGlobals<FileOptions>()));
}

export function addDiff(program: Command, host: ClientHost): void {
  const command = program
    .command('diff')
    .description('what "apply" would change; prints nothing where nothing would')
    .requiredOption(FILES, WHERE)
    .option(DETAILED_EXITCODE, EXITCODE)
    .option(SHOW_VALUES, VALUES);
  host.addOutput(command);
  host.addTarget(command);
  command.action(async () => (await runs()).diff(host, command.optsWithGlobals<FileOptions>()));
}

export function addPlan(program: Command, host: ClientHost): void {
  const command = program
    .command('plan')
    .description('what "apply" would change, and what becomes of the instances')
    .requiredOption(FILES, WHERE)
    .option(PRUNE, 'as for "apply --prune": all other configurations go')
    .option(DETAILED_EXITCODE, EXITCODE)
    .option(SHOW_VALUES, VALUES);
  host.addOutput(command, ['table', 'markdown', 'json', 'yaml']);
  host.addTarget(command);
  command.action(async () => (await runs()).plan(host, command.optsWithGlobals<FileOptions>()));
}

export function addValidate(program: Command, host: ClientHost): void {
  const command = program
    .command('validate')
    .description('check files of configurations as a master does, here, without one')
    .requiredOption(FILES, WHERE);
  host.addOutput(command, ['table', 'json', 'yaml']);
  command.action(async () => (await runs()).validate(host, command.optsWithGlobals<FileOptions>()));
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
  host.addOutput(command);
  host.addTarget(command);
  host.addYes(command);
  command.action(async () => {
    const { filename, ...options } = command.optsWithGlobals<Partial<FileOptions> & ClientOptions>();
    const [word] = command.args;
    if (word !== undefined) {
      const kinds = command.commands.map((known) => known.name()).join(', ');
      const kind = `there is no kind ${quoteText(word)} to delete: there are ${kinds}`;
      throw new DroverError('DRV_COMMAND_INVALID', kind);
    }
    if (filename === undefined)
      throw new DroverError('DRV_COMMAND_INVALID', 'name what to delete: -f FILE, or a kind and a name');
    await (await runs()).remove(host, { ...options, filename });
  });
}

function runs() {
  return import('./file-runs.js');
}
