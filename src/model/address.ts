/** Addresses in settings: an IP address or a host name, and which of them mean this machine alone. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { z } from 'zod';

/** Underscores are no part of host names, but names of containers have them. */
const LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
const MOST_CHARS = 253;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

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

/** True for the names that mean loopback everywhere, whatever a resolver says. */
export function isLocalhost(name: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(name);
}
