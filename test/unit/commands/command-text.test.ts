/** The pure parts of the commands: lines into words, tables, durations, differences, and the bounded output. */
import { describe, expect, it } from 'vitest';
import { describeDifference } from '../../../src/command-tree/groups/configuration-diff-text.js';
import { renderTable } from '../../../src/command-tree/table.js';
import { settleMarks } from '../../../src/command-tree/tones.js';
import { CommandOutput, MAX_OUTPUT_BYTES } from '../../../src/console/output.js';
import { splitLine } from '../../../src/console/split-line.js';
import { differencesOf } from '../../../src/model/field-differences.js';
import { displayWidth } from '../../../src/model/plain/display-width.js';
import { wrapText } from '../../../src/model/plain/wrap-text.js';
import { NO_UPDATE } from '../../../src/model/update.js';
import { configurationOf } from '../../support/control-plane/records.js';

describe('a line', () => {
  it.each([
    ['', []],
    ['   ', []],
    ['instance  list ', ['instance', 'list']],
    [`config show "my name"`, ['config', 'show', 'my name']],
    [`a 'b "c"' ""`, ['a', 'b "c"', '']],
    [String.raw`a b\c`, ['a', String.raw`b\c`]],
  ])('%j is split as a shell does', (line, words) => {
    expect(splitLine(line)).toEqual(words);
  });

  it.each([
    ['instance execute abc123 say hello', 'say hello'],
    ['instance execute abc123 say  "two  words"', 'say  "two  words"'],
    ["instance execute abc123 don't", "don't"],
    ['instance execute abc123 "say hello"', 'say hello'],
    ['instance execute abc123 \'say "hi"\'', 'say "hi"'],
    ['instance execute abc123 "a" "b"', '"a" "b"'],
    ['instance execute abc123 --help', '--help'],
    ['instance execute abc123 a\nb', 'a\nb'],
  ])('%j sends exactly what was typed', (line, command) => {
    expect(splitLine(line)).toEqual(['instance', 'execute', 'abc123', '--', command]);
  });

  it('takes the options of execute before the id', () => {
    const command = ['abc123', '--', 'say -o json'];
    for (const option of [['-o', 'json'], ['-ojson'], ['--output', 'json'], ['--output=json']])
      expect(splitLine(`instance execute ${option.join(' ')} abc123 say -o json`)).toEqual([
        'instance',
        'execute',
        ...option,
        ...command,
      ]);
  });
});

describe('a table', () => {
  it('aligns columns without borders or trailing blanks', async () => {
    const rows = [
      ['a', 1, null],
      ['longer', undefined, 'text'],
    ];
    expect(renderTable(['ID', 'N', 'REST'], rows)).toBe(
      ['ID      N  REST', 'a       1', 'longer     text'].join('\n'),
    );
  });

  it('leaves out what is blank or matters least on a narrow terminal, and nothing without one', () => {
    const head = ['ID', 'NODE', 'PID', 'RESTARTS', 'REVISION', 'MESSAGE'];
    const rows = [
      ['ab12cd', 'amsterdam-1', 4711, 0, 'f00dcafe', 'exited with code 2, restart 20 in 52 s'],
      ['ef34gh', 'amsterdam-1', 4712, 0, 'f00dcafe', null],
    ];
    const headAt = (columns?: number): string | undefined =>
      renderTable(head, rows, { columns }).split('\n')[0];
    expect(headAt()).toMatch(/^ID +NODE +PID +RESTARTS +REVISION +MESSAGE$/);
    expect(headAt(70)).toMatch(/^ID +NODE +PID +REVISION +MESSAGE$/);
    expect(headAt(55)).toMatch(/^ID +NODE +PID +MESSAGE$/);
    expect(headAt(45)).toMatch(/^ID +NODE +MESSAGE$/);
    expect(renderTable(head, rows, { columns: 45 })).toContain('exited with code 2, restart 20 in 52 s');
    expect(headAt(18)).toMatch(/^ID +MESSAGE$/);
  });

  it('colours states on a terminal, with marks that take no column', () => {
    const head = ['ID', 'STATE', 'MESSAGE'];
    const rows = [
      ['ab12cd', 'ONLINE', ''],
      ['ef34gh', 'STOPPED', 'it is STOPPED'],
    ];
    const text = renderTable(head, rows, { isColoured: true });
    expect(settleMarks(text, true)).toBe(
      'ID      STATE    MESSAGE\nab12cd  \x1b[32mONLINE\x1b[0m\nef34gh  \x1b[90mSTOPPED\x1b[0m  it is STOPPED',
    );
    expect(displayWidth(text.split('\n')[1] ?? '')).toBe('ab12cd  ONLINE'.length);
  });

  it.each([
    ['prose between words', 'one two three four five', ['one two three', 'four five']],
    ['an indented line', '  one two three four', ['  one two three', '  four']],
    ['a last column below itself', '  next  one two three', ['  next  one two', '        three']],
    [
      'a last column without room on the next line',
      'ab12cd  amsterdam  one two',
      ['ab12cd  amsterdam', '    one two'],
    ],
    ['no long word', 'https://master.example:7000', ['https://master.example:7000']],
    ['no command to copy', '  drover join drvj_x --master m:1', ['  drover join drvj_x --master m:1']],
  ])('is wrapped: %s', (_what, text, lines) => {
    expect(wrapText(text, 15).split('\n')).toEqual(lines);
  });

  it('keeps a cell on its line, whatever an instance wrote into it', async () => {
    const rows = [['\x1b[2Ja\r\nb', '\x1b]0;title\x07c\x9bd']];
    expect(renderTable([], rows)).toBe('a b  cd');
  });

  it('does not cut wide characters', async () => {
    expect(renderTable([], [['漢字', 'é', 'x']])).toBe('漢字  é  x');
  });
});

