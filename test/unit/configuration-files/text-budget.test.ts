/** The cost of a text of 1 MiB that a stranger or a key with few rights may send: for each reader, and the worst texts. */
import { describe, expect, test } from 'vitest';
import { readDocuments } from '../../../src/client/configurations/documents.js';
import { FileWarningLog } from '../../../src/configuration-files/file-warnings.js';
import {
  judgeConfigurationText,
  MAX_FILE_BYTES,
  parseConfigurationFile,
  validateConfiguration,
} from '../../../src/configuration-files/parse.js';
import { DroverError } from '../../../src/model/errors.js';
import { parseMainConfiguration } from '../../../src/node/main-configuration.js';
import { excessOf } from '../../support/cpu-time.js';

/** A tenth of what one text cost when the work grew with the square of its faults. Other work on the machine does not count. */
const MOST_CPU_MS = 1000;
const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(',');
const unknown = (count: number, before = ''): string => times(count, (index) => `${before}"u${index}":1`);

const WORST: readonly (readonly [what: string, text: string])[] = [
  ['unknown fields', `{${unknown(80_000)},"command":"x"}`],
  ['unknown fields, as many as may be', `{${unknown(19_900, ' '.repeat(30))},"command":"x"}`],
  ['unknown fields, one a line', `{"command":"x",${unknown(19_900, '\n')}}`],
  ['unknown fields where none is allowed', `{"command":"x","readiness":{${unknown(19_900)}}}`],
  ['entries of a map', `{"command":"x","properties":{${unknown(19_900)}}}`],
  ['wrong keys of a map', `{"command":"x","environmentVariables":{${times(19_900, (i) => `"-${i}":1`)}}}`],
  ['wrong entries of a list', `{"command":"x","nodes":[${times(19_900, () => '1')}]}`],
  [
    'unknown fields in each of many templates',
    `{"command":"x","templateInstallationConfig":{"allOf":[${times(
      256,
      () => `{"name":"a","group":"b",${unknown(70)}}`,
    )}]}}`,
  ],
  ['forbidden keys', `{"command":"x","u":[${times(9900, () => '{"constructor":1}')}]}`],
  ['halves of surrogate pairs', `{"command":"x","u":[${times(19_900, () => '"\\ud800"')}]}`],
  [
    'faults below a long key',
    `{"command":"x","${'k'.repeat(800_000)}":[${times(9_000, () => '{"constructor":1}')}]}`,
  ],
  ['numbers', `{"command":"x","u":[${times(500_000, () => '0')}]}`],
  ['empty lists', `{"command":"x","u":[${times(340_000, () => '[]')}]}`],
  ['nested lists', `{"command":"x","u":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
  ['line breaks', `{"command":"x"${'\n'.repeat(1_000_000)},"u":1}`],
  ['placeholders', `{"command":"${'%PORT%'.repeat(10_000)}","hostAddress":"${'%A%'.repeat(80)}"}`],
];

/** The body of a PUT is parsed before: `body-budget.test.ts` measures that. */
const READERS: readonly (readonly [who: string, readerOf: (text: string) => () => unknown])[] = [
  ['a file', (text) => () => parseConfigurationFile('a.json', text)],
  ['a text that is typed', (text) => () => judgeConfigurationText('a', text)],
  ['the body of a PUT', (text) => validating(JSON.parse(text))],
  ['config.json', (text) => () => refused(() => parseMainConfiguration('config.json', text))],
];

function validating(body: unknown): () => void {
  return () => refused(() => validateConfiguration('a', body));
}

function refused(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
  }
}

describe.each(READERS)('%s', (_who, readerOf) => {
  test.each(WORST)('with many %s is judged in a turn of 50 ms', async (_what, text) => {
    expect(text.length).toBeLessThanOrEqual(MAX_FILE_BYTES);
    expect(await excessOf(readerOf(text))).toBeUndefined();
  });
});

describe('many texts in one', () => {
  const validate = async (text: string) => {
    const before = process.cpuUsage();
    const { valid, faults } = await readDocuments(['-'], async () => text);
    const { user, system } = process.cpuUsage(before);
    return { valid, faults, cpuMs: (user + system) / 1000 };
  };

  test('are read in a second or two, and each fault has its place in the whole', async () => {
    const { valid, faults, cpuMs } = await validate(
      `${'{"name":"a","command":"x","u":1} '.repeat(9998)}\n  {"name":"b","command":"x","cpu":-1}`,
    );
    expect(valid).toHaveLength(1);
    expect(faults).toHaveLength(9998);
    expect(faults.find(({ field }) => field === 'cpu')).toMatchObject({ file: 'stdin', line: 2, column: 35 });
    // Ten thousand whole configurations are judged here.
    expect(cpuMs).toBeLessThan(5 * MOST_CPU_MS);
  });

  test('are told once when they are too many', async () => {
    const { faults, cpuMs } = await validate('{"name":"a","command":"x"} '.repeat(20_000));
    expect(faults).toEqual([
      expect.objectContaining({ line: 1, column: 270_001, message: 'not valid JSON: more than 10000 texts' }),
    ]);
    expect(cpuMs).toBeLessThan(MOST_CPU_MS);
  });

  test('are not judged further after a hundred faulty ones', async () => {
    const { faults, cpuMs } = await validate('{} '.repeat(10_000));
    expect(faults).toHaveLength(101);
    expect(faults.at(-1)?.message).toBe('too many faults: 9900 texts after line 1 were not looked at');
    expect(cpuMs).toBeLessThan(MOST_CPU_MS);
  });
});

describe('of many findings', () => {
  const text = `{"command":"x",${unknown(19_900, '\n')}}`;

  test('the first hundred are told with their places, and the number of the others', () => {
    const { warnings } = judgeConfigurationText('a', text);
    expect(warnings).toHaveLength(100);
    expect(warnings[98]).toMatchObject({ line: 100, column: 1, field: 'u98' });
    expect(warnings[99]?.message).toBe('unknown field, has no effect (and 19800 more)');
    expect(validateConfiguration('a', JSON.parse(text)).warnings).toHaveLength(100);
  });

  test('the log gets a hundred lines for one file', () => {
    const result = parseConfigurationFile('a.json', text);
    if ('error' in result) throw new Error(result.error.message);
    const lines: string[] = [];
    const log = new FileWarningLog({ warn: (_fields: unknown, line?: string) => lines.push(line ?? '') });
    const reading = { kind: 'valid', signature: '', parsed: result.parsed } as const;
    log.tell(new Map([['a.json', reading]]));
    log.tell(new Map([['a.json', reading]]));
    expect(lines).toHaveLength(100);
    expect(lines.at(-1)).toMatch(/^configuration file a\.json:101:1: u99: .* \(and 19800 more\)$/);
  });

  test('a long key is cut in the words', () => {
    const { problems } = judgeConfigurationText(
      'a',
      `{"command":"x","${'k'.repeat(9000)}":{"constructor":1}}`,
    );
    expect(problems[0]?.field.length).toBeLessThan(200);
  });
});
