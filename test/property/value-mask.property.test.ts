/** Values of secrets in output: covered over the borders of its pieces, and nothing else changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskedTexts, ValueMask } from '../../src/logs/value-mask.js';

/** The output after each of its pieces was covered. */
function covered(values: readonly string[], pieces: readonly string[]): string {
  const mask = new ValueMask(maskedTexts(values));
  return pieces
    .map((piece) => {
      const bytes = Buffer.from(piece);
      mask.cover(bytes);
      return bytes.toString();
    })
    .join('');
}

const piecesOf = (text: string, cuts: readonly number[]): string[] => {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [...places, text.length].map((end, index) => text.slice(places[index - 1] ?? 0, end));
};

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 12 });

describe('the mask of values', () => {
  it('leaves at most 3 first bytes of a value, whatever the pieces', () => {
    fc.assert(
      fc.property(letters, fc.array(fc.nat(), { maxLength: 8 }), (value, cuts) => {
        const out = covered([value], piecesOf(`< ${value} >\n`, cuts));
        expect(out).toHaveLength(value.length + 5);
        expect(out.startsWith('< ') && out.endsWith(' >\n')).toBe(true);
        const shown = out.slice(2, -3);
        expect(shown.replace(/\*/g, '').length).toBeLessThanOrEqual(3);
        expect(value.startsWith(shown.replace(/\*+$/, ''))).toBe(true);
      }),
    );
  });

  it('finds in one piece what it finds in a whole text', () => {
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1, maxLength: 3 }), letters, (values, text) => {
        const isCovered = Array.from(text, () => false);
        for (const value of values)
          for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1))
            isCovered.fill(true, at, at + value.length);
        const wanted = Array.from(text, (letter, at) => (isCovered[at] ? '*' : letter)).join('');
        expect(covered(values, [`${text}\n`])).toBe(`${wanted}\n`);
      }),
    );
  });

  it('covers the second half of a value that was written in two pieces', () => {
    expect(covered(['password'], ['my pass', 'word!\n'])).toBe('my ********!\n');
    expect(covered(['password'], ['my pa', 'ssword!\n'])).toBe('my pa******!\n');
  });

  it('covers a value of one line that has a line end behind it, at the shortest', () => {
    for (const value of ['word', 'word\n', 'word\r\n', '\nword\n\n'])
      expect(covered([value], ['my word\n'])).toBe('my ****\n');
  });

  it('covers all but line ends where the values are lost', () => {
    const bytes = Buffer.from('my word\r\n\n');
    expect(new ValueMask(null).cover(bytes)).toBe(true);
    expect(bytes.toString()).toBe('*******\r\n\n');
  });

  it('leaves short values, and short lines of long ones', () => {
    expect(covered(['abc'], ['abc abc\n'])).toBe('abc abc\n');
    expect(maskedTexts(['{\r\n  "key": "0123456789"\r\n}', 'abcd'])).toEqual(['"key": "0123456789"', 'abcd']);
  });
});
