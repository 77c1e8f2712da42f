/** Where a node listens: never on more than its `address` and `bindAddress` ask for. */
import { expect, test } from 'vitest';
import { bindAddressOf } from '../../../src/api/http/bind-address.js';
import { nodeConfigurationSchema } from '../../../src/model/node.js';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'db.example': ['192.0.2.1', '2001:db8::1'],
  'my-loopback': ['127.0.0.1', '::1'],
  'debians-own-name': ['127.0.1.1'],
};

const bound = (fields: object): Promise<string> =>
  bindAddressOf(nodeConfigurationSchema.parse(fields), async (name) => {
    const found = NAMES[name];
    if (found === undefined) throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    return found;
  });

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['127.1.2.3', '127.1.2.3'],
  ['localhost', '127.0.0.1'],
  ['LocalHost.', '127.0.0.1'],
  ['api.localhost', '127.0.0.1'],
  ['::1', '::1'],
  ['0:0:0:0:0:0:0:1', '0:0:0:0:0:0:0:1'],
  ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
  ['192.0.2.1', '0.0.0.0'],
  ['2001:db8::1', '::'],
  ['db.example', '0.0.0.0'],
  ['my-loopback', '127.0.0.1'],
  ['debians-own-name', '0.0.0.0'],
])('address %s listens on %s', async (address, expected) => {
  expect(await bound({ address })).toBe(expected);
});

test('bindAddress goes before address', async () => {
  expect(await bound({ address: '192.0.2.1', bindAddress: '192.0.2.7' })).toBe('192.0.2.7');
});

test('a name that does not resolve is refused, and listens nowhere', async () => {
  for (const field of ['address', 'bindAddress'])
    await expect(bound({ [field]: 'nowhere.invalid' })).rejects.toMatchObject({
      code: 'DRV_NODE_CONFIG_INVALID',
      message: expect.stringMatching(
        new RegExp(`^config.json: ${field}: the host name nowhere.invalid does not resolve \\(.+\\); `),
      ),
    });
});
