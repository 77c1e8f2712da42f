/** Which interface a node listens on when `bindAddress` does not say so. */
import { isIPv6 } from 'node:net';
import type { NodeConfiguration } from '../../model/node.js';

/** Loopback when the advertised address is loopback, else all interfaces. */
export function bindAddressOf({ bindAddress, address }: NodeConfiguration): string {
  if (bindAddress !== undefined) return bindAddress;
  if (address === 'localhost') return '127.0.0.1';
  if (address === '::1' || address.startsWith('127.')) return address;
  return isIPv6(address) ? '::' : '0.0.0.0';
}
