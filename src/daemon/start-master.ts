/** Starts the master's half of a node as a process: its state, files, templates, keys, commands and API, in order. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureAdminKey } from '../api/access/admin-key.js';
import { KeyWriter } from '../api/access/key-writer.js';
import { SessionWriter } from '../api/access/session-writer.js';
import { ensureTokenSecret } from '../api/access/token-secret.js';
import { creationOfKept, InstanceTokens } from '../api/access/tokens.js';
import { DashboardFiles } from '../api/dashboard/dashboard-files.js';
import { type ApiDependencies, ApiServer } from '../api/server.js';
import type { ApiCertificate } from '../api/tls/api-certificate.js';
import { Commands } from '../commands/command-runner.js';
import type { CommandDependencies } from '../commands/context.js';
import { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import { DirectorySource, unreadSource } from '../configuration-files/source.js';
import { SoleLeadership } from '../leadership/sole-leadership.js';
import type { Clock } from '../loop/clock.js';
import { Master } from '../master.js';
import type { Configuration } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import type { NodeConfiguration, NodeRecord } from '../model/node.js';
import { hexFile } from '../node/secret-files.js';
import { fileFigures } from '../operations/configuration-file-list.js';
import { substitute } from '../runtime/command/variables.js';
import type { Store } from '../store/store.js';
import { AuditLog } from '../telemetry/audit-log.js';
import { MasterTemplates } from '../templates/master-templates.js';
import type { Assembly } from './assembly.js';
import { openMasterStore } from './open-master-store.js';
import { SeveralMasters } from './several-masters.js';
import { openApiCertificate } from './start-api-tls.js';
import { type Cluster, openCluster, startClusterServer } from './start-cluster.js';

/** In the package, two folders up from this file, and from the chunk that it becomes. */
const DASHBOARD = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));

export interface StartedMaster {
  readonly master: Master;
  readonly api: ApiServer;
  /** Undefined: no TLS. */
  readonly apiCertificate: ApiCertificate | undefined;
  readonly files: ConfigurationFiles;
  readonly dashboard: DashboardFiles;
  readonly commands: Commands;
  /** Ends the API's answers of 503. */
  readonly setReady: () => void;
}

/** The state and the parts beside it, built and not yet started. */
interface Foundation {
  readonly store: Store;
  readonly audit: AuditLog;
  readonly cluster: Cluster;
  /** Undefined: no TLS. */
  readonly apiCertificate: ApiCertificate | undefined;
  readonly tokens: InstanceTokens;
  readonly templates: MasterTemplates;
  readonly master: Master;
  readonly files: ConfigurationFiles;
  /** Undefined: this is the only master. */
  readonly several: SeveralMasters | undefined;
  readonly dashboard: DashboardFiles;
}

export async function startMaster(assembly: Assembly): Promise<StartedMaster> {
  const { shared, extensions, running } = assembly;
  const { metrics } = shared;
  const foundation = await lay(assembly);
  const { master, templates, files, several, apiCertificate, dashboard } = foundation;
  let isReady = false;
  const dependencies = buildDependencies(assembly, foundation, () => isReady);
  const commands = new Commands(dependencies);
  const api = new ApiServer({ dependencies: { ...dependencies, commands } });
  // The API listens first, so that a taken port is known before anything changes. It answers 503 until `setReady`.
  await running.start(api);
  const door = await startClusterServer(assembly, foundation.cluster, {
    master: () => master,
    apiCertificate,
  });
  await running.start(extensions);
  extensions.follow(master.state);
  await running.start(master);
  await door.open();
  await running.start(templates);
  await running.start(several ?? files);
  metrics.addSources({ ...master.metricSources(), configurationFileErrors: () => files.errors().length });
  metrics.addConfigurationFiles(() => fileFigures({ ...dependencies, configurationFiles: files }));
  metrics.addNodes(() => master.nodeFigures());
  const setReady = (): void => {
    isReady = true;
  };
  return { master, api, apiCertificate, files, dashboard, commands, setReady };
}

