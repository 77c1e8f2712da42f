/**
 * Starts the parts of a master's node that need no state of the cluster. Like a wrapper without its master, the node
 * adopts running instances and restarts crashed ones. So a node whose etcd is away at its start is no worse off than a
 * node whose etcd goes away later. Its API tells clients the reason for the wait.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CertificateFiles } from '../api/tls/certificate-files.js';
import { WaitingApi } from '../api/waiting-api.js';
import { readServerPair } from '../channel/trust/authority.js';
import type { KeyPair } from '../channel/trust/certificates.js';
import type { Leadership } from '../leadership/leadership.js';
import type { NodeConfiguration } from '../model/node.js';
import { SecretDirectory } from '../node/secret-files.js';
import { wasStoreMade } from '../store/lmdb/open.js';
import type { Wrapper } from '../wrapper.js';
import type { Assembly } from './assembly.js';
import { type MasterConnection, startWrapper } from './start-wrapper.js';

export interface WithoutState {
  readonly wrapper: Wrapper;
  /** Sets the reason that the API gives to its clients. */
  readonly waitFor: (reason: string) => void;
  /** Lets the API say who leads, as soon as the election is followed. */
  readonly follow: (leadership: Pick<Leadership, 'leader'>) => void;
  /** The API that listens until the master has its state. Undefined: nothing listens yet. */
  readonly api: WaitingApi | undefined;
  /** Lets the wrapper connect from now on. */
  readonly connect: (connection: MasterConnection) => void;
}

/** Starts the parts. Throws like `startMaster` when the port of the API is taken. */
export async function startWithoutState(assembly: Assembly): Promise<WithoutState> {
  const { running, extensions } = assembly;
  let reason = 'its state was not asked for yet';
  let leadership: Pick<Leadership, 'leader'> | undefined;
  const api = await openWaitingApi(assembly, {
    reason: () => `this master is starting: ${reason}`,
    leader: () => leadership?.leader()?.nodeId ?? null,
  });
  // Listen first, as the API of a master does: a taken port must be found before anything changes.
  if (api !== undefined) await running.start(api);
  await running.start(extensions);
  let connect: (connection: MasterConnection) => void = () => undefined;
  const met = new Promise<MasterConnection>((meet) => {
    connect = meet;
  });
  const wrapper = await startWrapper(assembly, { connect: async (signal) => (await met).connect(signal) });
  return {
    wrapper,
    waitFor: (line) => {
      reason = line;
    },
    follow: (elected) => {
      leadership = elected;
    },
    api,
    connect: (connection) => {
      // Registered last, so that the wrapper stops before the master and can still say goodbye to the leader.
      running.onStop(() => wrapper.stop());
      connect(connection);
    },
  };
}

/**
 * Builds the waiting API. Undefined at a first start, before the operator's key exists; undefined with TLS, before the
 * certificate exists.
 */
async function openWaitingApi(
  assembly: Assembly,
  wait: ConstructorParameters<typeof WaitingApi>[2],
): Promise<WaitingApi | undefined> {
  const { configuration, paths } = assembly;
  if (!existsSync(paths.adminKey) && !wasStoreMade(join(paths.store, 'node'))) return undefined;
  if (configuration.apiTls === undefined) return new WaitingApi(configuration, undefined, wait);
  const pair = await pairOf(assembly, configuration.apiTls);
  return pair && new WaitingApi(configuration, pair, wait);
}

/**
 * The operator's certificate, or the certificate of the last start. A new certificate cannot be made here, because the
 * authority is sealed in the state.
 */
async function pairOf(
  { paths, shared }: Assembly,
  apiTls: NonNullable<NodeConfiguration['apiTls']>,
): Promise<KeyPair | undefined> {
  if (apiTls === 'cluster')
    return readServerPair(await new SecretDirectory(paths.cluster).file('server.json').read());
  const [certificate, key] = [resolve(paths.root, apiTls.certificate), resolve(paths.root, apiTls.key)];
  return (await new CertificateFiles({ ...shared, certificate, key }).open()).pair;
}
