/** The filter and the sentences of the audit trail, and what a form for a key says to the API. */
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

it('makes one row of a bulk, in words, and of what is far apart or ends otherwise several', () => {
  const restarted = (id: string, at: number, result = '200') => ({
    ...entry('PATCH /instances/:id/lifecycle', result),
    subject: `${id} target=restart`,
    at,
  });
  const trail = [
    restarted('aaaaaa', 0),
    restarted('bbbbbb', 2000),
    restarted('cccccc', 4000),
    restarted('dddddd', 4100, '404'),
    { ...entry('DELETE /instances/:id', '200'), at: 4200 },
    { ...entry('DELETE /instances/:id', '200'), at: 60_000 },
    { ...entry('PUT /configurations/:name', '200'), subject: 'lobby', at: 60_001 },
    { ...entry('command', 'ok'), subject: 'cluster drain ams-1', at: 60_002 },
  ];
  expect(filteredEntries(trail, '', '').map(({ sentence }) => sentence)).toEqual([
    'ran cluster drain ams-1',
    'saved configuration lobby',
    'deleted instance a1f1so',
    'deleted instance a1f1so',
    'tried to restart instance dddddd',
    'restarted 3 instances: aaaaaa, bbbbbb, cccccc',
  ]);
  expect(filteredEntries(trail, 'restarted bbbbbb', 'done')).toHaveLength(1);
});

it.each([
  ['PUT /configurations/:name', 'lobby: ramMB, title', 'saved configuration lobby: ramMB, title'],
  ['POST /configurations/:name/rollback/file', 'lobby', 'wrote back the file of configuration lobby'],
  ['POST /configurations/:name/schedules/:schedule/:action', 'a/b/skip', 'skipped schedule a/b'],
  ['POST /configurations/batch', null, 'changed configurations'],
  ['POST /rollouts/:name/retry', 'lobby', 'retried rollout lobby'],
  ['POST /instances/:id/execute', 'aaaaaa', 'typed into instance aaaaaa'],
  ['DELETE /cluster/nodes/:id/drain', 'ams-1', 'called off the drain of node ams-1'],
  ['POST /cluster/left-directories/:id/adopt', 'aaaaaa of x', 'adopted left directory aaaaaa of x'],
  ['POST /templates/:group/:name/files/*', 'a/b/c.txt', 'created file a/b/c.txt'],
  ['POST /cluster/tokens', '1f', 'created token 1f'],
  ['POST /node/reload', null, 'reloaded node'],
  ['POST /new/:thing/dance', 'it', 'danced new it'],
  ['join as master', 'm2', 'join as master m2'],
])('says %s in words', (action, subject, sentence) => {
  expect(filteredEntries([{ ...entry(action, '200'), subject }], '', '')[0]?.sentence).toBe(sentence);
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
