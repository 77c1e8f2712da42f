/** The search over all that is kept of a log, call by call. */
import { describe, expect, it } from 'vitest';
import {
  type Found,
  LogSearch,
  MOST_FOUND,
  markedParts,
} from '../../../../src/dashboard/screens/instance/log/log-search.js';
import { until } from '../../../support/until.js';

const ASKED = { pattern: 'x', hasCapitals: false };

/** A log of which each call finds `each` lines and searches 1,000, the last one of `last` lines. */
function searchOver(last: number, each: number) {
  const calls: (number | undefined)[] = [];
  const api = {
    get: async <T>(_path: string, { query = {} }: { query?: Readonly<Record<string, unknown>> } = {}) => {
      const before = query.before === undefined ? last + 1 : Number(query.before);
      calls.push(query.before === undefined ? undefined : before);
      const next = Math.max(1, before - 1_000);
      const lines: Found[] = Array.from({ length: each }, (_, place) => ({
        line: before - 1 - place,
        text: 'x',
      }));
      return JSON.parse(JSON.stringify({ instanceId: 'a1', lines, next: next === 1 ? null : next })) as T;
    },
  };
  return { search: new LogSearch(api, 'a1'), calls };
}

describe('LogSearch', () => {
  it('goes on by itself until all is searched', async () => {
    const { search, calls } = searchOver(3_500, 2);
    search.start(ASKED);
    await until(() => expect(search.state.value).toMatchObject({ isSearching: false, next: null }));
    expect(calls).toEqual([undefined, 2_501, 1_501, 501]);
    expect(search.state.value.found.map(({ line }) => line)).toEqual([
      3_500, 3_499, 2_500, 2_499, 1_500, 1_499, 500, 499,
    ]);
  });

  it('waits after a hundred lines, goes further when it is told to, and never beyond its bound', async () => {
    const { search, calls } = searchOver(1_000_000, 60);
    search.start(ASKED);
    await until(() => expect(search.state.value.isSearching).toBe(false));
    expect([calls.length, search.state.value.found.length, search.state.value.next]).toEqual([
      2, 120, 998_001,
    ]);
    while (search.state.value.found.length < MOST_FOUND) {
      search.further();
      await until(() => expect(search.state.value.isSearching).toBe(false));
    }
    const { length } = calls;
    search.further();
    expect(calls).toHaveLength(length);
  });

  it('keeps what was found when it is stopped, and drops what comes late', async () => {
    const { search } = searchOver(1_000_000, 0);
    search.start(ASKED);
    search.stop();
    search.start({ ...ASKED, pattern: '' });
    expect(search.state.value).toMatchObject({ found: [], isSearching: false });
  });
});

describe('markedParts', () => {
  it.each([
    ['an Error here', { pattern: 'error', hasCapitals: false }, ['an ', 'Error', ' here']],
    ['an Error here', { pattern: 'error', hasCapitals: true }, ['an Error here']],
    ['a.b a-b', { pattern: 'a.b', hasCapitals: true }, ['', 'a.b', ' a-b']],
    [
      'took 12 ms, took 9 ms',
      { pattern: 'took*ms', hasCapitals: true },
      ['', 'took 12 ms', ', ', 'took 9 ms', ''],
    ],
    ['anything', { pattern: '*', hasCapitals: true }, ['anything']],
    ['(a+)+$', { pattern: '(a+)+$', hasCapitals: true }, ['', '(a+)+$', '']],
  ])('of %j with %j', (line, asked, expected) => {
    expect(markedParts(line, asked)).toEqual(expected);
  });
});
