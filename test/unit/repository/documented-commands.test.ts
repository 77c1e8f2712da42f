/** Holds that the pages name every command of the executable and of the console with its options, and no others. */

import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildProgram } from '../../../src/cli/program.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { fencesOf, inlineCodeOf, sectionOf } from '../../support/repository/markdown.js';
import { firstCells, inPages, read } from '../../support/repository/pages.js';

describe('the executable', () => {
  const program = buildProgram('0.0.0');

  /** What is wrong with a line that begins with `drover`; undefined: nothing. */
  function faultOf(line: string): string | undefined {
    // Behind -- stand words of another program.
    const [, ...words] = line.replace(/ -- .*$/, '').split(/\s+/);
    // Options that may stand before the command have a value.
    while (program.options.some(({ long, required }) => required && long === words[0])) words.splice(0, 2);
    if (words[0]?.startsWith('-')) return ['--help', '--version'].includes(words[0]) ? undefined : line;
    let command: Command | undefined = program;
    const end = words.findIndex((word) => /^\[?-/.test(word));
    const names = end < 0 ? words : words.slice(0, end);
    for (let depth = 0; command !== undefined && command.commands.length > 0 && depth < names.length; depth++)
      command = command.commands.find((known) =>
        [known.name(), ...known.aliases()].includes(words[depth] ?? ''),
      );
    const options = [...(command?.options.map(({ long }) => long) ?? []), '--help'];
    const isRight = words.filter((text) => /^--./.test(text)).every((text) => options.includes(text));
    return command !== undefined && isRight ? undefined : line;
  }

  const lines = (text: string): string[] =>
    [...fencesOf(text).flatMap((fence) => fence.lines), ...inlineCodeOf(text)]
      .map((line) => line.replace(/^\$ /, '').replace(/ +#.*$/, ''))
      .filter((line) => /^drover [a-z-]/.test(line));

  it('has the commands and options that pages name', () => {
    expect(lines(read('docs/cluster.md')).length).toBeGreaterThan(3);
    expect(inPages((text) => lines(text).flatMap((line) => faultOf(line) ?? []))).toEqual([]);
    expect(faultOf('drover fly')).toBe('drover fly');
    expect(faultOf('drover --context prod fly')).toBe('drover --context prod fly');
    expect(faultOf('drover start --high')).toBe('drover start --high');
    expect(faultOf('drover context fly')).toBe('drover context fly');
    expect(faultOf('drover context add prod --high')).toBe('drover context add prod --high');
  });

  it.each([
    ['context', 'docs/client.md', '## Contexts'],
    ['import', 'docs/import.md', '## Commands'],
  ])('has the commands of %s that %s explains, with their options', (group, page, section) => {
    const said = firstCells(sectionOf(read(page), section)).map((cell) => cell.replace(/ [<[].*$/, ''));
    const children = program.commands.find((command) => command.name() === group)?.commands ?? [];
    const commands = children.map((command) => `drover ${group} ${command.name()}`);
    const options = children.flatMap((command) => command.options.map(({ long }) => long ?? ''));
    expect(said.toSorted()).toEqual([...new Set([...commands, ...options])].toSorted());
  });

  it('is explained whole in docs/commands.md', () => {
    const cells = firstCells(sectionOf(read('docs/commands.md'), '## The program'));
    const said = cells.map((cell) => cell.replace(/ <.*$/, ''));
    // All others are those of the tables that are made from the tree.
    const own = program.commands.filter((command) =>
      ['start', 'token', 'join', 'import', 'context'].includes(command.name()),
    );
    const commands = own.map((command) => `drover ${command.name()}`);
    const options = own.flatMap((command) => command.options.map(({ long }) => long ?? ''));
    expect([...commands, ...options].filter((name) => !said.includes(name))).toEqual([]);
  });
});

describe('the commands of the console', () => {
  let world: CommandWorld;
  /** `cluster drain` -> its help. */
  const helps = new Map<string, string>();

  beforeAll(async () => {
    world = await CommandWorld.create();
    const listed = z.array(z.object({ usage: z.string() })).parse(await world.json('help'));
    for (const { usage } of listed) {
      const path = usage.replace(/ [<[].*$/, '');
      helps.set(path, await world.run(`${path} --help`));
    }
  });
  afterAll(() => world.stop());

  const pathOf = (line: string): string | undefined =>
    [...helps.keys()].find((path) => line === path || line.startsWith(`${path} `));

  function faultOf(line: string): string | undefined {
    const help = helps.get(pathOf(line) ?? '');
    const options = line.match(/(?<= |\[)--[a-z-]+/g) ?? [];
    return help !== undefined && options.every((option) => help.includes(option)) ? undefined : line;
  }

  /** What is typed at a prompt, and code that begins like a command: with a group and a word. */
  function named(text: string): string[] {
    const groups = new Set(
      [...helps.keys()].filter((path) => path.includes(' ')).map((path) => path.split(' ')[0]),
    );
    const typed = fencesOf(text).flatMap(({ lines }) =>
      lines.filter((line) => line.startsWith('drover> ')).map((line) => line.slice('drover> '.length)),
    );
    const code = inlineCodeOf(text).filter(
      (line) => /^[a-z]+ [a-z]+(?= |$)/.test(line) && groups.has(line.split(' ')[0]),
    );
    return [...typed, ...code];
  }

  it('are those that pages name, with their options', () => {
    expect(named(read('docs/operations.md')).length).toBeGreaterThan(5);
    expect(inPages((text) => named(text).flatMap((line) => faultOf(line) ?? []))).toEqual([]);
    expect(faultOf('cluster explode')).toBe('cluster explode');
    expect(faultOf('cluster drain n1 --fast')).toBe('cluster drain n1 --fast');
  });

  it('all stand in docs/commands.md, and no others', () => {
    const cells = firstCells(sectionOf(read('docs/commands.md'), '## Commands'));
    expect(cells.map((cell) => pathOf(cell) ?? cell).toSorted()).toEqual([...helps.keys()].toSorted());
  });
});
