/** Chooses the interface that a node listens on. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type Server } from 'node:net';
import { invalidNodeConfiguration } from '../../model/errors.js';
import type { NodeConfiguration } from '../../model/node.js';
import { describeListenError } from '../../model/settings/listen-error.js';
import { systemReason } from '../../model/words.js';

/** Resolves a host name to its IP addresses; throws when it has none. */
type Resolve = (name: string) => Promise<readonly string[]>;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
/** Names that always mean loopback, whatever a resolver says. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i;
/**
 * The usual addresses of localhost. 127.0.1.1 is not among them, because Debian resolves the machine's own name to it.
 */
const LOCALHOST_IPS: readonly string[] = ['127.0.0.1', '::1'];

/**
 * The address to listen on: `bindAddress` where it is set, otherwise loopback for a loopback `address`, and all
 * interfaces for any other. Throws DRV_NODE_CONFIG_INVALID for a host name that does not resolve, because its meaning
 * is then unknown.
 */
export async function bindAddressOf(
  { bindAddress, address }: NodeConfiguration,
  resolve: Resolve = resolveBySystem,
): Promise<string> {
  if (bindAddress !== undefined) {
    await ipsOf('bindAddress', bindAddress, resolve);
    return bindAddress;
  }
  const ips = await ipsOf('address', address, resolve);
  if (isIP(address) !== 0) return listenIp(address);
  return ips.every((ip) => LOCALHOST_IPS.includes(ip)) ? '127.0.0.1' : '0.0.0.0';
}

/**
 * Makes `server` listen at the port of the API. `before`: a server that listens there already. Its socket is taken over,
 * so that no connection is refused in between. Returns the address. Throws DRV_NODE_PORT_IN_USE, and
 * DRV_NODE_CONFIG_INVALID for an address that this machine does not have.
 */
export async function listenAtApiPort(
  server: Server,
  configuration: NodeConfiguration,
  before?: Server,
): Promise<string> {
  const host = await bindAddressOf(configuration);
  const { apiPort: port } = configuration;
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => {
      const fields = { portField: 'apiPort', addressField: 'bindAddress' };
      reject(describeListenError(error, { what: 'the API', host, port, ...fields }));
    };
    server.once('error', fail);
    server.listen(before ?? { host, port }, () => {
      server.off('error', fail);
      resolve();
    });
  });
  return host;
}

/** True when only this machine can connect to `host`. `host`: an address that `bindAddressOf` returned. */
export function isLoopback(host: string): boolean {
  return isIP(host) === 0 ? LOCALHOST.test(host) : LOOPBACK.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

function listenIp(ip: string): string {
  if (isLoopback(ip)) return ip;
  return isIP(ip) === 6 ? '::' : '0.0.0.0';
}

async function ipsOf(
  field: 'address' | 'bindAddress',
  host: string,
  resolve: Resolve,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  if (LOCALHOST.test(host)) return LOCALHOST_IPS;
  try {
    return await resolve(host);
  } catch (error) {
    throw invalidNodeConfiguration(
      `config.json: ${field}: the host name ${host} does not resolve (${systemReason(error) ?? 'no answer'}); ` +
        'correct it, or give an IP address',
      { cause: error },
    );
  }
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
