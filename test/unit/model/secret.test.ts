/** Names and values of secrets, and the references of configurations to them. */
import { describe, expect, it } from 'vitest';
import { configurationSchema, unknownFields } from '../../../src/model/configuration.js';
import {
  secretNameSchema,
  secretsIn,
  secretsOf,
  secretText,
  unknownSecrets,
} from '../../../src/model/fields/secret.js';
import { substitute, withSecrets } from '../../../src/runtime/command/variables.js';

const parse = (fields: object) => configurationSchema.safeParse({ name: 'lobby', command: 'run', ...fields });

describe('secrets', () => {
  it.each(['db', 'db/password', 'a.b/c_d/e-f', '9'])('may be called %s', (name) => {
    expect(secretNameSchema.safeParse(name).success).toBe(true);
    expect(secretsIn(`<%SECRET:${name}%>`)).toEqual([name]);
  });

  it.each(['', '/db', 'db/', 'a//b', '../x', 'a b', 'a%b', '.hidden', 'a'.repeat(129)])(
    'may not be called %j',
    (name) => expect(secretNameSchema.safeParse(name).success).toBe(false),
  );

  it('take the place of their variables once, and unknown ones stay', () => {
    const variables = withSecrets(
      new Map([['PORT', '1']]),
      new Map([
        ['a', '%SECRET:b%'],
        ['b', 'x'],
      ]),
    );
    expect(substitute('%SECRET:a% %PORT% %SECRET:c% 5%', variables)).toBe('%SECRET:b% 1 %SECRET:c% 5%');
  });

  it('keep the lines of a text, and lose the line end of a single line', () => {
    expect(secretText('word\n')).toBe('word');
    expect(secretText('word\r\n')).toBe('word');
    expect(secretText('a\nb\n')).toBe('a\nb\n');
    expect(() => secretText(Buffer.from([0xff]).toString())).toThrow('base64');
    expect(() => secretText('\n')).toThrow('1 to 32768 bytes');
    expect(() => secretText('a\0b')).toThrow('NUL');
  });

  it('are referred to in the environment, in edits and files', () => {
    const content = configurationSchema.parse({
      name: 'lobby',
      command: 'run',
      environmentVariables: { A: 'x%SECRET:a%' },
      fileEdits: [{ path: 'b', format: 'ini', set: { b: '%SECRET:db/b%', c: 5 } }],
      secretFiles: [{ secret: 'c', path: 'c' }],
    });
    expect([...secretsOf(content)]).toEqual(['a', 'db/b', 'c']);
    expect(unknownSecrets(content, (name) => name === 'a').map(({ field }) => field)).toEqual([
      'fileEdits',
      'secretFiles',
    ]);
    expect(content.secretFiles?.[0]?.mode).toBe('0400');
  });

  it.each([
    { command: 'run --password %SECRET:a%' },
    { prepare: [{ command: 'login %SECRET:a%' }] },
    { after: [{ command: 'login %SECRET:a%' }] },
  ])('are refused in arguments: %j', (fields) => {
    const [issue] = parse(fields).error?.issues ?? [];
    expect(issue?.message).toContain('must not hold %SECRET:a%: other users of the machine see');
    expect(issue?.path).toEqual([Object.keys(fields)[0]]);
  });

  it('need a node that knows them, also for a variable alone', () => {
    const content = configurationSchema.parse({
      name: 'lobby',
      command: 'run',
      environmentVariables: { A: '%SECRET:a%' },
    });
    expect(unknownFields(content)).toEqual(['secretFiles']);
    expect(unknownFields(content, ['secretFiles'])).toEqual([]);
  });
});
