/** How people write when something ends. */
import { expect, it } from 'vitest';
import { parseExpiry } from '../../../src/model/plain/duration.js';

const NOW = Date.UTC(2026, 0, 1, 12);

it.each([
  ['never', null],
  ['30d', NOW + 30 * 86_400_000],
  ['12h', NOW + 12 * 3_600_000],
  ['2027-01-31', Date.UTC(2027, 0, 31)],
  ['2027-01-31T18:30Z', Date.UTC(2027, 0, 31, 18, 30)],
  ['2027-01-31T18:30:00+02:00', Date.UTC(2027, 0, 31, 16, 30)],
  ['2024-02-29', Date.UTC(2024, 1, 29)],
])('%s', (text, at) => {
  expect(parseExpiry(text, NOW)).toBe(at);
});

it.each([
  '',
  '0d',
  '30',
  '30x',
  'soon',
  '2027-02-31',
  '2027-13-01',
  '2027-1-1',
  '31.01.2027',
  '2027-02-31T00:00Z',
  '2027-01-31T25:00Z',
  '2027-01-31T18:30',
  ' 30d',
  '-1d',
])('%j is none', (text) => {
  expect(parseExpiry(text, NOW)).toBeUndefined();
});
