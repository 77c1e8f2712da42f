/**
 * Downloads a file by URL: http and https only, with bounded redirects, bytes and silence. Accepts only content with
 * the given SHA-256. Redirects may lead only into the public internet, unless the settings allow more: the server must
 * not make this node request what only this node can reach.
 */
import { createHash } from 'node:crypto';
import { lookup } from 'node:dns';
import { open } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { whileOpen } from '../../files/while-open.js';
import { messageOf } from '../../model/errors.js';

const MAX_REDIRECTS = 5;
/** The longest wait for the first byte of an answer, and between two bytes. */
const SILENCE_LIMIT_MS = 30_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface CheckedDownload {
  readonly url: string;
  /** The expected SHA-256, 64 hex digits. */
  readonly sha256: string;
  readonly maxBytes: number;
  /** False: a redirect to another host must not lead to a private address. */
  readonly allowPrivateRedirects: boolean;
  /** The path of the file to make; no file may be there. */
  readonly file: string;
  readonly signal: AbortSignal;
  /** A shorter limit for tests. */
  readonly silenceLimitMs?: number;
}

/**
 * Downloads the file and checks it. Throws the reason why it cannot be downloaded; the caller then removes a partial
 * file. No message contains a query.
 */
export async function downloadChecked(download: CheckedDownload): Promise<void> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), download.silenceLimitMs ?? SILENCE_LIMIT_MS);
  const signal = AbortSignal.any([download.signal, silent.signal]);
  try {
    const response = await follow(new URL(download.url), download.allowPrivateRedirects, signal);
    await save(response, download, () => timer.refresh());
  } catch (error) {
    download.signal.throwIfAborted();
    if (silent.signal.aborted) throw new Error('the server was silent for too long');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function follow(first: URL, allowPrivate: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  let url = first;
  let from = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await request(url, from, allowPrivate || url.host === first.host, signal);
    const { statusCode: status = 0 } = response;
    if (status === 200) return response;
    response.destroy();
    if (!REDIRECTS.has(status)) throw new Error(`${url.host} answered with status ${status}`);
    from = url;
    url = redirectTarget(url, response.headers.location);
  }
  throw new Error(`${first.host} redirects more than ${MAX_REDIRECTS} times`);
}

async function request(
  url: URL,
  from: URL,
  mayBePrivate: boolean,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  try {
    return await sendRequest(url, { mayBePrivate, signal, headers: { 'accept-encoding': 'identity' } });
  } catch (error) {
    if (error instanceof PrivateAddress)
      throw new Error(
        `${from.host} redirects to ${url.host}, a private address (${error.ip}); to follow it, set allowPrivateRedirects`,
      );
    throw new Error(`${url.host} cannot be reached: ${messageOf(error)}`);
  }
}

function redirectTarget(from: URL, location: string | undefined): URL {
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : null;
  if (target === null) throw new Error(`${from.host} redirects to nowhere`);
  const isWeb = target.protocol === 'https:' || target.protocol === 'http:';
  if (!isWeb || (from.protocol === 'https:' && target.protocol === 'http:'))
    throw new Error(`${from.host} redirects to ${target.protocol}//, which is not followed`);
  return target;
}

async function save(
  response: IncomingMessage,
  { sha256, maxBytes, file }: CheckedDownload,
  onBytes: () => void,
): Promise<void> {
  const tooLarge = (): Error =>
    new Error(`the archive is larger than ${Math.floor(maxBytes / 1024 ** 2)} MB`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) {
    response.destroy();
    throw tooLarge();
  }
  const hash = createHash('sha256');
  await whileOpen(open(file, 'wx', 0o600), async (handle) => {
    let size = 0;
    for await (const chunk of bodyOf(response)) {
      onBytes();
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
  });
  const actual = hash.digest('hex');
  if (actual !== sha256)
    throw new Error(
      `the archive has the SHA-256 ${actual}, but the settings say ${sha256}: nothing was unpacked`,
    );
}

async function* bodyOf(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) yield chunk;
  } catch (error) {
    throw new Error(`the download broke off: ${messageOf(error)}`);
  }
}

/** The networks outside of the public internet: this machine, local networks, and those for special use. */
const PRIVATE = new BlockList();
const PRIVATE_NETWORKS = {
  ipv4: [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
    ...['192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'],
  ],
  ipv6: [
    ...['::/127', 'fc00::/7', 'fe80::/9', 'ff00::/8'],
    // An address of these networks can contain an IPv4 address, or stand for a local address.
    ...['64:ff9b::/32', '2001::/32', '2002::/16'],
  ],
};
// The families are written out: to tell them from the text would compile an expression of 10 ms at each start.
for (const family of ['ipv4', 'ipv6'] as const)
  for (const [network = '', prefix] of PRIVATE_NETWORKS[family].map((one) => one.split('/')))
    PRIVATE.addSubnet(network, Number(prefix), family);

/** Thrown instead of sending a request to a private address. */
class PrivateAddress extends Error {
  readonly ip: string;

  constructor(ip: string) {
    super(`${ip} is a private address`);
    this.ip = ip;
  }
}

interface AskedRequest {
  readonly mayBePrivate: boolean;
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  /** The content to post. Absent: the request is a GET. */
  readonly body?: string;
}

/**
 * Resolves with the answer, whatever its status; its body is not read yet. Follows no redirect. Throws PrivateAddress
 * unless `mayBePrivate`, and the reason why the server cannot be reached.
 */
export function sendRequest(url: URL, asked: AskedRequest): Promise<IncomingMessage> {
  const { mayBePrivate, signal, headers, body } = asked;
  return new Promise((resolve, reject) => {
    const ip = url.hostname.replace(/^\[|\]$/g, '');
    // A literal address causes no lookup, so check it here.
    if (!mayBePrivate && isPrivateIp(ip)) throw new PrivateAddress(ip);
    const options: RequestOptions = {
      // A new connection for each request, because a shared connection would not be looked up again.
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, 'user-agent': 'drover' },
      signal,
      ...(!mayBePrivate && { lookup: lookupPublic }),
    };
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    send(url, options).once('response', resolve).on('error', reject).end(body);
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
  return isIP(ip) !== 0 && PRIVATE.check(ip, familyOf(ip));
}

function familyOf(ip: string): 'ipv4' | 'ipv6' {
  return isIP(ip) === 6 ? 'ipv6' : 'ipv4';
}
