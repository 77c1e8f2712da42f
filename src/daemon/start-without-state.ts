/**
 * Starts the parts of a master's node that need no state of the cluster. Like a wrapper without its master, the node
 * takes up what runs here and restarts what crashes. So a node whose etcd is away at its start is no worse off than a
 * node whose etcd goes away later. Its API says what it waits for.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CertificateFiles } from '../api/tls/certificate-files.js';
import { WaitingApi } from '../api/waiting-api.js';
import { readServerPair } from '../channel/trust/authority.js';
import type { KeyPair } from '../channel/trust/certificates.js';
import type { NodeConfiguration } from '../model/node.js';
import { SecretDirectory } from '../node/secret-files.js';
import { wasStoreMade } from '../store/lmdb/open.js';
import type { Wrapper } from '../wrapper.js';
import type { Assembly } from './assembly.js';
import { type MasterConnection, startWrapper } from './start-wrapper.js';

export interface WithoutState {
  readonly wrapper: Wrapper;
  /** Sets the reason that clients of the API are told. */
  readonly waitFor: (reason: string) => void;
  /** Frees the port of the API, because the state is there now. */
  readonly makeRoom: () => Promise<void>;
  /** Lets the wrapper connect from now on. */
  readonly connect: (connection: MasterConnection) => void;
}

/** Starts the parts. Throws like `startMaster` when the port of the API is taken. */
export async function startWithoutState(assembly: Assembly): Promise<WithoutState> {
  const { running, extensions } = assembly;
  let reason = 'its state was not asked for yet';
  const api = await openWaitingApi(assembly, () => `this master is starting: ${reason}`);
  // Listens before anything changes, as the API of a master does.
  if (api !== undefined) await running.start(api);
  await running.start(extensions);
  let connect: (connection: MasterConnection) => void = () => undefined;
  const met = new Promise<MasterConnection>((meet) => {
    connect = meet;
  });
  const wrapper = await startWrapper(assembly, {
    connect: async (signal) => (await met).connect(signal),
  });
  return {
    wrapper,
    waitFor: (line) => {
      reason = line;
    },
    makeRoom: async () => api?.stop(),
    connect: (connection) => {
      // Stops the wrapper before the master, so that it can say goodbye to the leader.
      running.onStop(() => wrapper.stop());
      connect(connection);
    },
  };
}

/** Undefined: at a first start, before the operator's key is there; with TLS, before the certificate is there. */
async function openWaitingApi(assembly: Assembly, reason: () => string): Promise<WaitingApi | undefined> {
  const { configuration, paths } = assembly;
  if (!existsSync(paths.adminKey) && !wasStoreMade(join(paths.store, 'node'))) return undefined;
  if (configuration.apiTls === undefined) return new WaitingApi({ configuration, pair: undefined, reason });
  const pair = await pairOf(assembly, configuration.apiTls);
  return pair && new WaitingApi({ configuration, pair, reason });
}

/**
 * The operator's certificate, or the certificate of the last start: the authority that could make a new one is sealed
 * in the state.
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
