/**
 * Builds the parts that a master needs for nodes on other machines: its authority, its members and join tokens, and the
 * cluster port.
 */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { readAdminKey } from '../access/admin-key-file.js';
import { bindAddressOf } from '../api/http/bind-address.js';
import { ClusterServer } from '../channel/master/cluster-server.js';
import type { Transport } from '../channel/protocol/transport.js';
import { Admission } from '../channel/trust/admission.js';
import type { ApiCertificate } from '../channel/trust/api-certificate.js';
import { Authority } from '../channel/trust/authority.js';
import { CertificateThread } from '../channel/trust/certificate-thread.js';
import { clusterKeyText } from '../channel/trust/cluster-key.js';
import { JoinTokens } from '../channel/trust/join-tokens.js';
import { type MasterHandover, STORE_FILES } from '../channel/trust/master-handover.js';
import { ClusterMembers } from '../channel/trust/members.js';
import { Renewal } from '../channel/trust/renewal.js';
import { SharedSecrets } from '../channel/trust/shared-secrets.js';
import type { Leadership } from '../leadership/leadership.js';
import type { Master } from '../master.js';
import type { AuditTrail } from '../model/audit.js';
import type { NodeConfiguration } from '../model/node.js';
import type { EtcdSettings } from '../model/settings/store-settings.js';
import { SecretDirectory } from '../node/secret-files.js';
import type { Store } from '../store/store.js';
import type { Assembly } from './assembly.js';

/**
 * The program of the certificate thread. The path is right in the built program, where this file is part of a chunk
 * (rolldown.config.ts).
 */
const CERTIFICATE_PROGRAM = fileURLToPath(new URL('../certificate-thread-main.js', import.meta.url));
/**
 * The longest silence on a connection between nodes. A shorter limit than a large nodeTimeoutMs does no harm, because a
 * node reconnects soon.
 */
const MAX_SILENCE_MS = 15_000;
/**
 * The characters that a name in a certificate may have. `%` is left out, because it marks a network interface of this
 * machine.
 */
const NAME = /^[\x21-\x24\x26-\x7e]+$/;
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/i;
const ALL_INTERFACES: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

export interface Cluster {
  readonly authority: Authority;
  readonly secrets: SharedSecrets;
  readonly tokens: JoinTokens;
  readonly admission: Admission;
  readonly members: ClusterMembers;
  readonly audit: Pick<AuditTrail, 'record'>;
}

interface ClusterServerNeeds {
  readonly master: () => Master;
  readonly leadership: Leadership;
  /** Takes another master's connection to the API. */
  readonly takeTunnel: (connection: TLSSocket) => void;
  /** Takes another master's connection to the desk. Absent: this is the only master. */
  readonly takeDesk?: (connection: Transport, nodeId: string) => void;
  /** The certificate of the API; undefined: the API has no TLS. */
  readonly apiCertificate: ApiCertificate | undefined;
}

/**
 * Builds the parts of the cluster. Throws DRV_NODE_ROOT_UNUSABLE when the authority's file is damaged or open to
 * others.
 */
export async function openCluster(
  assembly: Assembly,
  store: Store,
  audit: Pick<AuditTrail, 'record'>,
): Promise<Cluster> {
  const { paths, configuration, shared, running } = assembly;
  const { clock, logger } = shared;
  const { clusterName, nodeId } = configuration;
  const files = new SecretDirectory(paths.cluster);
  const isShared = configuration.store.kind === 'etcd';
  const secrets = new SharedSecrets({ store, keyFile: files.file('cluster.key'), isShared });
  const certificates = new CertificateThread(CERTIFICATE_PROGRAM, clock);
  running.onStop(() => certificates.stop());
  const authority = new Authority({
    clusterName,
    nodeId,
    names: namesOf(configuration),
    authorityFile: secrets.secret('authority', files.file('authority.pem')),
    serverFile: files.file('server.json'),
    certificates,
    clock,
    logger,
  });
  await authority.open();
  const tokens = new JoinTokens({ store, authority, clock });
  const shares = { store, authority, tokens, clock, audit, logger };
  const { store: settings } = configuration;
  const admission = new Admission({
    ...shares,
    clusterName,
    masterNodeId: nodeId,
    ...(settings.kind === 'etcd' && { handover: () => readHandover(assembly, settings, secrets) }),
  });
  return { authority, secrets, tokens, admission, members: new ClusterMembers(shares), audit };
}