async function lay(assembly: Assembly): Promise<Foundation> {
  const { paths, configuration, shared, extensions, running } = assembly;
  const { clock, logger } = shared;
  const store = await openMasterStore(assembly);
  const audit = new AuditLog({ path: paths.auditLog, now: () => clock.now(), logger });
  running.onStop(() => audit.close());
  await ensureAdminKey({ store, path: paths.adminKey, now: clock.now(), audit, logger });
  const cluster = await openCluster(assembly, store, audit);
  const apiCertificate = await openApiCertificate(assembly, cluster.authority);
  const tokens = new InstanceTokens({
    secret: await ensureTokenSecret(
      cluster.secrets.secret('instance-tokens', hexFile(join(paths.data, 'instance-tokens.secret'))),
    ),
    createdAtOf: (id) => creationOfKept(master.state.instances)(id),
  });
  const templates = new MasterTemplates({
    ...shared,
    paths,
    providers: extensions.storages,
    maxUploadMB: configuration.maxUploadMB,
    afterWrite: async (group, name) => several?.templates.spread(group, name),
    nodes: {
      connected: () => master.prefetching.connected(),
      fetch: (node, digests, signal) => master.prefetching.fetch(node, digests, signal),
    },
  });
  const { nodeId, address, port, apiPort, clusterName, nodeTimeoutMs } = configuration;
  const several =
    configuration.store.kind === 'etcd'
      ? new SeveralMasters({ nodeId, paths, store, ...alone(configuration, clock), templates, audit, shared })
      : undefined;
  const source = new DirectorySource({ nodeId, directory: paths.configurations, logger, clock });
  const master = new Master({
    ...shared,
    clusterName,
    address: {
      nodeId,
      address,
      port,
      apiPort,
      ...(apiCertificate !== undefined && { apiTls: { authority: apiCertificate.authority } }),
    },
    nodeTimeoutMs,
    store,
    // Records that masters share are the truth, and not the files of one.
    configurationSource: several === undefined ? source : unreadSource(nodeId),
    templates: templates.sources,
    issueInstanceToken: (id, createdAt) => tokens.issue(id, createdAt),
    revokeNode: (id, options) => cluster.members.revoke(id, options),
    hostAddressOf,
  });
  const files =
    several?.files ??
    new ConfigurationFiles({
      source,
      follower: master.configurationFollower,
      configurations: master.state.configurations,
      logger,
      clock,
    });
  const dashboard = new DashboardFiles({ directory: DASHBOARD, isOn: configuration.dashboard });
  return { store, audit, cluster, apiCertificate, tokens, templates, master, files, several, dashboard };
}

/** A standby does nothing, so the one that leads is the only one. */
function alone({ nodeId, address, port }: NodeConfiguration, clock: Pick<Clock, 'now'>) {
  return {
    leadership: new SoleLeadership({ nodeId, clusterAddress: `${address}:${port}`, since: clock.now() }),
    dial: () => Promise.reject(new DroverError('DRV_CHANNEL_CLOSED', 'there is no other master')),
  };
}

/** Builds the functions that the API and the commands share. */
function buildDependencies(
  { paths, configuration, version, shared, extensions, stop }: Assembly,
  { store, audit, cluster, apiCertificate, tokens, templates, master, files, several, dashboard }: Foundation,
  isReady: () => boolean,
): Omit<ApiDependencies, 'commands'> & CommandDependencies {
  const { instances, configurations, revisions, rollouts, nodes, keys, sessions } = master.state;
  const { clock, logger, metrics } = shared;
  return {
    configuration,
    version,
    dashboard,
    instances,
    configurations,
    revisions,
    rollouts,
    nodes,
    keys,
    sessions,
    isReady,
    instanceWrites: master.writer,
    nodeWrites: master.nodeWriter,
    configurationFiles: files,
    keyWrites: new KeyWriter({ store, keys, clock, adminKeyPath: paths.adminKey, logger }),
    sessionWrites: new SessionWriter({ store, keys, sessions, clock }),
    joinTokens: cluster.tokens,
    apiCertificate,
    streams: master.streams,
    terminals: master.terminals,
    templates: templates.local,
    templateSync: templates,
    extensions,
    beats: master.beats,
    usedOf: (nodeId) => master.usedOf(nodeId),
    usages: master.usages,
    usageOf: (id) => master.usageOf(id),
    usageOfNode: (nodeId) => master.usageOfNode(nodeId),
    drainOf: (nodeId) => master.drainOf(nodeId),
    serviceOf: (name) => master.serviceOf(name),
    explainer: master.explainer(files),
    forecaster: master.forecaster,
    unreadable: () => master.state.unreadable(),
    audit,
    ...(several !== undefined && { auditOfMasters: several.audit }),
    verifyInstanceToken: (token) => tokens.verify(token),
    metrics,
    logger,
    clock,
    stopDaemon: stop,
  };
}

/** The variables that `hostAddress` may use before an instance runs: properties, and the node's id and address. */
function hostAddressOf(configuration: Configuration, node: NodeRecord): string {
  const variables = new Map(Object.entries(configuration.properties));
  variables.set('NODE_ID', node.nodeId).set('NODE_ADDRESS', node.address).set('HOST_ADDRESS', node.address);
  return configuration.hostAddress === undefined
    ? node.address
    : substitute(configuration.hostAddress, variables);
}
