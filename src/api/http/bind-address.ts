/** Chooses the interface that a node listens on. */
import { isIPv6 } from 'node:net';
import type { NodeConfiguration } from '../../model/node.js';

/** `bindAddress` where it is set. Else loopback for a loopback `address`, and all interfaces for any other. */
export function bindAddressOf({ bindAddress, address }: NodeConfiguration): string {
  if (bindAddress !== undefined) return bindAddress;
  if (address === 'localhost') return '127.0.0.1';
  if (address === '::1' || address.startsWith('127.')) return address;
  return isIPv6(address) ? '::' : '0.0.0.0';
}
