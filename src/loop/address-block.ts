/** Names the block of addresses from which one machine can choose its own, for limits by address. */
import { isIP } from 'node:net';

const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/i;
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * An IPv4 address unchanged; for an IPv6 address its network of 64 bits, because the owner may choose the other half
 * freely.
 */
export function addressBlockOf(address: string): string {
  const plain = address.replace(IPV4_IN_IPV6, '');
  if (isIP(plain) !== 6) return plain;
  const [head = '', tail] = plain.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? 0 : tail.split(':').length;
  const zeros = tail === undefined ? 0 : GROUPS - first.length - last;
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...(tail?.split(':') ?? [])];
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
