/**
 * Declares the commands that only the client has, in the order of the help. The code of a command is loaded when it
 * runs.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { invalid, type Said } from '../../command-tree/command.js';
import { GROUPS } from '../../command-tree/commands.js';
import {
  declareLogParts,
  type LogPartOptions,
  logPartOf,
  logPoint,
} from '../../command-tree/groups/instance-logs.js';
import { lengthOfTime, wholeNumber } from '../../command-tree/parsers.js';
import { plainLines } from '../../command-tree/printed-text.js';
import { kindOf, pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, usageError } from '../../command-tree/runs/client-error.js';
import type { LogPoint } from '../../logs/log-batch.js';
import { DEFAULT_LOG_LINES, MOST_EXIT_LINES } from '../../model/plain/command-limits.js';
import { LINE_WITH_END } from '../../model/plain/line-end.js';
import { SHELLS, type Shell, scriptOf } from '../completion/scripts.js';
import type { TargetOptions } from '../contexts/choose-target.js';
import { COMMIT_GOALS, type CommitGoal, GOALS, type Goal, KINDS } from '../live/states.js';
import { write } from '../print.js';
import type { ClientHost, ClientOptions } from './client-host.js';
import { addDelete, addFileCommands, addRender } from './file-commands.js';

/** A timer cannot wait longer than 24.8 days. */
const MOST_WAIT_MS = 24 * 24 * 3_600_000;

export function addOwnCommands(program: Command, host: ClientHost): void {
  addFileCommands(program, host);
  addRender(program, host);
  addDelete(program, host);
  addEdit(program, host);
  addLogs(program, host);
  addAttach(program, host);
  addWait(program, host);
  addRun(program, host);
  addRolloutWatch(program, host);
  addSecretSet(program, host);
  addEvents(program, host);
  addExits(program, host);
  addTop(program, host);
  addCopy(program, host);
  addUi(program, host);
  addCompletion(program, host);
}

function addEdit(program: Command, host: ClientHost): void {
  const command = program
    .command('edit')
    .usage('[options] [config] <name>')
    .description(
      'change a configuration in your editor ($VISUAL, $EDITOR, vi); changes of others are not overwritten',
    )
    .argument('<name...>');
  host.addShown(command).action(async (words: readonly string[]) => {
    const hasKind = words.length === 2 && /^config(?:uration)?s?$/.test(words[0] ?? '');
    const [name = '', ...more] = hasKind ? words.slice(1) : words;
    if (more.length > 0) throw invalid('name one configuration to edit');
    const options = command.optsWithGlobals<ClientOptions>();
    const [{ editConfiguration }, { editorOf }] = await Promise.all([
      import('../configurations/edit.js'),
      import('../configurations/editor.js'),
    ]);
    const { environment } = host.surroundings;
    const openEditor = editorOf(environment);
    const directory = environment.TMPDIR || tmpdir();
    const api = await host.open(options);
    const say = await host.sayer();
    const edited = await editConfiguration({ api, name, openEditor, directory, say });
    const shown = { json: () => edited, text: () => `${name} ${edited.result}`, names: () => [name] };
    await host.print(shown, options.output, api.now);
  });
}

type LogsOptions = TargetOptions &
  LogPartOptions & { readonly follow?: true; readonly tail?: number; readonly lines?: number };

function addLogs(program: Command, host: ClientHost): void {
  const command = program
    .command('logs <id|configuration>')
    .description('the log of an instance, or of all instances of a configuration')
    .option('-f, --follow', 'go on with what is written, until the instance is removed or stopped')
    .option(
      '-n, --tail <count>',
      `how many of the last lines, or all; default ${DEFAULT_LOG_LINES}, of each of several 10, or all with --since, --until or --previous`,
      lineCount,
    )
    .addOption(new Option('--lines <count>', 'as --tail').argParser(lineCount).hideHelp());
  declareLogParts(command);
  host.addTarget(command).action(async (name: string, options: LogsOptions) => {
    const { follow = false, until, previous } = options;
    if (follow && until !== undefined)
      throw usageError('--until ends the log, and --follow goes on: give one of them');
    if (follow && previous === true)
      throw usageError('--previous is a run that has ended, and --follow goes on: give one of them');
    const { part, isAll } = logPartOf(options);
    const tail = options.tail ?? options.lines ?? (isAll ? Number.POSITIVE_INFINITY : undefined);
    const { followLogs, printLogs } = await import('../live/logs.js');
    const api = await host.open(options);
    const show = follow ? followLogs : printLogs;
    await show(api, name, { ...part, tail }, await host.liveOutput());
  });
}

