/** Where the end of a run stands in a log, and how long a restart still takes. */
import { expect, it } from 'vitest';
import { endsBetween, ruleOf } from '../../../../src/dashboard/screens/instance/log/run-ends.js';
import { countedDown } from '../../../../src/model/plain/counted-down.js';

const run = (number: number, at: string) => ({
  run: number,
  at: Date.parse(at),
  begunAt: Date.parse(at) - 3_000,
  code: 2,
  signal: null,
  wasAsked: false,
});
/** As the API has them, the last one first. */
const RUNS = [run(2, '2026-01-01T10:01:04.500Z'), run(1, '2026-01-01T10:00:04.500Z')];

it.each([
  ['2026-01-01T10:00:04Z', '2026-01-01T10:01:00Z', [1]],
  ['2026-01-01T10:00:03Z', '2026-01-01T10:00:04Z', []],
  ['2026-01-01T10:00:00Z', '2026-01-01T10:02:00Z', [1, 2]],
  ['2026-01-01T10:01:04Z', null, [2]],
  ['2026-01-01T10:02:00Z', null, []],
  [null, '2026-01-01T10:02:00Z', []],
])('finds the runs that ended between the lines of %s and %s', (before, after, expected) => {
  expect(endsBetween(RUNS, before, after).map((one) => one.run)).toEqual(expected);
});

it('says how a run ended, and after how long', () => {
  expect(ruleOf(run(7, '2026-01-01T10:01:04Z'))).toMatch(/^run 7: exit code 2 after 3 s · \d\d:01:04$/);
});

it('counts the time in a sentence of the server down', () => {
  expect(countedDown('exited with code 2, restart 20 in 52 s', 11_000)).toBe(
    'exited with code 2, restart 20 in 41 s',
  );
  expect(countedDown('a1 waits 2 min for restart 3: it ended', 59_000)).toBe(
    'a1 waits 61 s for restart 3: it ended',
  );
  expect(countedDown('ended, restart 7 in 5 min', 70_000)).toBe('ended, restart 7 in 4 min');
  expect(countedDown('ended, restart 9 in 3 h', 3_600_000)).toBe('ended, restart 9 in 2 h');
  expect(countedDown('no room; next try in 0.4 s', 9_000)).toBe('no room; next try in 0 s');
  expect(countedDown('does not come up', 1_000)).toBe('does not come up');
});
