import { describe, expect, it } from 'vitest';
import { paintedPlan, planMarkdown, planText } from '../../../src/client/configurations/plan-text.js';
import { settleMarks } from '../../../src/command-tree/tones.js';
import type { ChangePlan, PlannedConfiguration } from '../../../src/operations/plan/change-plan.js';

const NONE = { create: 0, replace: 0, restart: 0, stop: 0, keep: 0, waitForPlayers: 0 };

function planned(fields: Partial<PlannedConfiguration> = {}): PlannedConfiguration {
  return {
    name: 'lobby',
    action: 'change',
    revision: 'a',
    fileState: 'same',
    fields: [],
    effects: NONE,
    heldBack: null,
    why: 'No instance is touched.',
    ...fields,
  };
}

function planOf(configurations: PlannedConfiguration[], more: Partial<ChangePlan> = {}): ChangePlan {
  return {
    formatVersion: 1,
    fingerprint: 'f00d',
    configurations,
    shortages: [],
    others: [],
    warnings: [],
    ...more,
  };
}

it('has the line of each configuration in its colour on a coloured terminal, and plain text elsewhere', () => {
  const plan = planOf([
    planned({ action: 'create' }),
    planned({ name: 'mail' }),
    planned({ name: 'old', action: 'delete' }),
  ]);
  const heads = settleMarks(paintedPlan(plan), true).match(/^.*(?:lobby|mail|old):.*$/gm);
  expect(heads).toEqual([
    '\x1b[32m+ lobby: create\x1b[0m',
    '\x1b[33m~ mail: change\x1b[0m',
    '\x1b[31m- old: delete\x1b[0m',
  ]);
  expect(settleMarks(paintedPlan(plan), false)).toBe(planText(plan));
});

describe('a plan as Markdown', () => {
  it('begins with the marker, and says what happens', () => {
    const text = planMarkdown(
      planOf(
        [
          planned({
            fields: [{ path: 'ramMB', class: 'replacement', from: '100', to: null }],
            effects: { ...NONE, create: 2 },
            why: '2 instances are created.',
          }),
          planned({ name: 'mail', action: 'unchanged' }),
        ],
        { shortages: [{ configurationName: 'lobby', wanted: 2, missing: 1, message: '0/1 nodes fit' }] },
      ),
    );
    expect(text.split('\n').filter((line) => line !== '')).toEqual([
      '<!-- drover-plan -->',
      '### Drover plan',
      '1 to change.',
      '- **1 of the 2 new ones of lobby fits nowhere: 0/1 nodes fit**',
      '#### ~ `lobby`: change',
      '2 instances are created.',
      'create **2**',
      '| field | class | from | to |',
      '| --- | --- | --- | --- |',
      '| `ramMB` | replacement | `100` |  |',
      'Fingerprint `f00d`',
    ]);
  });

  it('says that nothing changes, so that an older comment is replaced', () => {
    expect(planMarkdown(planOf([planned({ action: 'unchanged' })]))).toContain('Nothing changes.');
  });

  it('shows values as they are, whatever they hold', () => {
    const from = '"a|b `c` ``d``\n@everyone <img>"';
    const text = planMarkdown(
      planOf([planned({ fields: [{ path: 'command', class: 'live', from, to: null }] })]),
    );
    expect(text).toContain('| ``` "a\\|b `c` ``d`` @\u2060everyone <img>" ``` |');
  });

  it.each([
    'owner/repo#1',
    '#1',
    'GH-2',
    'PROJ-7',
    'group/project!3',
    'namespace@f00dface',
    '2f1c9d0',
    '2F1C9D0AB34'.repeat(3),
    '16777216',
    'https://example.com/?a=b',
    'ftp://example.com',
    'mailto:somebody',
    'www.example.com',
    'somebody@example.com',
    '@everyone',
    ':smile:',
    '&lt;',
    '&#35;1',
    '$x$',
    '~label',
    '%milestone',
    '&5',
    '^alert#1',
    'a\u202eb',
    'a\u2066b\u200f',
    'a\n/close',
  ])('makes no link, reference, mention, emoji or other direction of %j, in text and in code', (text) => {
    const field = { path: text, class: 'live' as const, from: JSON.stringify(text), to: text };
    const warnings = [{ configurationName: 'lobby', field: text, message: text }];
    const markdown = planMarkdown(planOf([planned({ fields: [field], why: text })], { warnings }));
    const plain = markdown.replace('Fingerprint `f00d`', '');
    expect(plain).not.toContain(text);
    expect(plain.replaceAll('\\', '')).not.toContain(text);
    expect(plain).not.toMatch(
      /[@#!$%~^&:][a-z\d/]|www\.|[A-Z]-\d|[\da-f]{7}|^\/close|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/im,
    );
  });

  it('shows the fields of a new one, and each value around its first difference', () => {
    const fields = [{ path: 'command', class: 'live' as const, from: null, to: '"sleep  1"' }];
    const text = planMarkdown(planOf([planned({ action: 'create', revision: null, fields })]));
    expect(text).toContain('| field | value |\n| --- | --- |\n| `command` | `"sleep \u00a01"` |');
    const [from, to] = ['a', 'b'].map((end) => `"${'-x '.repeat(100)}${end}"`);
    const change = planned({ fields: [{ path: 'command', class: 'live', from: from ?? '', to: to ?? '' }] });
    expect(planMarkdown(planOf([change]))).toMatch(/live \| `….{40}a"` \| `….{40}b"` \|/);
    expect(planText(planOf([change]))).toMatch(/ {4}command \(live\): ….{40}a" -> ….{40}b"/);
  });

  it.each([
    ['many configurations', 3000, 1, 20],
    ['many fields', 1, 3000, 20],
    ['long values', 40, 40, 30_000],
  ])('stays shorter than a comment may be with %s', (_what, configurations, fields, length) => {
    const text = planMarkdown(
      planOf(
        Array.from({ length: configurations }, (_, index) =>
          planned({
            name: `lobby-${index}`,
            fields: Array.from({ length: fields }, (_, field) => ({
              path: `properties.field${field}`,
              class: 'next-start' as const,
              from: '|'.repeat(length),
              to: null,
            })),
          }),
        ),
        {
          warnings: Array.from({ length: 2000 }, () => ({
            configurationName: 'lobby',
            field: 'ramMb',
            message: 'is not known: '.repeat(20),
          })),
        },
      ),
    );
    expect(text.length).toBeLessThan(65_000);
    expect(text).toContain('Fingerprint `f00d`');
    expect(text).toContain('more: `drover plan` shows all.');
  });
});

describe('a plan as text', () => {
  it('says so where nothing would be written, with what is wrong all the same', () => {
    const warnings = [{ configurationName: 'lobby', field: 'ramMb', message: 'unknown field' }];
    expect(planText(planOf([planned({ action: 'unchanged' })], { warnings }))).toBe(
      'warning: lobby: ramMb: unknown field\nnothing changes; fingerprint f00d',
    );
  });
});
