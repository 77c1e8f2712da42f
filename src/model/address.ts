/** Addresses in settings: an IP address or a host name, and which of them mean this machine alone. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { z } from 'zod';

/** Underscores are no part of host names, but names of containers have them. */
const LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
const MOST_CHARS = 253;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Networks that are not the public internet: this machine, local ones, and those for special use. */
const PRIVATE = new BlockList();
const PRIVATE_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
];
/** The last three carry an IPv4 address, or a local one, inside. */
const PRIVATE_IPV6: readonly (readonly [string, number])[] = [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
  ['64:ff9b::', 32],
  ['2001::', 32],
  ['2002::', 16],
];
for (const [network, prefix] of PRIVATE_IPV4) PRIVATE.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of PRIVATE_IPV6) PRIVATE.addSubnet(network, prefix, 'ipv6');

export const addressSchema = z
  .string()
  .min(1)
  .refine((text) => text === '' || isIP(text) !== 0 || isHostName(text), {
    error: 'must be an IP address or a host name, without scheme, port or brackets',
  });

/** The form alone; says nothing about whether the name resolves. */
function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  // A last label of digits is an IP address that is wrong: systems read 10.0.0 as 10.0.0.0.
  const isNumeric = /^(?:\d+|0x[0-9a-f]*)$/i.test(labels.at(-1) ?? '');
  return text.length <= MOST_CHARS && !isNumeric && labels.every((label) => LABEL.test(label));
}

/** True for an IP address that only this machine reaches, however it is written. */
export function isLoopbackIp(ip: string): boolean {
  return isIP(ip) !== 0 && LOOPBACK.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}

/** True for an IP address that is not of the public internet, however it is written. */
export function isPrivateIp(ip: string): boolean {
  return isIP(ip) !== 0 && PRIVATE.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}

/** True for the names that mean loopback everywhere, whatever a resolver says. */
export function isLocalhost(name: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(name);
}
