/** The address of a master, as people type it. */
import { usageError } from '../../command-tree/runs/client-error.js';
import { attempt } from '../../model/plain/attempt.js';
import { isLoopback } from '../../model/plain/host-port.js';

/**
 * Returns the URL without a slash at its end and without `/api`. The URL may have a path, for a proxy. `from` begins
 * the messages, such as `--url`. Throws a ClientError for usage.
 */
export function parseMasterUrl(text: string, from: string): string {
  const example = 'such as https://master.example:7000';
  const url = attempt(() => new URL(text));
  if (url === undefined) throw usageError(`${from} must be an address ${example}`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw usageError(`${from} must begin with https:// or http://, ${example}`);
  // Leave the URL out of the message, because it holds a user name or a password.
  if (url.username !== '' || url.password !== '')
    throw usageError(`${from} must be without user and password: ${example}`);
  if (url.search !== '' || url.hash !== '')
    throw usageError(`${from} must end with a host, a port or a path, ${example}`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api$/, '')}`;
}

/** Returns the host of a URL, without the brackets of IPv6. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

/** True when others on the network could read what is sent to this URL. */
export function isInClear(url: string): boolean {
  return new URL(url).protocol === 'http:' && !isLoopback(hostOf(url));
}

/** Returns the warning about a key that is about to be sent to an unencrypted URL. */
export function clearText(url: string): string {
  return `warning: the key travels in clear to ${url}, and others on the way can read it; set apiTls on the master and use https://`;
}
