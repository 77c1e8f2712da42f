/**
 * One GET request that can be kept from private addresses. The address is checked when it is connected to, so a name
 * that resolves differently from one time to the next gets nowhere.
 */
import { lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPrivateIp } from '../../model/address.js';

/** The request was not sent, because it would have gone to this address. */
export class PrivateAddress extends Error {
  readonly ip: string;

  constructor(ip: string) {
    super(`${ip} is a private address`);
    this.ip = ip;
  }
}

/**
 * Resolves with the answer, whatever its status is; its body is not read yet. Follows no redirect. Throws
 * PrivateAddress unless `mayBePrivate`, and the reason why the server cannot be reached.
 */
export function requestFile(url: URL, mayBePrivate: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const ip = url.hostname.replace(/^\[|\]$/g, '');
    // A literal address is not looked up.
    if (!mayBePrivate && isPrivateIp(ip)) throw new PrivateAddress(ip);
    const options: RequestOptions = {
      // A connection of its own: a shared one would not be looked up again.
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
