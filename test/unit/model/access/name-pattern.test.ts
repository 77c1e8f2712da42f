/** Patterns of names: what each of them stands for. */
import { expect, it } from 'vitest';
import { namePatternSchema } from '../../../../src/model/access/api-key.js';
import { matchesAny } from '../../../../src/model/access/name-pattern.js';

it.each<[pattern: string, names: string[], others: string[]]>([
  ['lobby', ['lobby'], ['lobby2', 'Lobby', 'my-lobby', '']],
  ['lobby*', ['lobby', 'lobby-1', 'lobby*'], ['my-lobby', 'lobb']],
  ['*-eu', ['lobby-eu', '-eu'], ['lobby-eu-1', 'eu']],
  ['a*b*c', ['abc', 'aXbYc', 'abbcc', 'abcbc'], ['acb', 'ab', 'aXc', 'abca']],
  ['ab*ba', ['abba', 'abxba'], ['aba', 'ab']],
  ['a*aa', ['aaa', 'abaa'], ['aa']],
  ['*', ['x', ''], []],
  ['**', ['x', ''], []],
  ['a.c', ['a.c'], ['abc']],
])('%s stands for %j and not for %j', (pattern, names, others) => {
  expect(names.filter((name) => !matchesAny([pattern], name))).toEqual([]);
  expect(others.filter((name) => matchesAny([pattern], name))).toEqual([]);
});

it('of several patterns one is enough, of none nothing fits', () => {
  expect([matchesAny(['a', 'b*'], 'bc'), matchesAny(['a', 'b*'], 'c'), matchesAny([], 'a')]).toEqual([
    true,
    false,
    false,
  ]);
});

it.each(['', 'a b', 'a/b', '(a+)+', 'a?', 'x'.repeat(65)])('refuses %j as a pattern', (text) => {
  expect(namePatternSchema.safeParse(text).success).toBe(false);
});