function lineCount(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number, or all.');
}

function addAttach(program: Command, host: ClientHost): void {
  const command = program
    .command('attach <id>')
    .description(
      'the terminal of an instance in this one; Ctrl-P Ctrl-Q leaves it, and the instance goes on',
    );
  host.addTarget(command).action(async (id: string, options: TargetOptions) => {
    const [{ attach }, { processRawTerminal }] = await Promise.all([
      import('../live/attach.js'),
      import('../live/raw-terminal.js'),
    ]);
    const terminal = processRawTerminal();
    if (terminal === undefined)
      throw usageError(
        'attach needs a terminal: "drover exec" writes a line to an instance, "drover logs -f" follows its output',
      );
    const { connection } = await host.open(options);
    const { say } = await host.liveOutput();
    say(await attach(connection, id, terminal));
  });
}

type WaitOptions = TargetOptions & { readonly for?: Goal | CommitGoal; readonly timeout: number };

function addWait(program: Command, host: ClientHost): void {
  const kind = new Argument('<kind>', 'what they are; left out: a configuration, or an instance');
  // The parser takes any word, because a bare name may stand here; completion offers the kinds.
  kind.argChoices = [...KINDS, 'commit'];
  const command = program
    .command('wait')
    .description(
      'wait until instances, configurations, nodes, rollouts or commits are as wanted; also for what is not there yet',
    )
    .addArgument(kind)
    .argument('[name...]')
    .addOption(
      new Option(
        '--for <state>',
        'minimum: of a configuration; complete, ended: of a rollout; in-force, rolled-out: of a commit; default online, or in-force',
      ).choices([...GOALS, ...COMMIT_GOALS]),
    )
    .option(
      '--timeout <time>',
      'then it says why, and ends with exit code 6; default 60s',
      lengthOfTime(MOST_WAIT_MS, 'It must be a length of time such as 30s, 10m or 2h, 24d at most.'),
      60_000,
    );
  host.addTarget(command).action(async (word: string, rest: readonly string[], options: WaitOptions) => {
    const { timeout: timeoutMs, for: goal } = options;
    const typed = [...KINDS, 'commit' as const].find((one) => one === word);
    const names = typed === undefined ? [word, ...rest] : rest;
    if (names.length === 0) throw invalid(`name the ${word} to wait for`);
    if (typed === undefined && rest.length > 0)
      throw usageError(`${word} is no kind to wait for: there are ${[...KINDS, 'commit'].join(', ')}`);
    if (typed === 'commit') {
      const { waitForCommits } = await import('../live/wait-commit.js');
      const wanted = COMMIT_GOALS.find((one) => one === (goal ?? 'in-force'));
      if (wanted === undefined)
        throw usageError(`--for ${goal} is not for commit: there are ${COMMIT_GOALS.join(', ')}`);
      const question = { commits: names, goal: wanted, timeoutMs };
      return waitForCommits(await host.open(options), question, await host.liveOutput());
    }
    const { wait } = await import('../live/wait.js');
    const api = await host.open(options);
    // A name that is not there yet is taken as a configuration.
    const meant = typed ?? (await kindOf(api, word)) ?? 'config';
    const question = { kind: meant, names, goal: goal ?? 'online', timeoutMs };
    await wait(api, question, await host.liveOutput());
  });
}

type RunOptions = ClientOptions & { param: Readonly<Record<string, string>>; key?: string; wait?: true };

function addRun(program: Command, host: ClientHost): void {
  const command = program
    .command('run <job>')
    .description('start a run of a job; with --wait print its log, and end with its exit code')
    .option('-p, --param <name=value>', 'a value for the run; may be given again', withParameter, {})
    .option('--key <text>', 'a second command with this key starts no second run; default: a new key')
    .option('--wait', 'until the run has ended');
  host.addShown(command).action(async (name: string, options: RunOptions) => {
    const { param: parameters, key = randomUUID(), wait, output } = options;
    const { startRun, followRun } = await import('../live/run-job.js');
    const api = await host.open(options);
    const run = await startRun(api, name, { parameters, key });
    if (wait) return followRun(api, run.id, await host.liveOutput());
    const shown = { json: () => run, text: () => `run ${run.id} of ${name}`, names: () => [run.id] };
    await host.print(shown, output, api.now);
  });
}

