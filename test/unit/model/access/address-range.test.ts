/** Ranges of addresses: who is in them, and which texts are none. */
import { expect, it } from 'vitest';
import { AddressRanges } from '../../../../src/model/access/address-range.js';
import { addressRangeSchema } from '../../../../src/model/access/api-key.js';

it.each<[range: string, inside: string[], outside: string[]]>([
  [
    '10.0.0.0/8',
    ['10.1.2.3', '::ffff:10.1.2.3', '::FFFF:10.0.0.0'],
    ['11.0.0.1', '::ffff:11.0.0.1', '::1', ''],
  ],
  ['192.0.2.7', ['192.0.2.7', '::ffff:192.0.2.7'], ['192.0.2.8']],
  ['2001:db8::/32', ['2001:db8::1', '2001:0db8:ffff::'], ['2001:db9::1', '10.0.0.1']],
  ['fe80::/10', ['fe80::1%eth0'], ['fec0::1']],
  ['::1', ['::1'], ['::2', '127.0.0.1']],
  ['::/0', ['2001:db8::1'], ['10.0.0.1', '::ffff:10.0.0.1']],
  ['0.0.0.0/0', ['10.0.0.1', '::ffff:10.0.0.1'], ['2001:db8::1']],
  ['::ffff:10.0.0.0/104', ['10.1.1.1', '::ffff:10.1.1.1'], ['11.1.1.1']],
])('%s holds %j and not %j', (range, inside, outside) => {
  const ranges = new AddressRanges([range]);
  expect(inside.filter((address) => !ranges.has(address))).toEqual([]);
  expect(outside.filter((address) => ranges.has(address))).toEqual([]);
});

it('of several ranges one is enough', () => {
  const ranges = new AddressRanges(['10.0.0.0/8', '::1']);
  expect(['10.0.0.1', '::1', '::2'].map((address) => ranges.has(address))).toEqual([true, true, false]);
});

it.each([
  '',
  'localhost',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0/8',
  '::1/129',
  'fe80::1%eth0',
  '::ffff:10.0.0.0/8',
  '10.0.0.0 /8',
])('refuses %j as a range', (text) => {
  expect(addressRangeSchema.safeParse(text).success).toBe(false);
  expect(() => new AddressRanges([text])).toThrow('must be an address or a range');
});
