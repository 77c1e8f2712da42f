/** The node's config.json: its defaults, and what an operator reads when it is wrong. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import {
  changeMainConfiguration,
  dropJoinToken,
  loadMainConfiguration,
  parseMainConfiguration,
} from '../../../src/node/main-configuration.js';

function refusalOf(text: string): string {
  try {
    parseMainConfiguration('config.json', text);
  } catch (error) {
    if (DroverError.is(error, 'DRV_NODE_CONFIG_INVALID')) return error.message;
    throw error;
  }
  throw new Error('the text was accepted');
}

describe('the text of config.json', () => {
  test('may be empty of fields: all have defaults', () => {
    expect(parseMainConfiguration('config.json', '\uFEFF{}')).toMatchObject({
      address: '127.0.0.1',
      port: 6000,
      apiPort: 7000,
      clusterName: 'drover',
      isMasterNode: true,
      instanceLogs: { segmentMB: 8, segments: 4 },
    });
  });

  test('may hold nulls, which are as if the fields were not there', () => {
    const text = '{"apiPort": null, "joinToken": null, "instanceLogs": {"segmentMB": null, "segments": 2}}';
    expect(parseMainConfiguration('config.json', text)).toEqual(
      parseMainConfiguration('config.json', '{"instanceLogs": {"segments": 2}}'),
    );
  });

  test.each([
    [
      '{\n  "apiPort": "7000"\n}',
      'config.json:2:14: apiPort: must be a whole number from 1 to 65535, is "7000"',
    ],
    ['{"apiPort": 0}', 'config.json:1:13: apiPort: must be a whole number from 1 to 65535, is 0'],
    [
      '{"logLevel": "loud"}',
      'config.json:1:14: logLevel: must be one of "trace", "debug", "info", "warn", "error", is "loud"',
    ],
    ['{"isMasterNode": "true"}', 'config.json:1:18: isMasterNode: must be true or false, is "true"'],
    ['{"maxRamMB": 0.5}', 'config.json:1:14: maxRamMB: must be a whole number of at least 1, is 0.5'],
    ['{"masterAddress": ""}', 'config.json:1:19: masterAddress: must be a text that is not empty, is ""'],
    [
      '{"instanceLogs": {"segments": 1}}',
      'config.json:1:31: instanceLogs.segments: must be a whole number from 2 to 64, is 1',
    ],
    ...[
      'not a host',
      'http://a',
      '10.0.0.1:6000',
      '[::1]',
      '10.0.0',
      '999.1.1.1',
      'a..b',
      '-a',
      '*',
      'a/b',
    ].map((address): [string, string] => [
      JSON.stringify({ address }),
      `config.json:1:12: address: must be an IP address or a host name, without scheme, port or brackets, is "${address}"`,
    ]),
    ['{"apiTls": "yes"}', 'config.json:1:12: apiTls: must be "cluster" or an object in { }, is "yes"'],
    [
      '{"apiTls": {"certificate": "a.pem"}}',
      'config.json:1:12: apiTls.key: must be a text that is not empty, is missing',
    ],
    [
      '{"apiTls": {"certificate": "a.pem", "key": "b.pem", "keys": 1}}',
      'config.json:1:53: apiTls.keys: unknown field; did you mean "key"?',
    ],
    [
      '{"apiNames": ["https://a"]}',
      'config.json:1:15: apiNames[0]: must be an IP address or a host name, without scheme, port or brackets, is "https://a"',
    ],
    [
      '{"bindAddress": "*"}',
      'config.json:1:17: bindAddress: must be an IP address or a host name, without scheme, port or brackets, is "*"',
    ],
    [
      '{"masterAddress": "a b"}',
      'config.json:1:19: masterAddress: must be an IP address or a host name, without scheme, port or brackets, is "a b"',
    ],
    [
      '{"port": 7000}',
      'config.json:1:10: port: must differ from apiPort: nodes connect to port, clients to apiPort, is 7000',
    ],
    [
      '{"apiPort": 6000}',
      'config.json:1:13: apiPort: must differ from port: nodes connect to port, clients to apiPort, is 6000',
    ],
    ['{"apiport": 1}', 'config.json:1:2: apiport: unknown field; did you mean "apiPort"?'],
    ['{"clustername": "x"}', 'config.json:1:2: clustername: unknown field; did you mean "clusterName"?'],
    [
      '{"instanceLogs": {"segmentMb": 1}}',
      'config.json:1:19: instanceLogs.segmentMb: unknown field; did you mean "segmentMB"?',
    ],
    [
      '{"__proto__": {}}',
      /^config\.json:1:2: __proto__: unknown field; known fields: address, port, apiPort, .*logLevel$/,
    ],
    [
      '{"colour": 1}',
      /^config\.json:1:2: colour: unknown field; known fields: address, port, apiPort, .*logLevel$/,
    ],
    ['[]', 'config.json:1:1: the configuration must be an object in { }, is a list of 0 entries'],
    ['{"port": 1,}', 'config.json:1:11: not valid JSON: no comma is allowed before "}"'],
    [
      '{\n "port": 1 // cluster\n}',
      'config.json:2:12: not valid JSON: expected "," or "}", found a comment, which JSON does not allow',
    ],
  ])('%s', (text, expected) => {
    if (typeof expected === 'string') expect(refusalOf(text)).toBe(expected);
    else expect(refusalOf(text)).toMatch(expected);
  });

  test.each([
    '10.0.0.1',
    '::',
    'fe80::1%eth0',
    '2001:db8::1',
    'web-1',
    'db_1.lan.',
    '3com.example',
    'xn--bcher-kva.ch',
  ])('takes the address %s', (address) => {
    const fields = { address, bindAddress: address, masterAddress: address };
    expect(parseMainConfiguration('config.json', JSON.stringify(fields))).toMatchObject(fields);
  });

  test('may give a wrapper, which listens on neither, the same two ports', () => {
    const fields = { isMasterNode: false, port: 7000 };
    expect(parseMainConfiguration('config.json', JSON.stringify(fields))).toMatchObject(fields);
  });

  test('is told every fault, a line each', () => {
    expect(refusalOf('{"port": 0,\n"nodeId": "a b",\n"colr": 1}').split('\n')).toEqual([
      'config.json:1:10: port: must be a whole number from 1 to 65535, is 0',
      expect.stringMatching(/^config\.json:2:11: nodeId: must start with a letter or digit.*, is "a b"$/),
      expect.stringMatching(/^config\.json:3:1: colr: unknown field; known fields: /),
    ]);
  });

  test('never shows the join token', () => {
    expect(refusalOf('{"joinToken": 123456789}')).toBe(
      'config.json:1:15: joinToken: must be a text that is not empty, is a number',
    );
  });
});

describe('the file', () => {
  let directory: string;
  let file: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'drover-config-'));
    file = join(directory, 'config.json');
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  test('is written with all defaults, for its owner only, when it is missing', async () => {
    const configuration = await loadMainConfiguration(file);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(configuration);
    expect(await readFile(file, 'utf8')).toMatch(/^\{\n {2}"address": "127.0.0.1",\n/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await loadMainConfiguration(file)).toEqual(configuration);
    expect(await readdir(directory)).toEqual(['config.json']);
  });

  test('is never changed when it exists', async () => {
    await writeFile(file, '{"port": 6001}');
    expect((await loadMainConfiguration(file)).port).toBe(6001);
    expect(await readFile(file, 'utf8')).toBe('{"port": 6001}');
  });

  test('with a join token is refused while others can read it', async () => {
    await writeFile(file, '{"joinToken": "s3cret"}');
    await chmod(file, 0o644);
    await expect(loadMainConfiguration(file)).rejects.toThrow(
      `has mode 644: other users can read it; run: chmod 600 '${file}'`,
    );
    await chmod(file, 0o600);
    expect((await loadMainConfiguration(file)).joinToken).toBe('s3cret');
  });

  test('that is a directory is refused', async () => {
    await mkdir(file);
    await expect(loadMainConfiguration(file)).rejects.toMatchObject({
      code: 'DRV_NODE_CONFIG_INVALID',
      message: `${file} is not a regular file`,
    });
  });
});

describe('a change of config.json', () => {
  let file: string;

  beforeEach(() => {
    file = join(mkdtempSync(join(tmpdir(), 'drover-config-')), 'config.json');
  });

  afterEach(() => rmSync(join(file, '..'), { recursive: true, force: true }));

  test('makes a private file with every default', async () => {
    const changed = await changeMainConfiguration(file, { isMasterNode: false, joinToken: 'secret' });
    expect(changed).toMatchObject({ isMasterNode: false, port: 6000 });
    expect(await loadMainConfiguration(file)).toEqual(changed);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('makes a file private that gets a join token, and of another takes the rights of other users', async () => {
    await writeFile(file, '{}');
    await chmod(file, 0o664);
    await changeMainConfiguration(file, { nodeId: 'beta' });
    expect(statSync(file).mode & 0o777).toBe(0o660);
    const changed = await changeMainConfiguration(file, { joinToken: 'secret' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await loadMainConfiguration(file)).toEqual(changed);
  });

  test('keeps what the file says of other fields, and refuses what is wrong', async () => {
    await writeFile(file, '{"maxRamMB": 123, "nodeId": "alpha"}', { mode: 0o600 });
    await changeMainConfiguration(file, { nodeId: 'beta' });
    expect(await loadMainConfiguration(file)).toMatchObject({ maxRamMB: 123, nodeId: 'beta' });
    await expect(changeMainConfiguration(file, { nodeId: 'a b' })).rejects.toMatchObject({
      code: 'DRV_NODE_CONFIG_INVALID',
    });
    expect(await loadMainConfiguration(file)).toMatchObject({ nodeId: 'beta' });
  });

  test('takes a used join token out, and nothing else', async () => {
    await writeFile(file, '\uFEFF{"joinToken": "secret", "nodeId": "alpha"}', { mode: 0o600 });
    await dropJoinToken(file);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ nodeId: 'alpha' });
    const text = await readFile(file, 'utf8');
    await dropJoinToken(file);
    expect(await readFile(file, 'utf8')).toBe(text);
  });
});