function withParameter(text: string, before: Readonly<Record<string, string>>) {
  const end = text.indexOf('=');
  if (end < 1) throw new InvalidArgumentError('It must be name=value.');
  return { ...before, [text.slice(0, end)]: text.slice(end + 1) };
}

/** Adds a command to the group `rollout`, which the console has too. */
function addRolloutWatch(program: Command, host: ClientHost): void {
  const command = groupOf(program, 'rollout')
    .command('watch <name>')
    .description('say each step of a rollout until it ends; exit code 1 unless it is complete then');
  host.addShown(command).action(async (name: string, options: ClientOptions) => {
    const { watchRollout } = await import('../live/rollout-watch.js');
    const isJson = options.output === 'json';
    const screen = host.screen.columns === undefined ? undefined : host.screen;
    await watchRollout(await host.open(options), name, { isJson, screen }, await host.liveOutput());
  });
}

/** The group of this name, where the console may have other commands. */
function groupOf(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  return known ?? program.command(name).description(GROUPS[name] ?? '');
}

function addSecretSet(program: Command, host: ClientHost): void {
  const command = groupOf(program, 'secret')
    .command('set <name> [command...]')
    .description(
      'make or change a secret: its value is read from standard input, or had on the nodes that use it',
    )
    .option('--node-file <path>', 'a file with the value, on the nodes')
    .option('--node-command', 'nodes run the command behind -- before a start: it prints the value');
  type Options = ClientOptions & { nodeFile?: string; nodeCommand?: true };
  host.addShown(command).action(async (name: string, words: readonly string[], options: Options) => {
    const { nodeFile, nodeCommand = false, output } = options;
    if (words.length > 0 !== nodeCommand || (nodeCommand && nodeFile !== undefined))
      throw usageError(
        'a value is no argument: it is read from standard input. A command of the nodes: secret set NAME --node-command -- WORDS',
      );
    const ofNode = nodeFile === undefined ? undefined : { file: nodeFile };
    const given = nodeCommand ? { command: words } : ofNode;
    const read = async () => (await host.surroundings.readInput()).replace(LINE_WITH_END, '$1');
    const source = given ?? { value: await read() };
    const api = await host.open(options);
    const set = await api.send<Said<'name'>>('PUT', `/secrets/${pathPart(name)}`, source);
    await host.print({ json: () => set, text: () => set.message, names: () => [name] }, output, api.now);
  });
}

function addEvents(program: Command, host: ClientHost): void {
  const command = program
    .command('events [configuration]')
    .description('what happened lately, newest last: starts, crashes, moves, rollouts, nodes, who did what')
    .option('-f, --follow', 'go on with what happens')
    .option('--node <id>', 'only of this node')
    .option('--since <when>', 'only from a time (2026-01-31T12:00:00Z) or an age (10m) on', logPoint);
  host
    .addShown(command)
    .action(async (configuration: string | undefined, options: ClientOptions & EventsOptions) => {
      const { follow = false, node } = options;
      const { printEvents } = await import('../live/events.js');
      const api = await host.open(options);
      const since = sinceOf(options.since, api.now);
      const isJson = options.output === 'json';
      const { columns } = host.screen;
      const wanted = { configuration, node, since, isFollowed: follow, isJson, columns };
      await printEvents(api, wanted, await host.liveOutput());
    });
}

type EventsOptions = { readonly follow?: true; readonly node?: string; readonly since?: LogPoint };

/** `--since` in Unix milliseconds. Throws the usage error for the number of a line. */
function sinceOf(since: LogPoint | undefined, now: number): number | undefined {
  if (since !== undefined && 'line' in since)
    throw usageError('--since takes a time or an age: this list has no lines');
  return since && ('at' in since ? since.at : now - since.ago);
}

