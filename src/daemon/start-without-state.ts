/**
 * Starts what a master's node does without the state of its cluster: it takes up what runs here and restarts what
 * crashes, as a wrapper does without its master. So a node whose etcd is away at its start is no worse off than one
 * whose etcd went away later. Its API says what it waits for.
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
  /** Says to clients of the API what the state waits for. */
  readonly waitFor: (reason: string) => void;
  /** The state is there: the port of the API gets free. */
  readonly makeRoom: () => Promise<void>;
  /** From now on the wrapper connects. */
  readonly connect: (connection: MasterConnection) => void;
}

/** Throws as `startMaster` where the port of the API is taken. */
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
      // It says goodbye to the master that leads, which is there until then.
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

/** The operator's, or the one of the last start: the authority that makes another one is sealed in the state. */
async function pairOf(
  { paths, shared }: Assembly,
  apiTls: NonNullable<NodeConfiguration['apiTls']>,
): Promise<KeyPair | undefined> {
  if (apiTls === 'cluster')
    return readServerPair(await new SecretDirectory(paths.cluster).file('server.json').read());
  const [certificate, key] = [resolve(paths.root, apiTls.certificate), resolve(paths.root, apiTls.key)];
  return (await new CertificateFiles({ ...shared, certificate, key }).open()).pair;
}
