/** Which file a configuration's name belongs to, and what the store is told: plans as readable text. */
import { describe, expect, test } from 'vitest';
import type { Reading } from '../../../src/configuration-files/directory.js';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import { type HeldConfiguration, planConfigurations } from '../../../src/configuration-files/plan.js';
import { SettledFiles } from '../../../src/configuration-files/settled-files.js';

/** `x:one` is a valid file named x with command one; `!` a broken one. */
function reading(file: string, content: string): Reading {
  const [name, command] = content.split(':');
  const text = content === '!' ? '{' : JSON.stringify({ name, command });
  const result = parseConfigurationFile(file, text);
  return 'parsed' in result
    ? { kind: 'valid', signature: content, parsed: result.parsed }
    : { kind: 'broken', signature: content, error: result.error };
}

function readings(files: Record<string, string>): Map<string, Reading> {
  return new Map(Object.entries(files).map(([file, content]) => [file, reading(file, content)]));
}

/** `held`: by name, `file content`. */
function plan(
  files: Record<string, string>,
  held: Record<string, string> = {},
  suspects: string[] = [],
): string[] {
  const { steps, errors } = planConfigurations({
    files: readings(files),
    isSuspect: (file) => suspects.includes(file),
    held: new Map(Object.entries(held).map(([name, text]) => [name, heldFrom(text)])),
  });
  const stepLines = steps.map((step) => {
    if (step.do === 'remove') return `remove ${step.name}`;
    const how = step.isNewContent ? step.parsed.configuration.command : 'same';
    return `put ${step.name} ${how} from ${step.file} over ${step.expectedRevision}`;
  });
  return [...stepLines, ...errors.map((error) => `error ${error.file} ${error.field ?? 'syntax'}`)];
}

function heldFrom(text: string): HeldConfiguration {
  const [file = '', content = ''] = text.split(' ');
  const from = reading(file, content);
  return { sourceFile: file, hash: from.kind === 'valid' ? from.parsed.hash : null, revision: 7 };
}

describe('the plan', () => {
  test.each([
    ['of a settled world is empty', { 'a.json': 'x:one' }, { x: 'a.json x:one' }, []],
    ['adds a new file', { 'a.json': 'x:one' }, {}, ['put x one from a.json over 0']],
    ['writes an edit', { 'a.json': 'x:two' }, { x: 'a.json x:one' }, ['put x two from a.json over 7']],
    ['removes what has no file', {}, { x: 'a.json x:one' }, ['remove x']],
    [
      'moves a name to a renamed file',
      { 'b.json': 'x:one' },
      { x: 'a.json x:one' },
      ['put x same from b.json over 7'],
    ],
    ['keeps what a broken file had', { 'a.json': '!' }, { x: 'a.json x:one' }, ['error a.json syntax']],
    [
      'gives a name to the first file',
      { 'b.json': 'x:two', 'a.json': 'x:one' },
      {},
      ['put x one from a.json over 0', 'error b.json name'],
    ],
    [
      'leaves a name to the file that has it',
      { 'b.json': 'x:two', 'a.json': 'x:one' },
      { x: 'b.json x:two' },
      ['error a.json name'],
    ],
    [
      'leaves a name to a broken file that has it',
      { 'b.json': '!', 'a.json': 'x:one' },
      { x: 'b.json x:two' },
      ['error b.json syntax', 'error a.json name'],
    ],
    [
      'hands a name on when its file takes another',
      { 'a.json': 'y:one', 'b.json': 'x:two' },
      { x: 'a.json x:one' },
      ['put y one from a.json over 0', 'put x two from b.json over 7'],
    ],
    [
      'exchanges two names',
      { 'a.json': 'y:one', 'b.json': 'x:two' },
      { x: 'a.json x:one', y: 'b.json y:two' },
      ['put y one from a.json over 7', 'put x two from b.json over 7'],
    ],
    [
      'rewrites a record that cannot be read',
      { 'a.json': 'x:one' },
      { x: 'a.json !' },
      ['put x one from a.json over 7'],
    ],
  ])('%s', (_title, files, held, expected) => {
    expect(plan(files, held)).toEqual(expected);
  });

  test('calls no name taken by a file that is just being renamed', () => {
    const files = { 'a.json': 'x:one', 'b.json': 'x:one' };
    expect(plan(files, { x: 'a.json x:one' }, ['a.json'])).toEqual([]);
    expect(plan(files, { x: 'a.json x:one' })).toEqual(['error b.json name']);
  });
});

describe('settled files', () => {
  const settledAfter = (...looks: Record<string, string>[]): string[] => {
    const settled = new SettledFiles();
    for (const files of looks) settled.takeAll(readings(files), false);
    return [...settled.files].map(([file, { signature }]) => `${file} ${signature}`);
  };

  test('take a valid file at once', () => {
    expect(settledAfter({ 'a.json': 'x:one' }, { 'a.json': 'x:two' })).toEqual(['a.json x:two']);
  });

  test('believe that a file is broken or gone at the second look', () => {
    const one = { 'a.json': 'x:one' };
    expect(settledAfter(one, { 'a.json': '!' })).toEqual(['a.json x:one']);
    expect(settledAfter(one, { 'a.json': '!' }, { 'a.json': '!' })).toEqual(['a.json !']);
    expect(settledAfter(one, {})).toEqual(['a.json x:one']);
    expect(settledAfter(one, {}, {})).toEqual([]);
  });

  test('begin anew when the second look is another', () => {
    expect(settledAfter({ 'a.json': 'x:one' }, {}, { 'a.json': '!' })).toEqual(['a.json x:one']);
    expect(settledAfter({ 'a.json': 'x:one' }, {}, { 'a.json': 'x:one' }, {})).toEqual(['a.json x:one']);
  });

  test('take a file that never holds still as it is after fifty looks', () => {
    const settled = new SettledFiles();
    for (let look = 1; look <= 50; look++) {
      expect(settled.files.size).toBe(0);
      const moving: Reading = { ...reading('a.json', '!'), signature: String(look) };
      settled.take(new Map([['a.json', moving]]), false);
    }
    expect(settled.files.get('a.json')?.kind).toBe('broken');
    expect(settled.isUnsure).toBe(false);
  });
});
