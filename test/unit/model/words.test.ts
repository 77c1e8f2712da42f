import { describe, expect, it } from 'vitest';
import { durationText } from '../../../src/model/plain/duration-text.js';
import { byteLengthWithin, cutText, cutToBytes, quoteText } from '../../../src/model/words.js';

describe('a duration', () => {
  it.each<[number, string]>([
    [-5, '0 s'],
    [0, '0 s'],
    [44, '0 s'],
    [420, '0.4 s'],
    [949, '0.9 s'],
    [950, '1 s'],
    [3600, '4 s'],
    [99_400, '99 s'],
    [125_000, '2 min'],
    [3_599_000, '60 min'],
    [3_600_000, '1 h'],
    [7_800_000, '2 h 10 min'],
    [86_400_000, '1 d'],
    [90_000_000, '1 d 1 h'],
  ])('of %i ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe('a text that is too long', () => {
  it('is cut to so many characters, the mark among them', () => {
    expect(cutText('abcde', 5)).toBe('abcde');
    expect(cutText('abcdef', 5)).toBe('abcd…');
  });

  it('is cut to so many bytes, in whole characters', () => {
    expect(cutToBytes('漢字', 6)).toBe('漢字');
    expect(cutToBytes('漢字', 5)).toBe('漢');
  });

  it.each([
    ['', 0, true],
    ['ab', 2, true],
    ['abc', 2, false],
    ['漢', 3, true],
    ['漢', 2, false],
    ['💥', 4, true],
    ['💥', 3, false],
  ])('%j takes %i bytes at most: %s', (text, bytes, expected) => {
    expect(byteLengthWithin(text, bytes)).toBe(expected);
  });

  it('is quoted on one line, and short', () => {
    expect(quoteText('a\n"b"')).toBe('"a\\n\\"b\\""');
    expect(quoteText('x'.repeat(200))).toBe(`"${'x'.repeat(99)}…"`);
  });
});