function addExits(program: Command, host: ClientHost): void {
  const command = program
    .command('exits [configuration]')
    .description('how instances ended that nobody asked to end, newest last, each with its last lines')
    .option('--since <when>', 'only from a time (2026-01-31T12:00:00Z) or an age (10m) on', logPoint)
    .option(
      '-n, --lines <count>',
      'how many last lines of each; default 3',
      wholeNumber(MOST_EXIT_LINES, 0),
      3,
    );
  host.addShown(command);
  type Options = ClientOptions & Pick<EventsOptions, 'since'> & { readonly lines: number };
  command.action(async (configuration: string | undefined, options: Options) => {
    const { printExits } = await import('../live/events.js');
    const api = await host.open(options);
    const wanted = { configuration, since: sinceOf(options.since, api.now), lines: options.lines };
    const form = { isJson: options.output === 'json', columns: host.screen.columns };
    await printExits(api, wanted, form, await host.liveOutput());
  });
}

function addTop(program: Command, host: ClientHost): void {
  const command = program
    .command('top [configuration]')
    .description('what instances use of CPU and memory; live on a terminal, else once')
    .addOption(new Option('--sort <by>', 'what the most is of').choices(['cpu', 'memory']).default('cpu'))
    .option('--once', 'also on a terminal')
    .option(
      '--since <age>',
      'what they used in the time from then on, at most 1d: 30m, 6h',
      lengthOfTime(86_400_000, 'It must be an age of at most a day, such as 30m, 6h or 1d.'),
    );
  host.addShown(command);
  type Options = ClientOptions & { sort: 'cpu' | 'memory'; once?: true; since?: number };
  command.action(async (configuration: string | undefined, options: Options) => {
    const { pastTop, top } = await import('../live/top.js');
    const { output: format, once = false, sort, since } = options;
    const [api, output] = [await host.open(options), await host.liveOutput()];
    const wanted = { configuration, sort, format };
    if (since !== undefined) return pastTop(api, { ...wanted, since, columns: host.screen.columns }, output);
    const { stdout } = host.surroundings;
    const isLive = stdout.isTTY === true && !once && (format === 'table' || format === 'wide');
    await top(api, { ...wanted, terminal: isLive ? stdout : undefined }, output);
  });
}

function addCopy(program: Command, host: ClientHost): void {
  const command = program
    .command('cp <from> <to>')
    .description(
      'copy files into a template or out of it: group/name:PATH is in a template, - is stdin or stdout',
    );
  host.addShown(command, ['table', 'json', 'yaml']).action(async (from: string, to: string) => {
    const options = command.optsWithGlobals<ClientOptions>();
    const { copyOf } = await import('../copy/copy-places.js');
    const wanted = copyOf(from, to);
    const api = await host.open(options);
    const { copy, interruptible } = await import('../copy/copy.js');
    const shown = await interruptible((signal) => copy(api, wanted, process, signal));
    if (shown !== undefined) await host.print(shown, options.output, api.now);
  });
}

function addUi(program: Command, host: ClientHost): void {
  const command = program
    .command('ui')
    .description('open the dashboard in a browser, signed in; without a display it prints the link')
    .option('--print', 'print the link in any case');
  host.addTarget(command).action(async (options: TargetOptions & { print?: true }) => {
    const [{ makeSignInCode }, { openBrowser }] = await Promise.all([
      import('../ui/sign-in-code.js'),
      import('../ui/open-browser.js'),
    ]);
    const api = await host.open(options);
    const page = `${api.connection.url}/ui/`;
    const link = `${page}#code=${await makeSignInCode(api)}`;
    const { environment, stdout } = host.surroundings;
    const say = await host.sayer();
    if (options.print !== true && (await openBrowser(link, environment))) {
      say(`a browser opens ${page}; if none does: drover ui --print`);
      return;
    }
    say('This link signs you in. It works once, for a minute:');
    await write(stdout, plainLines(link));
  });
}

function addCompletion(program: Command, host: ClientHost): void {
  const { stdout } = host.surroundings;
  program
    .command('completion')
    .description('print a script that completes commands and names: source <(drover completion bash)')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action(async (shell: Shell) => {
      await write(stdout, scriptOf(shell));
    });
  program
    .command('__complete <line>', { hidden: true })
    .description('what can complete a line, for the scripts of "completion"')
    .helpOption(false)
    .action(async (line: string) => {
      const { completeLine } = await import('../completion/candidates.js');
      const found = await completeLine(program, host.surroundings.environment, line);
      await write(stdout, found.map(({ word, about }) => plainLines(`${word}\t${about}`)).join(''));
      // End the process now, so that a slow request to the master does not delay it.
      throw new ClientError(0, '');
    });
}
