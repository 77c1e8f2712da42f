/** `drover context`: declares its commands, options and output. The code of a command is loaded when it runs. */

import { type Command, Option } from 'commander';
import { jsonText } from '../../command-tree/printed-text.js';
import { renderTable } from '../../command-tree/table.js';
import type { ClientSurroundings } from '../commands/client-host.js';
import { screenOf, screenText, write } from '../print.js';
import type { AddOptions } from './context-add.js';
import type { ListedContext } from './context-list.js';
import type { ContextReport } from './context-test.js';

/** A fingerprint, and its first 8 bytes, which tell contexts apart. `-o json` has all of it. */
const FINGERPRINT = /((?:[\da-f]{2}:?){8})(?::?[\da-f]{2})+/i;
const NOBODY = 'none: choose one with "drover context use NAME"';

export function addContextCommands(program: Command, surroundings: ClientSurroundings): void {
  const group = program
    .command('context')
    .description('name the masters that this user steers, and their keys');
  for (const add of [addAdd, addUse, addList, addRemove]) add(group, surroundings);
  addTest(group, surroundings, program.version() ?? '');
}

function addAdd(group: Command, surroundings: ClientSurroundings): void {
  group
    .command('add')
    .description('add a context; the first one becomes the current one')
    .argument('<name>', 'how you call it')
    .requiredOption('--url <address>', 'of the API, such as https://master.example:7000')
    .option('--key-file <file>', 'holds the key, for you alone (mode 600); - reads it from standard input')
    .option('--key-command <command>', 'prints the key, such as "pass show drover/prod"')
    .option('--ca <file>', 'PEM of the authorities that are trusted for this master')
    .option(
      '--fingerprint <sha256>',
      "of the master's certificate, or of its authority's: pins it, without a question",
    )
    .action(async (name: string, options: AddOptions) => {
      const { addContext } = await import('./context-add.js');
      const { environment, readInput, stdout } = surroundings;
      const terminal = await surroundings.terminal();
      const place = { environment, directory: process.cwd(), readInput, terminal };
      const { url, isCurrent } = await addContext(name, options, place);
      const more = isCurrent ? ', and is the current one' : '';
      await write(stdout, `context ${name} (${url}) was added${more}; try it: drover context test ${name}\n`);
    });
}

function addUse(group: Command, surroundings: ClientSurroundings): void {
  group
    .command('use')
    .description('make a context the current one')
    .argument('<name>')
    .action(async (name: string) => {
      const { useContext } = await import('./context-list.js');
      await useContext(await openFile(surroundings), name);
      await write(surroundings.stdout, `context ${name} is the current one\n`);
      const variable = ['DROVER_CONTEXT', 'DROVER_URL'].find(
        (one) => (surroundings.environment[one] ?? '') !== '',
      );
      if (variable !== undefined)
        (await surroundings.terminal()).say(
          `${variable} is set, and chooses in the place of it in this shell`,
        );
    });
}

function addList(group: Command, surroundings: ClientSurroundings): void {
  group
    .command('list')
    .description('all contexts; * marks the current one')
    .addOption(outputOption('table'))
    .action(async ({ output }: { output: string }) => {
      const { listContexts } = await import('./context-list.js');
      const contexts = await listContexts(await openFile(surroundings));
      await write(
        surroundings.stdout,
        output === 'json' ? jsonText(contexts) : tableOf(contexts, surroundings),
      );
    });
}

function addRemove(group: Command, surroundings: ClientSurroundings): void {
  group
    .command('remove')
    .description('forget a context; a key file stays')
    .argument('<name>')
    .action(async (name: string) => {
      const { removeContext } = await import('./context-list.js');
      const wasCurrent = await removeContext(await openFile(surroundings), name);
      await write(
        surroundings.stdout,
        `context ${name} was removed${wasCurrent ? `; the current one is ${NOBODY}` : ''}\n`,
      );
    });
}

function addTest(group: Command, surroundings: ClientSurroundings, version: string): void {
  group
    .command('test')
    .description('ask the master who it is, and what the key may do')
    .argument('[name]', 'default: the one that commands use here')
    .option('--root <directory>', 'of a master on this machine, in the place of a context')
    .addOption(outputOption('text'))
    .action(async (context: string | undefined, { output, root }: { output: string; root?: string }) => {
      const [{ chooseTarget }, { HttpConnection }, { testConnection }, { clearText, isInClear }] =
        await Promise.all([
          import('./choose-target.js'),
          import('../connection/http-connection.js'),
          import('./context-test.js'),
          import('../connection/master-url.js'),
        ]);
      const { say } = await surroundings.terminal();
      const target = await chooseTarget(
        { context, root },
        { environment: surroundings.environment, directory: process.cwd(), say },
      );
      // For DROVER_URL, `chooseTarget` has already printed this warning.
      if (isInClear(target.url) && target.kind !== 'environment') say(clearText(target.url));
      const report = await testConnection(new HttpConnection(target, { version }), version);
      await write(surroundings.stdout, output === 'json' ? jsonText(report) : await reportText(report));
    });
}

function outputOption(usual: 'table' | 'text'): Option {
  return new Option('-o, --output <format>', 'how it is printed').choices([usual, 'json']).default(usual);
}

async function openFile({ environment }: ClientSurroundings) {
  const { ContextFile } = await import('./context-file.js');
  return new ContextFile(environment);
}

function tableOf(contexts: readonly ListedContext[], { stdout, environment }: ClientSurroundings): string {
  if (contexts.length === 0) return 'no contexts; add one: drover context add NAME --url https://...\n';
  const rows = contexts.map(({ name, isCurrent, url, key, trust, problem }) => [
    isCurrent ? '*' : '',
    name,
    url,
    key,
    problem ?? trust?.replace(FINGERPRINT, '$1…') ?? 'no TLS',
  ]);
  const screen = screenOf(stdout, 'auto', environment);
  return screenText(renderTable(['', 'NAME', 'URL', 'KEY', 'TRUST'], rows, screen), screen);
}

async function reportText(report: ContextReport): Promise<string> {
  const { instantText } = await import('../../model/words.js');
  const { name, url, clusterName, nodeId, version, key, scope, configurations, expiresAt, skew } = report;
  const lines = [
    `${name} (${url}): cluster ${clusterName}, node ${nodeId}${version === null ? '' : `, Drover ${version}`}`,
    ...(scope === null
      ? []
      : [
          `key ${key}: scope ${scope}, ${configurations === null ? 'all configurations' : `configurations ${configurations.join(',')}`}, ` +
            (expiresAt === null ? 'never ends' : `ends ${instantText(expiresAt)}`),
        ]),
    ...(skew === null ? [] : [skew]),
  ];
  return `${lines.join('\n')}\n`;
}
