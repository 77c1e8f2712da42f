import { describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { matcherOf } from '../../../src/templates/sync/pattern.js';
import { filePlace } from '../../../src/templates/tree/file-path.js';
import { objectionTo } from '../../../src/templates/tree/path-objection.js';
import { cpuMsOf } from '../../support/cpu-time.js';

describe('the path of a file in a template', () => {
  it.each([
    'a',
    'config/server.properties',
    'with space/ä ö ü/日本語.txt',
    '.hidden',
    '..almost/a..b/...',
    'a:b',
    '100%/50%25/%zz',
    'line\nbreak',
    `${'x'.repeat(255)}/y`,
    Array(64).fill('d').join('/'),
  ])('may be %j', (path) => {
    expect(objectionTo(path)).toBeUndefined();
  });

  it.each([
    ['', 'is empty'],
    ['..', 'segment'],
    ['../a', 'segment'],
    ['a/../b', 'segment'],
    ['a/..', 'segment'],
    ['.', 'segment'],
    ['a/./b', 'segment'],
    ['/etc/passwd', 'absolute'],
    ['//a', 'absolute'],
    ['a//b', 'empty segment'],
    ['a/', 'empty segment'],
    ['a\0b', 'NUL'],
    ['a\\b', 'backslash'],
    ['..\\..\\a', 'backslash'],
    ['%2e%2e/a', 'encoded'],
    ['a/%2E./b', 'encoded'],
    ['a/..%2fb', 'encoded'],
    ['%252e%252e%252fa', 'encoded'],
    ['%2fetc', 'encoded'],
    ['a%00', 'encoded'],
    ['a%5cb', 'encoded'],
    ['100%/%2e%2e/a', 'encoded'],
    ['x'.repeat(256), 'longer than 255'],
    ['ü'.repeat(128), 'longer than 255'],
    [Array(300).fill('1234567').join('/'), 'longer than 2048'],
    [Array(65).fill('d').join('/'), 'deeper than 64'],
  ])('may not be %j', (path, reason) => {
    expect(objectionTo(path)).toContain(reason);
    expect(() => filePlace('g', 'n', path)).toThrow(
      expect.objectContaining({ code: 'DRV_PATH_UNSAFE', status: 400 }),
    );
  });

  it('is not asked about when the template cannot have its name', () => {
    for (const [group, name] of [
      ['..', 'n'],
      ['g', '.drover'],
      ['g/h', 'n'],
      ['g', ''],
    ] as const)
      expect(() => filePlace(group, name, 'a')).toThrow(
        expect.objectContaining({ code: 'DRV_REQUEST_INVALID', status: 400 }),
      );
  });

  it('takes no longer for a hostile one than for any other', async () => {
    expect(await cpuMsOf(() => objectionTo(`${'%25'.repeat(680)}2e`))).toBeLessThan(1000);
  });
});

describe('the pattern of a template sync', () => {
  const all = [
    { group: 'games', name: 'lobby' },
    { group: 'games', name: 'arena' },
    { group: 'base', name: 'lobby' },
  ];
  const matching = (pattern: string): string[] =>
    all.filter(matcherOf(pattern)).map(({ group, name }) => `${group}/${name}`);

  it('means one template, a group, or all', () => {
    expect(matching('games/lobby')).toEqual(['games/lobby']);
    expect(matching('games/*')).toEqual(['games/lobby', 'games/arena']);
    expect(matching('*')).toEqual(['games/lobby', 'games/arena', 'base/lobby']);
    expect(matching('games/none')).toEqual([]);
  });

  it.each(['', 'games', '*/lobby', 'games/', '/lobby', 'games/lobby/x', '../*', 'ga mes/*', 'games/lo*'])(
    'may not be %j',
    (pattern) => {
      expect(() => matcherOf(pattern)).toThrow(DroverError);
    },
  );
});
