/** Which configurations are accepted, and what an operator reads about a wrong file or API body. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseConfigurationFile, validateConfiguration } from '../../../src/configuration-files/parse.js';
import type { ConfigurationFileError } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import { NULL_FIELDS } from '../../support/null-fields.js';

function errorOf(text: string): ConfigurationFileError {
  const result = parseConfigurationFile('hello.json', text);
  if ('error' in result) return result.error;
  throw new Error('the text was accepted');
}

function lineOf(text: string): string {
  const { line, column, field, message } = errorOf(text);
  return `${line}:${column} ${field ?? '-'} | ${message}`;
}

function refusalOf(name: string, input: unknown): string {
  try {
    validateConfiguration(name, input);
  } catch (error) {
    if (DroverError.is(error, 'DRV_CONFIGURATION_INVALID')) return error.message;
    throw error;
  }
  throw new Error('the body was accepted');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const parsed = (text: string) => {
  const result = parseConfigurationFile('hello.json', text);
  if ('parsed' in result) return result.parsed;
  throw new Error(result.error.message);
};

describe('a configuration file', () => {
  test('takes its name from the file when it says none, and fills in the defaults', () => {
    const { configuration, warnings } = parsed('{"command":"sleep 1"}');
    expect(configuration).toMatchObject({
      name: 'hello',
      runtime: 'screen',
      ramMB: 2048,
      minimumServiceCount: 1,
    });
    expect(warnings).toEqual([]);
  });

  test.each([
    ['<<<<<<< HEAD', '{\n  "command": "x",\n<<<<<<< HEAD\n  "cpu": 1\n=======\n  "cpu": 2\n>>>>>>> b\n}', 3],
    ['<<<<<<< ours', '<<<<<<< ours\n{}\n||||||| base\n=======\n>>>>>>> theirs\n', 1],
    ['=======', '{\r\n  "command": "x"\r\n=======\r\n}', 3],
    ['>>>>>>> feature/x', '{ "command": "x"\n>>>>>>> feature/x\n}', 2],
  ])('says that a conflict of git is left in it: %s', (marker, text, line) => {
    expect(lineOf(text)).toBe(
      `${line}:1 - | not valid JSON: a conflict of git is left in it: ${JSON.stringify(marker)}, resolve it`,
    );
  });

  test('says no conflict where none is', () => {
    expect(lineOf('{ "command": <<<<<<< HEAD }')).not.toContain('conflict');
    expect(lineOf('<<<<<<<< HEAD')).not.toContain('conflict');
  });

  test('says that git-lfs has not fetched it', () => {
    expect(lineOf('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n')).toBe(
      '1:1 - | not valid JSON: it is a pointer of git-lfs, not the file itself: run git lfs pull',
    );
  });

  test('is refused when sops has encrypted it, here as over the API', () => {
    const sops = { mac: 'ENC[AES256_GCM,data:x]', version: '3.9.0' };
    const content = { command: 'x', environmentVariables: { TOKEN: 'ENC[AES256_GCM,data:y]' }, sops };
    expect(lineOf(JSON.stringify(content, null, 1))).toMatch(
      /^6:10 sops \| sops: sops has encrypted this configuration, .*: decrypt it first/,
    );
    expect(refusalOf('hello', content)).toContain('decrypt it first');
    expect(parsed('{"command":"x","sops":{"team":"a"}}').warnings).toHaveLength(1);
  });

  test('may begin with a byte order mark', () => {
    expect(parsed('\uFEFF{"command":"x"}').configuration.command).toBe('x');
  });

  test('has the same hash whatever the order of its fields', () => {
    expect(parsed('{"command":"x","cpu":5}').hash).toBe(parsed('{"cpu":5, "command":"x"}').hash);
  });

  test('without a command is told so at its first brace', () => {
    expect(lineOf('\n  {"cpu": 5}')).toBe(
      '2:3 command | command: must be a text of 1 to 65536 characters, is missing',
    );
  });

  test('that is not an object is refused', () => {
    for (const text of ['[]', 'null', '3', '"x"'])
      expect(errorOf(text).message).toBe('a configuration must be an object in { }');
  });
});

describe('a minimum above a maximum', () => {
  test('is refused, and both fields are named', () => {
    expect(lineOf('{"command":"x","minimumServiceCount":5,\n"maximumServiceCount":2}')).toBe(
      '2:23 maximumServiceCount | maximumServiceCount: must be at least minimumServiceCount (5; 1 where the field is missing): raise this or lower that, is 2',
    );
    expect(refusalOf('a', { command: 'x', maximumServiceCount: 0 })).toContain('minimumServiceCount (1;');
  });

  test('is accepted where it is none', () => {
    for (const fields of [{ minimumServiceCount: 2 }, { minimumServiceCount: 0, maximumServiceCount: 0 }])
      expect(validateConfiguration('a', { command: 'x', ...fields }).configuration).toMatchObject(fields);
  });
});

describe('a wrong field is named with line, column, accepted values and what it is', () => {
  test.each([
    [
      '{\n  "command": "x",\n  "availablePorts": {\n    "min": "abc",\n    "max": 9\n  }\n}',
      '4:12 availablePorts.min | availablePorts.min: must be a whole number from 1 to 65535, is "abc"',
    ],
    [
      '{"command":"x",\n"templateInstallationConfig":{"allOf":[{"name":"a","group":"g"},\n{"name":"b","group":"g","priority":"high"}]}}',
      '3:36 templateInstallationConfig.allOf[1].priority | templateInstallationConfig.allOf[1].priority: must be a whole number from -1000000 to 1000000, is "high"',
    ],
    [
      '{"command":"x",\n"nodes":["a",\n"b c"]}',
      /^3:1 nodes\[1\] \| nodes\[1\]: must start with a letter or digit .*, is "b c"$/,
    ],
    ['{"command":"x","nodes":"a"}', '1:24 nodes | nodes: must be a list of at most 4096 entries, is "a"'],
    [
      '{"command":"x","minimumServiceCount":-1}',
      '1:38 minimumServiceCount | minimumServiceCount: must be a whole number from 0 to 100000, is -1',
    ],
    ['{"command":"x","ramMB":1.5}', '1:24 ramMB | ramMB: must be a whole number from 1 to 16777216, is 1.5'],
    [
      '{"command":"x","ramMB":1e400}',
      '1:24 ramMB | ramMB: must be a whole number from 1 to 16777216, is too large',
    ],
    ['{"command":"x","static":"yes"}', '1:25 static | static: must be true or false, is "yes"'],
    [
      '{"command":"x","availablePorts":{"min":9,"max":8}}',
      '1:40 availablePorts.min | availablePorts.min: must not be greater than max, is 9',
    ],
    ['{"command":"x","name":"../x"}', /^1:23 name \| name: must start with .*, is "\.\.\/x"$/],
    [
      '{"command":"x","properties":{"a b":"v"}}',
      /^1:30 properties\["a b"\] \| .*key must start with a letter/,
    ],
    ['{"command":"x","fileModifications":["a/../b"]}', /fileModifications\[0\]: must be a relative path/],
  ])('%s', (text, expected) => {
    if (typeof expected === 'string') expect(lineOf(text)).toBe(expected);
    else expect(lineOf(text)).toMatch(expected);
  });

  test('the first fault in the text comes first, and the others are told too', () => {
    expect(lineOf('{"cpu":"a",\n"command":3,"ramMB":0}')).toBe(
      '1:8 cpu | cpu: must be a whole number from 0 to 1000000, is "a"; ' +
        'command: must be a text of 1 to 65536 characters, is 3; ramMB: must be a whole number from 1 to 16777216, is 0',
    );
  });

  test('values that may be secrets are never repeated', () => {
    const text =
      '{"command":"x","environmentVariables":{"TOKEN":"s3cret\\u0000"},"properties":{"key":12345}}';
    expect(errorOf(text).message).toContain('environmentVariables.TOKEN: must not contain a NUL character');
    expect(errorOf(text).message).toContain(
      'properties.key: must be a text of at most 32768 characters, is a number',
    );
    expect(errorOf(text).message).not.toMatch(/s3cret|12345/);
  });
});

describe('a null', () => {
  const without = {
    command: 'a',
    environmentVariables: { A: 'a' },
    templateInstallationConfig: { allOf: [{ group: 'g', name: 't' }] },
  };

  test('is as if the field were not there, in a body and in a file, and no oddity', () => {
    const expected = validateConfiguration('n', without);
    for (const read of [
      validateConfiguration('n', { ...NULL_FIELDS, name: null }),
      parsed(JSON.stringify({ ...NULL_FIELDS, name: 'n' })),
    ]) {
      expect(read.configuration).toEqual(expected.configuration);
      expect(read.hash).toBe(expected.hash);
      expect(read.warnings).toEqual([]);
    }
  });

  test.each([
    [{ command: null }, 'command: must be a text of 1 to 65536 characters, is missing'],
    [
      { command: 'a', availablePorts: { min: null, max: 5 } },
      'availablePorts.min: must be a whole number from 1 to 65535, is missing',
    ],
    [{ command: 'a', nodes: [null] }, 'nodes[0]: must be a text, is null'],
    [{ command: 'a', update: { maxSurge: null, maxUnavailable: 'x' } }, 'update.maxUnavailable: '],
  ])('for a field that must be there, or in a list, is a fault: %j', (content, message) => {
    expect(() => validateConfiguration('n', content)).toThrow(message);
  });
});

describe('text that is not JSON is told with line and column', () => {
  test.each([
    ['', '1:1 - | not valid JSON: expected a value, found the end of the text'],
    ['{\n  "command": "x",\n}', '2:17 - | not valid JSON: no comma is allowed before "}"'],
    ['{\n  "command": "x"\n  "cpu": 1\n}', '3:3 - | not valid JSON: expected "," or "}", found "\\""'],
    [
      '{\n // why\n}',
      '2:2 - | not valid JSON: expected a field name in double quotes, found a comment, which JSON does not allow',
    ],
    [
      "{'a':1}",
      '1:2 - | not valid JSON: expected a field name in double quotes, found a single quote (JSON wants double quotes)',
    ],
    ['{"a":01}', '1:7 - | not valid JSON: expected "," or "}", found "1"'],
    ['{"a":.5}', '1:6 - | not valid JSON: expected a value, found "."'],
    [
      '{"a":"b\nc"}',
      '1:8 - | not valid JSON: a text must not hold a raw line break or control character (write \\n)',
    ],
    ['{"a":"b\\x"}', '1:8 - | not valid JSON: unknown escape in a text (write \\\\ for a backslash)'],
    ['{"a":"b', '1:6 - | not valid JSON: a text is not closed with a double quote'],
    ['{"a":1} x', '1:9 - | not valid JSON: expected the end of the text, found "x"'],
    ['{"a":1,"a":2}', '1:8 - | not valid JSON: the field "a" is given twice'],
    ['{"a"', '1:5 - | not valid JSON: expected ":" after the field name, found the end of the text'],
  ])('%j', (text, expected) => {
    expect(lineOf(text)).toBe(expected);
  });

  test('agrees with JSON.parse about what is JSON', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u00e9"',
      '-1',
      '0',
      '1e5',
      '-',
      'true',
      'null',
      'nul',
      ' ',
      '\n',
      '\\',
    ];
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const result = parseConfigurationFile('hello.json', text);
        const fault = 'error' in result && result.error.message.startsWith('not valid JSON');
        const isGivenTwice = 'error' in result && result.error.message.includes('is given twice');
        // A key given twice is told at once, whatever follows.
        expect(fault).toBe(isGivenTwice || !isJson(text));
      }),
      { numRuns: 3000 },
    );
  });

  test('ten thousand levels are an error, not a crash', () => {
    const text = `{"command":"x","a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    expect(lineOf(text)).toBe('1:84 - | not valid JSON: nested deeper than 64 levels');
  });

  test('a text of a megabyte is read without exhausting the stack', () => {
    expect(errorOf(`{"command":"${'\\n'.repeat(500_000)}"}`).message).toMatch(
      /1 to 65536 characters, is a text of 500000/,
    );
  });
});

describe('keys that reach a prototype', () => {
  test.each(['__proto__', 'constructor', 'prototype'])('%s is refused at every level of a file', (key) => {
    expect(lineOf(`{"command":"x",\n"${key}":{"cpu":1}}`)).toBe(
      `2:1 ${key} | ${key}: this key is not allowed`,
    );
    expect(errorOf(`{"command":"x","properties":{"${key}":"1"}}`).field).toBe(`properties.${key}`);
    expect(errorOf(`{"command":"x","other":[{"${key}":1}]}`).field).toBe(`other[0].${key}`);
  });

  test.each(['__proto__', 'constructor', 'prototype'])('%s is refused in a body', (key) => {
    const body: unknown = JSON.parse(`{"command":"x","properties":{"${key}":"1"}}`);
    expect(refusalOf('hello', body)).toBe(`properties.${key}: this key is not allowed`);
  });
});

describe('an API body', () => {
  test('takes the name of the path', () => {
    const { configuration, warnings } = validateConfiguration('web', { command: 'x', extra: true });
    expect(configuration.name).toBe('web');
    expect(warnings.map(({ field }) => field)).toEqual(['extra']);
  });

  test('goes under the name of the path, whatever name it has', () => {
    const { configuration } = validateConfiguration('web', { name: 'api', command: 'x' });
    expect(configuration.name).toBe('web');
  });

  test('names every field that is wrong', () => {
    expect(refusalOf('web', { command: '', cpu: -1 })).toBe(
      'command: must be a text of 1 to 65536 characters, is ""; cpu: must be a whole number from 0 to 1000000, is -1',
    );
  });

  test('under a name that is no name is refused', () => {
    expect(refusalOf('a/b', { command: 'x' })).toMatch(/^name: must start with a letter or digit/);
  });

  test.each([[null], [[]], ['x'], [3], [undefined]])('%j is not a configuration', (input) => {
    expect(refusalOf('web', input)).toBe('a configuration must be an object in { }');
  });

  test('with half of a surrogate pair is refused, because it would be stored changed', () => {
    expect(refusalOf('web', { command: 'echo \ud800' })).toBe(
      'command: must not hold half of a surrogate pair',
    );
  });

  test('nested ten thousand levels deep is refused', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level++) deep = [deep];
    expect(refusalOf('web', { command: 'x', deep })).toContain('nested deeper than 64 levels');
  });
});