/** The names under which nodes and clients may reach this master, each once. */
function namesOf({ nodeId, address, bindAddress = address, apiNames = [] }: NodeConfiguration): string[] {
  const names = [address, bindAddress, ...apiNames, nodeId, 'localhost', '127.0.0.1', '::1'];
  // Write the names as clients look them up: without a dot at the end, and never with an IPv4 address in the form of
  // IPv6.
  const plain = names.map((name) => name.replace(/\.$/, '').replace(IPV4_IN_IPV6, ''));
  return [...new Set(plain)].filter((name) => NAME.test(name) && !ALL_INTERFACES.has(name));
}

/** How long a connection between nodes may be silent. */
export function silenceOf({ nodeTimeoutMs }: NodeConfiguration): number {
  return Math.min(nodeTimeoutMs, MAX_SILENCE_MS);
}

/**
 * Listens at the cluster port. Until `open` is called, when the master's state is loaded, the port disconnects every
 * node.
 */
export async function startClusterServer(
  { configuration, shared, running }: Assembly,
  cluster: Cluster,
  { master, leadership, takeTunnel, takeDesk, apiCertificate }: ClusterServerNeeds,
): Promise<{ readonly open: () => Promise<void> }> {
  const { clock, logger } = shared;
  const { address, port, apiPort } = configuration;
  const server = new ClusterServer({
    ...cluster,
    host: await bindAddressOf(configuration),
    port,
    api: { address, port: apiPort, hasTls: apiCertificate !== undefined },
    accept: (transport, peer) => master().accept(transport, peer),
    leadership,
    takeTunnel,
    ...(takeDesk !== undefined && { takeDesk }),
    silenceMs: silenceOf(configuration),
    clock,
    logger,
  });
  await running.start(server);
  const renewal = new Renewal({
    members: cluster.members,
    connected: () => master().prefetching.connected(),
    callsOf: (nodeId) => master().callsOf(nodeId),
    renewServer: async () => {
      await server.renewServer();
      // The API presents the same certificate as the cluster port, unless the operator supplied files.
      if (apiCertificate?.authority != null)
        apiCertificate.replace(await cluster.authority.serverCredential());
    },
    clock,
    logger,
  });
  let opening: Promise<void> | undefined;
  const open = async (): Promise<void> => {
    server.open();
    // Stop letting nodes in before the master stops, because a stopping master could not take their connections.
    running.onStop(() => server.shut());
    await running.start(renewal);
  };
  return { open: () => (opening ??= open()) };
}

/**
 * Reads the handover. Its files are read each time, because the operator may have replaced them. Throws when a file
 * cannot be read.
 */
async function readHandover(
  { paths, configuration }: Assembly,
  store: EtcdSettings,
  secrets: SharedSecrets,
): Promise<MasterHandover> {
  const { clusterName, nodeTimeoutMs } = configuration;
  const files: MasterHandover['files'] = {};
  for (const field of STORE_FILES) {
    const file = store[field];
    if (file !== undefined) files[field] = await readFile(resolve(paths.root, file), 'utf8');
  }
  const clusterKey = clusterKeyText(await secrets.clusterKey());
  const admin = await readAdminKey(paths.adminKey);
  const prefix = store.prefix ?? `/drover/${clusterName}`;
  return {
    ...{ clusterName, nodeTimeoutMs, store: { ...store, prefix }, files, clusterKey },
    ...(admin.kind === 'token' && { adminKey: admin.token }),
  };
}
