/** The end of a session is found exactly where it stands, from any pieces, and no other text is taken for it. */
import { describe, expect, it } from 'vitest';
import { splitClosingWords } from '../../../src/runtime/session/screen/screen-tool.js';
import { endMark, findEnd, parseStatus } from '../../../src/runtime/session/session-prelude.js';

const NONCE = '0123456789abcdef';
const mark = Buffer.from(endMark(NONCE));
const WORDS = '\n\r=== Command terminated with exit status 7 (Sat Nov 21 07:44:59 2026) ===';

describe('the words of the shell', () => {
  it.each([
    ['code 0;', { code: 0, signal: null }],
    ['code 137;', { code: 137, signal: null }],
    ['signal 137;', { code: null, signal: 9 }],
  ])('%s', (text, exit) => {
    expect(parseStatus(text)).toEqual(exit);
    expect(findEnd(Buffer.concat([Buffer.from('output\n'), mark, Buffer.from(text)]), mark)).toEqual({
      outputBytes: 7,
      exit,
    });
  });

  it('are waited for from their first byte on', () => {
    const whole = Buffer.concat([Buffer.from('output'), mark, Buffer.from('code 12;')]);
    for (let length = 7; length < whole.length; length++)
      expect(findEnd(whole.subarray(0, length), mark)).toEqual({ outputBytes: 6, exit: undefined });
    expect(findEnd(whole, mark).exit).toEqual({ code: 12, signal: null });
  });

  it('are not those of another session, nor any control character', () => {
    const other = endMark('fedcba9876543210');
    for (const text of [
      `a\x1eb`,
      `${other}code 1;`,
      `\x1e${NONCE}`.slice(0, 5),
      `${endMark(NONCE)}no status at all`,
    ]) {
      const bytes = Buffer.from(`${text}\n`);
      expect(findEnd(bytes, mark)).toEqual({ outputBytes: bytes.length, exit: undefined });
    }
  });
});

describe('the words of screen', () => {
  it.each([
    ['terminated with exit status 7', { code: 7, signal: null }],
    ['terminated normally', { code: null, signal: null }],
    ['terminated with signal 9', { code: null, signal: 9 }],
    ['terminated with signal 11 (core file generated)', { code: null, signal: 11 }],
    ['detached from window', { code: null, signal: null }],
  ])('%s', (how, exit) => {
    const bytes = Buffer.from(`last line\n\r=== Command ${how} (Sat Nov  1 07:44:59 2026) ===`);
    expect(splitClosingWords(bytes)).toEqual({ outputBytes: 9, exit });
  });

  it('are waited for from their first byte on', () => {
    const whole = Buffer.from(`output${WORDS}`);
    for (let length = 7; length < whole.length; length++)
      expect(splitClosingWords(whole.subarray(0, length))).toEqual({ outputBytes: 6, exit: undefined });
  });

  it('are believed at the very end only', () => {
    const bytes = Buffer.from(`${WORDS}\nand more that is longer than any words could be ${'x'.repeat(200)}`);
    expect(splitClosingWords(bytes)).toEqual({ outputBytes: bytes.length, exit: undefined });
  });
});
