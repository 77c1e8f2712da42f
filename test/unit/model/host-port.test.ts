/** Which hosts are always this machine. */
import { expect, it } from 'vitest';
import { isLoopback, parseHostPort } from '../../../src/model/plain/host-port.js';

it.each([
  ['127.0.0.1:6000', true],
  ['127.8.9.10:6000', true],
  ['localhost:6000', true],
  ['a.localhost:6000', true],
  ['[::1]:6000', true],
  ['10.0.0.1:6000', false],
  ['127.0.0.1.example:6000', false],
  ['[2001:db8::1]:6000', false],
])('tells whether %s is this machine: %s', (address, isSo) => {
  expect(isLoopback(parseHostPort(address)?.host ?? '')).toBe(isSo);
});
