/** The history of a configuration: what is kept, and how the content before the last one ended. */
import { describe, expect, test } from 'vitest';
import { hashConfiguration } from '../../../src/model/configuration.js';
import {
  type ConfigurationHistory,
  contentsOf,
  MAX_CONTENTS,
  type NewContent,
  withContent,
} from '../../../src/model/configuration-history.js';
import { configurationOf } from '../../support/control-plane/records.js';

const origin = { file: 'web.json', node: 'n1', key: null, commit: null, isDirty: null };
const configuration = configurationOf('web');
const record = {
  configuration,
  sourceFile: 'web.json',
  sourceNode: 'n1',
  hash: hashConfiguration(configuration),
};
const replaced = { outcome: 'replaced', reason: null } as const;

function content(revision: string, more: Partial<NewContent> = {}): NewContent {
  return { revision, origin, at: 1000, end: replaced, ...more };
}

function lines({ contents }: ConfigurationHistory): string[] {
  return contents.map(
    ({ number, revision, at, key, end }) =>
      `${number} ${revision} at ${at}${key === null ? '' : ` by ${key}`}${end === undefined ? '' : `: ${end.outcome} at ${end.at}`}`,
  );
}

describe('a history', () => {
  test('numbers its contents, and says how each of them ended', () => {
    const first = withContent([], content('a'));
    const key = { ...origin, key: 'deploy' };
    const end = { outcome: 'failed', reason: 'no good instance' } as const;
    const second = withContent(first.contents, content('b', { origin: key, at: 2000, end }));
    expect(lines(first)).toEqual(['1 a at 1000']);
    expect(lines(second)).toEqual(['1 a at 1000: failed at 2000', '2 b at 2000 by deploy']);
    expect(second.contents[0]?.end?.reason).toBe('no good instance');
  });

  test('keeps the last ones, and goes on counting', () => {
    let history: ConfigurationHistory = { contents: [] };
    for (let index = 0; index < 3 * MAX_CONTENTS; index++)
      history = withContent(history.contents, content(`r${index}`));
    const numbers = history.contents.map(({ number }) => number);
    expect(numbers).toHaveLength(MAX_CONTENTS);
    expect([numbers[0], numbers.at(-1)]).toEqual([2 * MAX_CONTENTS + 1, 3 * MAX_CONTENTS]);
  });

  test('keeps the last good one, however many failed after it', () => {
    const end = { outcome: 'failed', reason: null } as const;
    let { contents } = withContent([], content('good'));
    contents = withContent(
      contents,
      content('bad0', { end: { outcome: 'rolled-out', reason: null } }),
    ).contents;
    for (let index = 1; index <= 2 * MAX_CONTENTS; index++)
      contents = withContent(contents, content(`bad${index}`, { end })).contents;
    const revisions = contents.map(({ revision }) => revision);
    expect(revisions).toHaveLength(MAX_CONTENTS);
    expect([revisions[0], revisions[1], revisions.at(-1)]).toEqual(['good', 'bad12', 'bad20']);
  });

  test('of a record from before it was kept begins with its content', () => {
    const known = contentsOf(undefined, record);
    expect(lines({ contents: known })).toEqual([`1 ${record.hash} at null`]);
    expect(lines(withContent(known, content('b')))).toEqual([
      `1 ${record.hash} at null: replaced at 1000`,
      '2 b at 1000',
    ]);
  });

  test('does not repeat the content of the record that it ends with', () => {
    const { contents } = withContent([], content(record.hash));
    expect(contentsOf({ contents }, record)).toEqual(contents);
  });
});
