/**
 * Runs lines of the command tree for `POST /commands/execute`, `/console` and the node's own terminal. Output and
 * time of a line are bounded, and each line has an audit entry. Lines that run at once share nothing.
 */
import type { Command } from 'commander';
import { type Access, KeyAccess } from '../access/access.js';
import type { CommandRunner, CommandSession, ListedCommand } from '../api/http/command-runner.js';
import { mayDestroy } from '../command-tree/commands.js';
import { endsOf } from '../command-tree/help/help-command.js';
import { pathOf, usageOf } from '../command-tree/help/usage.js';
import type { ExtensionRegistry } from '../extensions/registry.js';
import { withDeadline } from '../loop/deadline.js';
import { withoutLimits } from '../model/access/api-key.js';
import type { AuditTrail } from '../model/audit.js';
import { DroverError } from '../model/errors.js';
import type { Ambient } from '../telemetry/ambient.js';
import { subjectOfCommand, subjectOfUnknown } from './audit-subject.js';
import { completionsOf } from './completion.js';
import { codeOf, describeFailure, isHelp, PartFailed } from './failure.js';
import { CommandOutput } from './output.js';
import { type Ask, ownCalls } from './own-calls.js';
import { splitLine } from './split-line.js';
import { buildTree } from './tree.js';

/** Less than the 60 s of a request, so that its answer can still say that the time was over. */
const MAX_MS = 55_000;
/** The most characters of a line. A longer line is a mistake or an attack. */
const MAX_LINE_CHARS = 64 * 1024;
/** The name of the node's own terminal in the audit trail. No key can have it. */
const TERMINAL = 'terminal';

interface CommandDependencies extends Ambient {
  readonly ask: Ask;
  readonly extensions: Pick<ExtensionRegistry, 'commands'>;
  readonly audit: Pick<AuditTrail, 'record'>;
}

export class Commands implements CommandRunner {
  readonly #dependencies: CommandDependencies;
  /** The caller for lines typed at the node's own terminal. */
  readonly #terminal: Access;

  constructor(dependencies: CommandDependencies) {
    this.#dependencies = dependencies;
    const { clock } = dependencies;
    this.#terminal = new KeyAccess({ label: TERMINAL, keyHash: '', grant: withoutLimits('ALL'), clock });
  }

  /**
   * Runs one line. Never throws: an error is printed as one line `error: ...`, or as `{"error"}` with `-o json`. Output
   * is cut at 4 MiB, and the wait ends after 55 s. The work that the command has begun may go on after that.
   */
  async run(line: string | readonly string[], session: CommandSession): Promise<{ readonly isOk: boolean }> {
    const isTooLong = charsOf(line) > MAX_LINE_CHARS;
    const words = isTooLong ? [] : typeof line === 'string' ? splitLine(line) : line;
    if (words.length === 0 && !isTooLong) return { isOk: true };
    const output = new CommandOutput((text) => session.write(text));
    const ran: Ran = { program: undefined, command: undefined };
    const isOk = await this.#perform(words, { session, output, ran });
    output.close();
    this.#record(session, subjectOf(words, ran), isOk);
    return { isOk };
  }

  /** Completes a line. The answer has the form that node:readline wants. */
  complete(line: string): Promise<[string[], string]> {
    const { signal } = new AbortController();
    const caller = { access: this.#terminal, address: null, signal };
    return completionsOf(this.#silentTree(), ownCalls(this.#dependencies.ask, caller), line);
  }

  list(): ListedCommand[] {
    return [...endsOf(this.#silentTree())].map((command) => {
      const path = pathOf(command);
      return {
        path,
        usage: usageOf(command),
        about: command.description(),
        options: command.options.map(({ flags, description }) => ({ flags, about: description })),
        destroys: mayDestroy(path),
      };
    });
  }

  /** A tree for completion and for the list of commands: none of its commands is run. */
  #silentTree(): Command {
    const output = new CommandOutput(() => undefined);
    const { signal } = new AbortController();
    return this.#tree({ access: null, address: null, columns: undefined }, output, signal);
  }

  async #perform(words: readonly string[], { session, output, ran }: Run): Promise<boolean> {
    const { logger, clock } = this.#dependencies;
    try {
      if (words.length === 0) throw new DroverError('DRV_COMMAND_INVALID', 'the line is longer than 64 KiB');
      const limit = { limitMs: MAX_MS, clock, signal: session.signal, expired };
      await withDeadline(limit, async (signal) => {
        const program = this.#tree(session, output, signal);
        ran.program = program;
        program.hook('preAction', (_program, command) => {
          ran.command = command;
        });
        await program.parseAsync([...words], { from: 'user' });
      });
      return true;
    } catch (error) {
      if (isHelp(error)) return true;
      // Print no error: the caller has gone.
      if (session.signal.aborted) return false;
      if (error instanceof PartFailed && error.isTold) return false;
      const message = describeFailure(error, logger);
      if (asksForJson(words)) output.printJson({ error: message, code: codeOf(error) });
      else if (message !== '') output.print(`error: ${message}`);
      return false;
    }
  }

  #tree(
    { access, address, columns }: Pick<CommandSession, 'access' | 'address' | 'columns'>,
    output: CommandOutput,
    signal: AbortSignal,
  ): Command {
    const { ask } = this.#dependencies;
    const api = ownCalls(ask, { access: access ?? this.#terminal, address, signal });
    return buildTree({ ...this.#dependencies, api, output, signal, columns });
  }

  #record({ access, address }: CommandSession, subject: string, isOk: boolean): void {
    const result = isOk ? 'ok' : 'failed';
    const { name: key } = access ?? this.#terminal;
    this.#dependencies.audit.record({ key, action: 'command', subject, address, result });
  }
}

function charsOf(line: string | readonly string[]): number {
  return typeof line === 'string' ? line.length : line.reduce((sum, word) => sum + word.length + 1, 0);
}

/** The tree and the command of a line; undefined: the run did not get that far. */
interface Ran {
  program: Command | undefined;
  command: Command | undefined;
}

interface Run {
  readonly session: CommandSession;
  readonly output: CommandOutput;
  readonly ran: Ran;
}

function expired(): DroverError {
  const text = `not done after ${MAX_MS / 1000} s; what the command began may go on`;
  return new DroverError('DRV_COMMAND_INVALID', text);
}

function subjectOf(words: readonly string[], { program, command }: Ran): string {
  if (command !== undefined) return subjectOfCommand(command);
  const groups = program?.commands.filter(({ commands }) => commands.length > 0).map((group) => group.name());
  return subjectOfUnknown(words, new Set(groups));
}

/**
 * True when the line asks for JSON output, even if the line is faulty: a program that asked for JSON can read
 * nothing else.
 */
function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return /(?:^| )(?:-o ?|--output[= ])json(?: |$)/.test(words.slice(0, end < 0 ? undefined : end).join(' '));
}
