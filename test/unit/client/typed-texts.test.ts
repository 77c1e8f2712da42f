/** What people type: addresses, fingerprints, keys; and what is said of versions. */
import { describe, expect, it } from 'vitest';
import { checkKey } from '../../../src/client/connection/key-source.js';
import { isInClear, parseMasterUrl } from '../../../src/client/connection/master-url.js';
import { parseFingerprint } from '../../../src/client/connection/trust.js';
import { checkContextName, entryOf, targetOfContext } from '../../../src/client/contexts/context.js';
import { skewText } from '../../../src/client/contexts/version-skew.js';

describe('the address of a master', () => {
  it.each([
    ['https://m.example:7000', 'https://m.example:7000'],
    ['HTTPS://M.example:443/', 'https://m.example'],
    ['http://127.0.0.1:7000/api', 'http://127.0.0.1:7000'],
    ['https://m.example/drover/api/', 'https://m.example/drover'],
    ['http://[::1]:7000', 'http://[::1]:7000'],
  ])('%s is %s', (text, url) => {
    expect(parseMasterUrl(text, '--url')).toBe(url);
  });

  it.each([
    '',
    'm.example',
    'm.example:7000',
    'ftp://m',
    'https://',
    'https://m/?a=b',
    'https://m/#a',
    'https://u:hunter2@m',
  ])('is not %j, and a password in it is not repeated', (text) => {
    let message = '';
    try {
      parseMasterUrl(text, '--url');
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/--url must/);
    expect(message).not.toContain('hunter2');
  });

  it.each([
    ['http://127.0.0.1', false],
    ['http://127.8.9.1:7000', false],
    ['http://localhost:7000', false],
    ['http://a.localhost', false],
    ['http://[::1]', false],
    ['https://m.example', false],
    ['http://m.example', true],
    ['http://0.0.0.0', true],
    ['http://127.example', true],
    ['http://localhost.example', true],
  ])('%s: the key in clear: %s', (url, isClear) => {
    expect(isInClear(url)).toBe(isClear);
  });
});

describe('a fingerprint', () => {
  const hex = '0123456789abcdef'.repeat(4);
  const pairs = hex.toUpperCase().match(/../g)?.join(':') ?? '';
  it.each([hex, pairs, `SHA256:${hex}`, `sha256 Fingerprint=${pairs}`, `SHA-256 ${pairs}`, ` ${hex}\n`])(
    'may be %j',
    (text) => {
      expect(parseFingerprint(text)).toBe(pairs);
    },
  );
  it.each(['', hex.slice(1), `${hex}0`, hex.replace('0', 'g'), `MD5 ${hex}`])('is not %j', (text) => {
    expect(parseFingerprint(text)).toBeUndefined();
  });
});

describe('a key', () => {
  it('is one line without blanks, and is never in the refusal', () => {
    expect(checkKey(' drv_abcdefgh\n', 'it')).toBe('drv_abcdefgh');
    for (const text of ['', 'drv_abc def', 'drv_secret\ndrv_secret', 'drv_sécret', 'short', 'x'.repeat(600)])
      expect(() => checkKey(text, 'it')).toThrow(
        /^it is (?:empty|no key: one line is expected, of the form drv_...)$/,
      );
  });
});

describe('a context', () => {
  it.each(['prod', 'a.b-c_d', '9'])('may be called %s', (name) =>
    expect(() => checkContextName(name)).not.toThrow(),
  );
  it.each(['', '-a', 'a b', 'a/b', '__proto__', 'a'.repeat(65)])('may not be called %j', (name) => {
    expect(() => checkContextName(name)).toThrow(/cannot be named/);
  });

  it.each([
    [{ kind: 'file', path: '/k' } as const],
    [{ kind: 'command', words: ['pass', 'x'] } as const],
    [{ kind: 'text', key: 'drv_abcdefgh', from: 'the key of context a' } as const],
  ])('reads what was written of %j', (key) => {
    const target = {
      url: 'https://m',
      key,
      trust: { kind: 'file', path: '/ca', from: 'the CA file of context a' } as const,
    };
    expect(targetOfContext('a', JSON.parse(JSON.stringify(entryOf(target))))).toMatchObject(target);
  });

  it.each([
    [7],
    [{ key: 'k' }],
    [{ url: 'https://m', key: 'k', keyFile: '/k' }],
    [{ url: 'https://m', keyFile: 'relative' }],
    [{ url: 'https://m', keyCommand: 'a b' }],
    [{ url: 'https://m', key: 'k', caFile: '/a', certificate: 'b' }],
    [{ url: 'https://m', key: 'k', certificate: 'no PEM' }],
  ])('is refused when it is %j', (entry) => {
    expect(() => targetOfContext('a', entry)).toThrow(/^context a: /);
  });
});

describe('two versions', () => {
  it.each([
    ['0.2.0', '0.2.9', undefined],
    ['0.2.0', '0.1.0', 'this client is 0.2.0, the master 0.1.0: the master may lack what this client offers'],
    ['0.1.0', '0.2.0', 'this client is 0.1.0, the master 0.2.0: this client may lack what the master offers'],
    [
      '0.3.0',
      '0.1.0',
      'this client is 0.3.0, the master 0.1.0: more than one minor version lies between them, and commands may fail; the master may lack what this client offers',
    ],
    ['1.0.0', '0.9.0', expect.stringContaining('more than one minor version')],
    ['unknown', '0.9.0', undefined],
  ])('%s and %s', (client, master, text) => {
    expect(skewText(client, master)).toEqual(text);
  });
});
