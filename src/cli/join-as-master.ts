/**
 * `drover join --as-master`: asks the cluster for the secrets and settings of a master, and writes them into the root.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { writeAdminKey } from '../access/admin-key-file.js';
import { PROTOCOL_VERSION } from '../channel/protocol/messages.js';
import { joinMasterQuestion, joinStatement } from '../channel/trust/join-messages.js';
import type { JoinToken } from '../channel/trust/join-token.js';
import { type MasterHandover, STORE_FILES } from '../channel/trust/master-handover.js';
import type { MasterDialer } from '../channel/wrapper/master-dialer.js';
import { memberKeyOf } from '../channel/wrapper/membership.js';
import { shellWord } from '../model/words.js';
import { changeMainConfiguration } from '../node/main-configuration.js';
import type { RootPaths } from '../node/root.js';
import { SecretDirectory } from '../node/secret-files.js';

/** Names of the files of the store, in `data/cluster/`. */
const FILE_NAMES = {
  ca: 'etcd-ca.pem',
  cert: 'etcd-cert.pem',
  key: 'etcd-key.pem',
  passwordFile: 'etcd-password',
};
const LOOPBACK = /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?::|\/|$)/;

interface MasterToBe {
  readonly token: JoinToken;
  readonly nodeId: string;
  /** The address at which others reach this machine. Absent: the local address of the connection to the master. */
  readonly address: string | undefined;
  readonly paths: RootPaths;
  readonly dialer: MasterDialer;
}

/** Returns the text to print. Throws like `joinCluster`. The token is used up before anything is written. */
export async function becomeMaster({ token, nodeId, address, paths, dialer }: MasterToBe): Promise<string> {
  const secrets = new SecretDirectory(paths.cluster);
  const key = (await memberKeyOf(secrets.file('member.json'), { nodeId, token })) ?? newKey();
  const { id: tokenId, secret, fingerprint } = token;
  const proof = sign('sha256', joinStatement({ nodeId, clusterName: '', tokenId }), key.privateKey);
  const { answer: handover, localAddress } = await dialer.ask(
    fingerprint,
    joinMasterQuestion({
      protocol: PROTOCOL_VERSION,
      tokenId,
      secret,
      nodeId,
      publicKey: key.publicKey,
      proof: proof.toString('base64'),
    }),
    new AbortController().signal,
  );
  const store = await keepFiles(handover, secrets);
  const { clusterName, nodeTimeoutMs, adminKey } = handover;
  const written = await changeMainConfiguration(paths.configFile, {
    isMasterNode: true,
    joinToken: undefined,
    clusterName,
    nodeTimeoutMs,
    store,
    nodeId,
    address: address ?? localAddress,
  });
  // Write this key last: a root that has the key belongs to a master and cannot join again.
  if (adminKey !== undefined) await writeAdminKey(paths.adminKey, adminKey);
  const near = store.endpoints.filter((endpoint) => LOOPBACK.test(endpoint));
  return [
    `${paths.configFile} makes this node ${nodeId}, at ${written.address}, a master of the cluster at ${dialer.address}.`,
    `data/cluster/ holds the key of its masters: whoever reads it can read the cluster's secrets.`,
    ...(near.length > 0
      ? [`The state is at ${near.join(', ')}, which on another machine is another etcd: see "store" there.`]
      : []),
    'Start it, and it follows the leader:',
    `  drover start --root ${shellWord(paths.root)}`,
    '',
  ].join('\n');
}

/**
 * Writes the secrets and answers with the settings that name their files. The cluster key is written last, when all
 * other files are complete.
 */
async function keepFiles(
  { store, files, clusterKey }: MasterHandover,
  secrets: SecretDirectory,
): Promise<MasterHandover['store']> {
  const named = { ...store };
  for (const field of STORE_FILES) {
    const text = files[field];
    if (text === undefined) continue;
    const file = secrets.file(FILE_NAMES[field]);
    await file.write(text);
    named[field] = file.name;
  }
  await secrets.file('cluster.key').write(clusterKey);
  // Remove the files that only a wrapper needs. A master has the cluster's authority in its state.
  for (const name of ['member.json', 'joining.json', 'masters.json', 'authority.pem', 'server.json'])
    await secrets.file(name).remove();
  return named;
}

function newKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}
