/**
 * A GET request that can be kept from private addresses. The address is checked when the connection is made, so a name
 * that resolves differently each time gets nowhere.
 */
import { lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** The networks outside of the public internet: this machine, local networks, and those for special use. */
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
/** The private networks of IPv6. The last three can carry an IPv4 address, or a local address. */
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

/** Thrown instead of sending a request to a private address. */
export class PrivateAddress extends Error {
  readonly ip: string;

  constructor(ip: string) {
    super(`${ip} is a private address`);
    this.ip = ip;
  }
}

/**
 * Resolves with the answer, whatever its status; its body is not read yet. Follows no redirect. Throws PrivateAddress
 * unless `mayBePrivate`, and the reason why the server cannot be reached.
 */
export function requestFile(url: URL, mayBePrivate: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const ip = url.hostname.replace(/^\[|\]$/g, '');
    // A literal address causes no lookup, so check it here.
    if (!mayBePrivate && isPrivateIp(ip)) throw new PrivateAddress(ip);
    const options: RequestOptions = {
      // A new connection for each request, because a shared connection would not be looked up again.
      agent: false,
      headers: { 'accept-encoding': 'identity', 'user-agent': 'drover' },
      signal,
      ...(!mayBePrivate && { lookup: lookupPublic }),
    };
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    send(url, options).once('response', resolve).on('error', reject).end();
  });
}

const lookupPublic: LookupFunction = (name, options, callback) => {
  lookup(name, { ...options, all: true }, (error, found) => {
    if (error !== null) return callback(error, []);
    const hidden = found.find(({ address }) => isPrivateIp(address));
    if (hidden !== undefined) return callback(new PrivateAddress(hidden.address), []);
    const [first] = found;
    if (options.all === true || first === undefined) callback(null, found);
    else callback(null, first.address, first.family);
  });
};

/** True for an IP address outside of the public internet, in any notation. */
function isPrivateIp(ip: string): boolean {
  return isIP(ip) !== 0 && PRIVATE.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}
