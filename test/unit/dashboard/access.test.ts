/** The filter of the audit trail, and what a form for a key says to the API. */
import { expect, it } from 'vitest';
import { filteredEntries } from '../../../src/dashboard/screens/access/audit/audit-filter.js';
import { keyPayload, labelProblem } from '../../../src/dashboard/screens/access/keys/key-form.js';

const entry = (action: string, result: string, key: string | null = 'admin') => ({
  at: 1,
  action,
  result,
  key,
  subject: 'a1f1so',
  address: null,
});

it('shows the newest first, and finds all words in any field', () => {
  const trail = [
    entry('PUT /configurations/:name', '200'),
    entry('command', 'failed'),
    entry('GET /keys', '401', null),
    entry('command', 'ok'),
  ];
  const shown = (find: string, result: '' | 'failed' | 'done'): readonly string[] =>
    filteredEntries(trail, find, result).map(({ entry: { action, result: end } }) => `${action} ${end}`);
  expect(shown('', '')[0]).toBe('command ok');
  expect(shown('', 'failed')).toEqual(['GET /keys 401', 'command failed']);
  expect(shown('', 'done')).toEqual(['command ok', 'PUT /configurations/:name 200']);
  expect(shown(' ADMIN  put A1F1', '')).toEqual(['PUT /configurations/:name 200']);
  expect(shown('null', '')).toEqual([]);
});

it('takes lists with commas or blanks, and nothing as no restriction', () => {
  const form = {
    label: ' ci ',
    scope: 'READ',
    configurations: 'lobby*, arena  x,',
    expires: '30d',
    from: ' ',
  } as const;
  expect(keyPayload(form)).toEqual({
    label: 'ci',
    scope: 'READ',
    configurations: ['lobby*', 'arena', 'x'],
    expires: '30d',
    from: null,
  });
  expect(labelProblem(form)).toBeNull();
  expect(labelProblem({ ...form, label: '' })).toMatch(/Enter a label/);
  expect(labelProblem({ ...form, label: '-x' })).toMatch(/begins with/);
});