describe('the differences of two configurations', () => {
  it('name every field, deep ones by their path', () => {
    const before = {
      ...configurationOf('lobby'),
      availablePorts: { min: 1, max: 5 },
      properties: { a: 'x' },
    };
    const after = {
      ...configurationOf('lobby'),
      ramMB: 64,
      availablePorts: { min: 1, max: 9 },
      nodes: ['n1'],
    };
    expect(differencesOf(before, after).map(describeDifference)).toEqual([
      'availablePorts.max: 5 -> 9',
      'nodes: [] -> ["n1"]',
      'properties.a: "x" -> -',
      'ramMB: 2048 -> 64',
    ]);
    expect(differencesOf(before, { ...before })).toEqual([]);
    const rolling = { ...before, update: { ...NO_UPDATE, strategy: 'rolling' as const } };
    expect(differencesOf(before, rolling).map(describeDifference), 'defaults differ from nothing').toEqual([
      'update.strategy: "manual" -> "rolling"',
    ]);
  });
});

describe('the output of a command', () => {
  function collected(): { output: CommandOutput; text: () => string } {
    const parts: string[] = [];
    return { output: new CommandOutput((text) => parts.push(text)), text: () => parts.join('') };
  }

  it('ends every text with a newline and holds no control characters', () => {
    const { output, text } = collected();
    output.print('\x1b[31mred\x1b[0m\n\tb\x07');
    output.print('');
    output.print('c\n');
    expect(text()).toBe('red\n\tb\nc\n');
  });

  it('stays valid JSON whatever the values hold', () => {
    const { output, text } = collected();
    const value = [{ message: '\x9d0;title\x1b[31m\x7f"\n' }, { message: 'b' }];
    output.printJson(value);
    expect(JSON.parse(text())).toEqual(value);
    expect(text()).not.toMatch(/[\x7f-\x9f\x1b]/);
    expect(text().split('\n')).toHaveLength(5);
  });

  it('is cut at 4 MiB, at the end of a line, and says so', () => {
    const { output, text } = collected();
    const line = `${'x'.repeat(1023)}\n`;
    for (let count = 0; count < 5; count++) output.print(line.repeat(1000));
    expect(Buffer.byteLength(text())).toBeLessThan(MAX_OUTPUT_BYTES + 200);
    expect(text()).toMatch(/x\n\[the rest is cut: a command prints 4 MiB at most\]\n$/);
    output.print('more');
    expect(text()).not.toContain('more');
  });

  it('is an error in JSON when the JSON would be too long', () => {
    const { output, text } = collected();
    output.printJson(['x'.repeat(MAX_OUTPUT_BYTES)]);
    expect(JSON.parse(text())).toEqual({ error: 'the output is longer than 4 MiB: ask for less' });
  });

  it('lets nothing out once it is closed', () => {
    const { output, text } = collected();
    output.close();
    output.print('late');
    expect(text()).toBe('');
  });
});
