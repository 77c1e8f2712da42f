/**
 * What every client command uses: the common options, the chosen master, the confirmation question, and stdout.
 * Building it loads only declarations.
 */
import { type Command, Option } from 'commander';
import type { Shown } from '../../command-tree/commands.js';
import { failedError, usageError } from '../../command-tree/runs/client-error.js';
import type { Question } from '../../command-tree/selection/act.js';
import type { Screen } from '../../command-tree/table.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import type { ApiClient } from '../api-client.js';
import type { ApiConnection } from '../connection/connection.js';
import type { TargetOptions } from '../contexts/choose-target.js';
import type { Terminal } from '../contexts/terminal.js';
import type { LiveOutput } from '../live/live-output.js';
import { COLOR_WHEN, type ColorWhen, FORMATS, type Format, screenOf, textOf, write } from '../print.js';

export interface ClientSurroundings {
  /** Connects to the chosen master. Called once a command is known to be well-formed. Throws a ClientError. */
  connect(options: TargetOptions): Promise<ApiConnection>;
  /** Returns the terminal for questions to a person. */
  terminal(): Promise<Terminal>;
  /** Returns all of standard input. */
  readInput(): Promise<string>;
  readonly environment: NodeJS.ProcessEnv;
  readonly stdout: NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>;
}

/** The options that all client commands share. */
export interface ClientOptions extends TargetOptions {
  readonly output: Format;
  readonly yes?: boolean;
}

export class ClientHost {
  readonly surroundings: ClientSurroundings;
  /** That of `--color`, once the command line is read. */
  color: ColorWhen = 'auto';

  constructor(surroundings: ClientSurroundings) {
    this.surroundings = surroundings;
  }

  /** Adds the option `--output`. */
  addOutput(command: Command, formats: readonly Format[] = FORMATS): void {
    const about = formats === FORMATS ? 'wide has more columns, name only names' : 'how it is printed';
    command.addOption(
      new Option('-o, --output <format>', about).choices(formats).default(formats[0] ?? 'table'),
    );
  }

  /** Adds the options of a command that prints what a master says. */
  addShown(command: Command, formats?: readonly Format[]): Command {
    this.addOutput(command, formats);
    return this.addTarget(command);
  }

  /** Adds the options that choose the master, and `--color`. */
  addTarget(command: Command): Command {
    return command
      .option('--context <name>', 'the master to talk to, by its name in "drover context list"')
      .option('--root <directory>', 'the master to talk to, by its directory on this machine')
      .addOption(
        new Option('--color <when>', 'default: on a terminal, unless NO_COLOR is set').choices(COLOR_WHEN),
      );
  }

  /** Adds `--yes`, which answers the question of `confirm`. */
  addYes(command: Command): void {
    command.option(
      '-y, --yes',
      'do not ask before something is destroyed, or more is done than one thing was named for',
    );
  }

  /** Prepares calls to the master; connects at the first call. Throws a ClientError when no master is chosen. */
  async open({ context, root }: TargetOptions): Promise<ApiClient> {
    const { ApiClient } = await import('../api-client.js');
    return new ApiClient(await this.surroundings.connect({ context, root }));
  }

  /** Asks the person, unless `--yes` was given. Throws a ClientError for any answer but yes. */
  async confirm(
    { what, list }: Question,
    api: ApiClient,
    { yes }: Pick<ClientOptions, 'yes'>,
  ): Promise<void> {
    if (yes === true) return;
    if (list.length > 0) list.forEach(await this.sayer());
    const terminal = await this.surroundings.terminal();
    if (!terminal.isInteractive) throw usageError(`${what}: there is no terminal to ask on, so give --yes`);
    // Name the cluster in the question: people easily type into the wrong terminal.
    const { clusterName } = await api.get<{ readonly clusterName: string }>('/ping');
    const { name, url } = api.connection;
    const answer = await terminal.ask(`Cluster ${clusterName} (${name}, ${url}): ${what}. Go on? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw failedError('nothing was done');
  }

  /** Returns a function that prints a plain-text line for a person on stderr. */
  async sayer(): Promise<(line: string) => void> {
    const { say } = await this.surroundings.terminal();
    return (line) => say(toPlainText(line));
  }

  /** Prints a result. `now`: the master's clock in unix milliseconds, to compute ages. */
  async print(shown: Shown, format: Format, now: number): Promise<void> {
    await write(this.surroundings.stdout, await textOf(shown, format, { ...this.screen, now }));
  }

  get screen(): Screen {
    const { stdout, environment } = this.surroundings;
    return screenOf(stdout, this.color, environment);
  }

  /** Returns the output for long-running commands. */
  async liveOutput(): Promise<LiveOutput> {
    const { liveOutput } = await import('../live/live-output.js');
    const { say } = await this.surroundings.terminal();
    return liveOutput(this.surroundings.stdout, say, this.screen.isColoured === true);
  }

  /** Prints a line for people on stdout immediately. Prints nothing in formats for programs. */
  async say(text: string, format: Format): Promise<void> {
    if (format === 'table' || format === 'wide') await write(this.surroundings.stdout, `${text}\n`);
  }
}
