/** Lines of a log as pieces of text with classes. */
import { describe, expect, it } from 'vitest';
import { plainOf, spansOf } from '../../../../src/dashboard/screens/instance/log/ansi.js';

const ESC = '\x1b';
/** `text` or `text(classes)`, one after the other. */
const shown = (line: string): string =>
  spansOf(line)
    .map(({ text, classes }) => (classes === '' ? text : `${text}(${classes})`))
    .join('|');

describe('spansOf', () => {
  it.each([
    ['plain text', 'plain text'],
    ['', ''],
    [`a${ESC}[31mb${ESC}[0mc`, 'a|b(tone-bad)|c'],
    [`${ESC}[1;4;92mok${ESC}[22;24;39m.`, 'ok(ansi-bold ansi-underline tone-good)|.'],
    [`${ESC}[37;41mERROR${ESC}[m`, 'ERROR(ansi-on tone-bad)'],
    [`${ESC}[33;7mwarn${ESC}[27m!`, 'warn(ansi-on tone-busy)|!(tone-busy)'],
    [`${ESC}[7minverse`, 'inverse(ansi-inverse)'],
    [`${ESC}[38;5;196mred${ESC}[38;5;244mgrey${ESC}[38;5;15mwhite`, 'red(tone-bad)|grey(tone-still)|white'],
    [`${ESC}[38;2;10;200;90mgreen${ESC}[38;2;0;120;255mblue`, 'green(tone-good)|blue(ansi-blue)'],
    [`${ESC}[38;5mbroken${ESC}[mend`, 'broken|end'],
    [`${ESC}[38;5;1;1mbold red`, 'bold red(ansi-bold tone-bad)'],
  ])('%j is %s', (line, expected) => {
    expect(shown(line)).toBe(expected);
  });

  it('takes out titles, links, moves of the cursor and unfinished sequences', () => {
    expect(shown(`a${ESC}]0;title\x07b${ESC}]8;;http://evil.example${ESC}\\link${ESC}]8;;${ESC}\\c`)).toBe(
      'a|b|link|c',
    );
    expect(plainOf(`${ESC}[2J${ESC}[10;4Hhere${ESC}(B${ESC}=${ESC}[?25l\x9b31mc1`)).toBe('herec1');
    expect(plainOf(`end${ESC}`)).toBe('end');
    expect(plainOf(`end${ESC}]0;never closed`)).toBe('end');
    expect(plainOf(`end${ESC}[31`)).toBe('end');
  });

  it('shows control characters, and of a line that was written over its last state', () => {
    expect(plainOf('a\0b\x07c\x7f\td')).toBe('a\\x00b\\x07c\\x7f\td');
    expect(plainOf(' 10 %\r 50 %\r100 %\r')).toBe('100 %');
    expect(plainOf('windows\r')).toBe('windows');
  });

  it('leaves markup what it is, text, and shows marks that would turn its order', () => {
    expect(plainOf('<script>alert(1)</script> \u202eftp.exe\u2069')).toBe(
      '<script>alert(1)</script> \\u202eftp.exe\\u2069',
    );
    expect(plainOf('\u05e9\u05dc\u05d5\u05dd')).toBe('\u05e9\u05dc\u05d5\u05dd');
  });
});
