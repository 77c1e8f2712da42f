/**
 * Runs lines of the one command tree for `POST /commands/execute`, `/console` and the node's own terminal: bounded
 * in output and time, each an audit line. Lines that run at once do not know of each other.
 */
import type { Command } from 'commander';
import type { CommandRunner, CommandSession } from '../api/http/command-runner.js';
import { withDeadline } from '../loop/deadline.js';
import { DroverError } from '../model/errors.js';
import { subjectOfCommand, subjectOfUnknown } from './audit-subject.js';
import { completionsOf } from './completion.js';
import type { CommandDependencies } from './context.js';
import { describeFailure, isHelp } from './failure.js';
import { CommandOutput } from './output.js';
import { splitLine } from './split-line.js';
import { buildTree } from './tree.js';

/** Under the 60 s that a request may take, so that its answer still says this. */
const MAX_MS = 55_000;
/** A line longer than this is a mistake or worse. */
const MAX_LINE_CHARS = 64 * 1024;

export class Commands implements CommandRunner {
  readonly #dependencies: CommandDependencies;

  constructor(dependencies: CommandDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Runs one line; never throws. What goes wrong is one line `error: ...`, or `{"error"}` with `-o json`. Output ends
   * at 4 MiB and the wait at 55 s; what the command had begun by then goes on unseen.
   */
  async run(line: string, session: CommandSession): Promise<{ readonly isOk: boolean }> {
    const isTooLong = line.length > MAX_LINE_CHARS;
    const words = isTooLong ? [] : splitLine(line);
    if (words.length === 0 && !isTooLong) return { isOk: true };
    const output = new CommandOutput((text) => session.write(text));
    const ran: Ran = { program: undefined, command: undefined };
    const isOk = await this.#perform(words, { session, output, ran });
    output.close();
    this.#record(session, subjectOf(words, ran), isOk);
    return { isOk };
  }

  /** Candidates for the last word of a line that is being typed, and that word. */
  complete(line: string): [string[], string] {
    const output = new CommandOutput(() => undefined);
    const { signal } = new AbortController();
    const program = buildTree({ dependencies: this.#dependencies, output, signal, columns: undefined });
    return completionsOf(program, this.#dependencies, line);
  }

  async #perform(words: readonly string[], { session, output, ran }: Run): Promise<boolean> {
    const { logger, clock } = this.#dependencies;
    try {
      if (words.length === 0) throw new DroverError('DRV_COMMAND_INVALID', 'the line is longer than 64 KiB');
      const limit = { limitMs: MAX_MS, clock, signal: session.signal, expired };
      await withDeadline(limit, async (signal) => {
        const columns = session.columns;
        const program = buildTree({ dependencies: this.#dependencies, output, signal, columns });
        ran.program = program;
        program.hook('preAction', (_program, command) => {
          ran.command = command;
        });
        await program.parseAsync([...words], { from: 'user' });
      });
      return true;
    } catch (error) {
      if (isHelp(error)) return true;
      // Nobody reads any more.
      if (session.signal.aborted) return false;
      const message = describeFailure(error, logger);
      if (asksForJson(words)) output.printJson({ error: message });
      else if (message !== '') output.print(`error: ${message}`);
      return false;
    }
  }

  #record({ actor, address }: CommandSession, subject: string, isOk: boolean): void {
    const result = isOk ? 'ok' : 'failed';
    this.#dependencies.audit.record({ key: actor, action: 'command', subject, address, result });
  }
}

/** How far a line got. */
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

/** True also when the line as a whole is wrong: a program that asked for JSON reads nothing else. */
function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return /(?:^| )(?:-o ?|--output[= ])json(?: |$)/.test(words.slice(0, end < 0 ? undefined : end).join(' '));
}
