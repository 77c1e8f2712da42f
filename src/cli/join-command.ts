/**
 * `drover join`: checks that a token and a master belong together, and writes the config.json with which a node
 * joins.
 */

import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { parseJoinToken } from '../channel/trust/join-token.js';
import { clusterNameOf } from '../channel/trust/peer-certificate.js';
import { MasterDialer } from '../channel/wrapper/master-dialer.js';
import { SystemClock } from '../loop/system-clock.js';
import { DroverError } from '../model/errors.js';
import { defaultNodeId } from '../model/node.js';
import { changeMainConfiguration, readMainConfiguration } from '../node/main-configuration.js';
import { prepareRoot, type RootPaths } from '../node/root.js';
import { acquireRootLock } from '../node/root-lock.js';
import { shellWord } from './shell-word.js';

export interface JoinOptions {
  /** `host:port`. */
  readonly master: string;
  readonly nodeId?: string;
  readonly address?: string;
}

const SILENCE_MS = 6000;
const MASTER = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;

/**
 * Returns the text to print. Writes nothing unless the master answers and issued the token. Throws DroverErrors
 * with one clear line.
 */
export async function joinCluster(root: string, token: string, options: JoinOptions): Promise<string> {
  const { fingerprint } = parseJoinToken(token);
  const master = parseMaster(options.master);
  const paths = await prepareRoot(root);
  const lock = await acquireRootLock(paths);
  try {
    await refuseMaster(paths);
    const dialer = new MasterDialer({ ...master, silenceMs: SILENCE_MS, clock: new SystemClock() });
    const { authority, localAddress } = await dialer.probe(fingerprint, new AbortController().signal);
    const present = await readMainConfiguration(paths.configFile);
    const { nodeId, address } = await changeMainConfiguration(paths.configFile, {
      isMasterNode: false,
      masterAddress: master.host,
      masterPort: master.port,
      clusterName: clusterNameOf(authority) ?? 'drover',
      joinToken: token,
      nodeId: options.nodeId ?? present?.nodeId ?? defaultNodeId(hostname()),
      address: options.address ?? localAddress.replace(IPV4_IN_IPV6, ''),
    });
    return [
      `${paths.configFile} makes this node ${nodeId}, at ${address}, of the cluster at ${dialer.address}.`,
      'Start it, and it joins:',
      `  drover start --root ${shellWord(paths.root)}`,
      '',
    ].join('\n');
  } finally {
    await lock.release();
  }
}

function parseMaster(text: string): { readonly host: string; readonly port: number } {
  const [, ipv6, name, port] = MASTER.exec(text) ?? [];
  const host = ipv6 ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new DroverError(
      'DRV_NODE_CONFIG_INVALID',
      '--master must be the address and the cluster port of the master, such as 10.0.0.1:6000 or [fd00::1]:6000',
    );
  return { host, port: Number(port) };
}

/** Refuses the root of a master: its state would be neither used nor removed. */
async function refuseMaster({ adminKey, root }: RootPaths): Promise<void> {
  const isThere = await stat(adminKey).then(
    () => true,
    () => false,
  );
  if (isThere)
    throw new DroverError(
      'DRV_NODE_CONFIG_INVALID',
      `${root} is the directory of a master, with a state of its own: give another directory with --root`,
    );
}
