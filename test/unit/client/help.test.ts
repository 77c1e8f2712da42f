/** The help of the client: one screen for all, and short help with an example for each command. */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../../src/cli/program.js';
import { HELP_SCREEN } from '../../../src/client/help-screen.js';

const program = buildProgram('0.1.0');

function* endsOf(command: Command): Generator<Command> {
  if (command.commands.length === 0) yield command;
  for (const child of command.createHelp().visibleCommands(command)) yield* endsOf(child);
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

describe('the help of the program', () => {
  it('is one screen of 24 to 40 lines, 80 columns wide', () => {
    const lines = HELP_SCREEN.trimEnd().split('\n');
    expect(helpOf(program)).toBe(HELP_SCREEN);
    expect(lines.length).toBeGreaterThanOrEqual(24);
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => /^ {2}drover /.test(line))).toHaveLength(4);
  });

  it('names every command', () => {
    const named = new Set(HELP_SCREEN.match(/[a-z]+/g));
    const names = program
      .createHelp()
      .visibleCommands(program)
      .map((command) => command.name());
    expect(names.filter((name) => !named.has(name))).toEqual([]);
  });
});

describe('the help of a command', () => {
  it.each(
    [...endsOf(program)]
      .filter((one) => one.name() !== 'help')
      .map((one) => [helpOf(one).split('\n')[0], one]),
  )('has an example, and one line for the options of all: %s', (_usage, command) => {
    const help = helpOf(command as Command);
    expect(help).toMatch(/^Example: drover [a-z]/m);
    const isForMasters = (command as Command).options.some(({ long }) => long === '--context');
    expect(help.match(/--context/g) ?? []).toHaveLength(isForMasters ? 1 : 0);
  });
});
