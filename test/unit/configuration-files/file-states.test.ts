/** The state of each file, of what it says and what is in force: facts in, lines out. */
import { describe, expect, test } from 'vitest';
import type { Reading } from '../../../src/configuration-files/directory.js';
import { statedFiles } from '../../../src/configuration-files/file-states.js';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import type { ConfigurationFileError, ConfigurationRecord } from '../../../src/model/configuration.js';

/** `x:one` is a valid file named x with command one; `!` a broken one. */
function reading(file: string, content: string): Reading {
  const [name, command] = content.split(':');
  const result = parseConfigurationFile(file, content === '!' ? '{' : JSON.stringify({ name, command }));
  return 'parsed' in result
    ? { kind: 'valid', signature: content, parsed: result.parsed }
    : { kind: 'broken', signature: content, error: result.error };
}

interface World {
  readonly files?: Record<string, string>;
  /** `file content` of what is in force, then its node, default this one, then `waits`. */
  readonly records?: readonly string[];
  readonly faults?: readonly ConfigurationFileError[];
  readonly heldBack?: Record<string, string>;
  readonly frozen?: Record<string, string>;
  readonly conflicts?: Record<string, string>;
}

function record(text: string): [string, { value: ConfigurationRecord }] {
  const [file = '', content = '', sourceNode = 'n1'] = text.split(' ');
  const from = reading(file, content);
  if (from.kind !== 'valid') throw new Error('a record holds a valid configuration');
  const { configuration, hash } = from.parsed;
  const value = {
    configuration,
    hash,
    sourceFile: file,
    sourceNode,
  };
  return [configuration.name, { value }];
}

/** `file name state: message`, with `*` where something is in force from the file. */
function states({
  files = {},
  records = [],
  faults = [],
  heldBack = {},
  frozen = {},
  conflicts = {},
}: World): string[] {
  return statedFiles({
    nodeId: 'n1',
    files: new Map(Object.entries(files).map(([file, content]) => [file, reading(file, content)])),
    records: records.map(record),
    isClone: false,
    overrides: { get: () => undefined },
    faults,
    waiting: new Set(records.filter((text) => text.endsWith(' waits')).map((text) => record(text)[0])),
    heldBack: new Map(Object.entries(heldBack)),
    frozen: new Map(Object.entries(frozen)),
    conflicts: new Map(Object.entries(conflicts)),
  }).map(({ file, node, name, state, error, revision, removalWaits }) => {
    const place = error?.line == null ? '' : ` ${error.line}:${error.column}`;
    const marks = `${revision === null ? '' : '*'}${node === 'n1' ? '' : `@${node}`}${removalWaits ? ' waits' : ''}`;
    return `${file} ${name} ${state}${marks}${error === null ? '' : `:${place} ${error.message}`}`;
  });
}

const fault = (file: string, message: string, field: string | null = null): ConfigurationFileError => ({
  file,
  line: null,
  column: null,
  field,
  message,
});

describe('the state of a file', () => {
  test.each<[string, World, string[]]>([
    [
      'is in force when the record says what it says',
      { files: { 'a.json': 'a:one' }, records: ['a.json a:one'] },
      ['a.json a in-force*'],
    ],
    [
      'is pending until then, with the reason where there is one',
      { files: { 'a.json': 'a:two', 'b.json': 'b:one' }, records: ['a.json a:one'] },
      ['a.json a pending*', 'b.json b pending'],
    ],
    [
      'is pending while the store refuses it',
      { files: { 'a.json': 'a:one' }, faults: [fault('*.json', 'not stored yet: full')] },
      ['a.json a pending: not stored yet: full'],
    ],
    [
      'is pending under its new name',
      { files: { 'a.json': 'b:one' }, records: ['a.json a:one'] },
      ['a.json b pending*'],
    ],
    [
      'is broken, with the name that stays in force',
      { files: { 'a.json': '!', 'b.json': '!' }, records: ['a.json a:one'] },
      [
        expect.stringMatching(/^a\.json a broken\*: 1:2 not valid JSON/),
        expect.stringMatching(/^b\.json null broken: 1:2 not valid JSON/),
      ],
    ],
    [
      'is shadowed when another file has its name',
      {
        files: { 'a.json': 'a:one', 'b.json': 'a:two' },
        records: ['a.json a:one'],
        faults: [fault('b.json', 'name: "a" is already taken', 'name')],
      },
      ['a.json a in-force*', 'b.json a shadowed: name: "a" is already taken'],
    ],
    [
      'is held back when its rollout failed',
      { files: { 'a.json': 'a:one' }, records: ['a.json a:one'], heldBack: { a: 'no progress' } },
      ['a.json a held-back*: no progress'],
    ],
    [
      'is a conflict before all else',
      {
        files: { 'a.json': '!', 'b.json': 'b:two' },
        records: ['b.json b:one'],
        heldBack: { b: 'no progress' },
        conflicts: { 'a.json': 'changed on n2 too', 'b.json': 'changed on n3 too' },
      },
      ['a.json null conflict: changed on n2 too', 'b.json b conflict*: changed on n3 too'],
    ],
    [
      'is pending when the file is gone, and says whether that waits for a word',
      { records: ['a.json a:one', 'b.json b:one n1 waits'] },
      [
        'a.json a pending*: is gone; what it said is in force until Drover has seen that',
        'b.json b pending* waits: is gone, as most others are; what it said goes with `config reload --confirm`',
      ],
    ],
    [
      'is that of the record where another node brought it, also with a file here of the same name',
      {
        files: { 'a.json': 'x:one', 'c.json': 'c:one', 'd.json': 'd:two' },
        records: ['a.json a:one n2', 'a.json x:one', 'b.json b:one n2', 'c.json c:one n2', 'd.json d:one n2'],
        heldBack: { b: 'no progress' },
      },
      [
        'a.json x in-force*',
        'a.json a in-force*@n2',
        'b.json b held-back*@n2: no progress',
        'c.json c in-force*',
        'd.json d pending*',
      ],
    ],
    [
      'is that of the file that says the name now, after a file was renamed',
      {
        files: { 'four.json': 'h4:one', 'six.json': 'h6:two' },
        records: ['h4.json h4:one', 'h5.json h5:one', 'h6.json h6:one'],
      },
      [
        'four.json h4 in-force*',
        'h5.json h5 pending*: is gone; what it said is in force until Drover has seen that',
        'six.json h6 pending*',
      ],
    ],
  ])('%s', (_what, world, expected) => {
    expect(states(world)).toEqual(expected);
  });
});
