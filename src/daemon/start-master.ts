/** Starts the master's half of a node as a process: its state, files, templates, keys, commands and API, in order. */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureAdminKey } from '../access/admin-key.js';
import { KeyWriter } from '../access/key-writer.js';
import { SessionWriter } from '../access/session-writer.js';
import { creationOfKept, ensureTokenSecret, InstanceTokens } from '../access/tokens.js';
import { DashboardFiles } from '../api/dashboard/dashboard-files.js';
import type { ApiDependencies } from '../api/dependencies.js';
import { ApiServer } from '../api/server.js';
import { doorOf } from '../channel/master/leader-tunnel.js';
import { askForLeftDirectories } from '../channel/services/left-directories.js';
import { askForUsage } from '../channel/services/usage-day.js';
import { KnownMasters } from '../channel/wrapper/known-masters.js';
import { readWebhooks } from '../configuration-files/read-webhooks.js';
import { Commands } from '../console/commands.js';
import { Master } from '../master.js';
import type { Configuration } from '../model/configuration.js';
import { eventOfAction } from '../model/deed-event.js';
import type { NodeRecord } from '../model/node.js';
import { sumOfUsage } from '../model/run/instance-usage.js';
import { hexFile, SecretDirectory } from '../node/secret-files.js';
import { fileFigures } from '../operations/configuration-file-list.js';
import { listHealth } from '../operations/configuration-health.js';
import { substitute } from '../runtime/command/variables.js';
import { AuditLog } from '../telemetry/audit-log.js';
import { addFileGauges, addLeadershipGauges, addNodeGauges } from '../telemetry/gauges.js';
import { MasterTemplates } from '../templates/master-templates.js';
import type { Assembly } from './assembly.js';
import { connectionTo } from './connect-to-leader.js';
import { MasterWork } from './master-work.js';
import { openMasterStore, TOKENS_SECRET, untilFounded } from './open-master-store.js';
import { buildSoleFiles } from './sole-files.js';
import { openApiCertificate } from './start-api-tls.js';
import { openCluster, silenceOf, startClusterServer } from './start-cluster.js';
import type { WithoutState } from './start-without-state.js';
import type { MasterConnection } from './start-wrapper.js';

/**
 * The dashboard's directory in the package: two folders up from this file, and also from the chunk that this file
 * becomes.
 */
const DASHBOARD = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));

const TOKENS_CURE =
  'restore it from a backup, or remove it and restart the instances, which then get new tokens';

export interface StartedMaster
  extends Pick<Foundation, 'master' | 'apiCertificate' | 'files' | 'dashboard' | 'candidate'> {
  readonly api: ApiServer;
  readonly commands: Commands;
  readonly work: MasterWork;
  /** Connects the wrapper of this node to the leader. */
  readonly connection: MasterConnection;
  /**
   * Opens the cluster port to other nodes. While another master leads, the port tells nodes which master leads.
   * Repeatable.
   */
  readonly openDoor: () => Promise<void>;
}

/** The state and the parts built on it, not started yet. */
type Foundation = Awaited<ReturnType<typeof lay>>;

/**
 * Starts all parts of a master that do not depend on leading. The master leads and serves once `candidate.serve(work)`
 * is called. `before`: the parts of the node that already run, because the state was not available for long.
 */
export async function startMaster(assembly: Assembly, before?: WithoutState): Promise<StartedMaster> {
  const { paths, configuration, shared, extensions, running } = assembly;
  const { metrics, clock, logger } = shared;
  const silenceMs = silenceOf(configuration);
  const foundation = await lay(assembly, before);
  const { master, templates, files, several, apiCertificate, dashboard, candidate, store, audit, cluster } =
    foundation;
  const openDoor = async (): Promise<void> => {
    // Make the authority first: the masters present its certificates to each other, and only a leader can make it.
    if (several !== undefined && candidate.isLeader()) await cluster.authority.ensure();
    await door.open();
  };
  const work = new MasterWork({
    master,
    startFiles: () => running.start(several ?? files),
    ensureAdminKey: () => ensureAdminKey({ store, path: paths.adminKey, now: clock.now(), audit, logger }),
    openDoor,
    untilAnswered: async () => api.forwarder?.untilAnswered(),
  });
  let isLoaded = false;
  const dependencies = buildDependencies(assembly, foundation, {
    isReady: () => work.isReady,
    hasKeys: () => isLoaded,
  });
  const commands = new Commands({ ...dependencies, ask: (caller, request) => api.ask(caller, request) });
  const api = new ApiServer({
    dependencies: { ...dependencies, commands },
    before: before?.api,
    ...(configuration.store.kind === 'etcd' && {
      forwarding: {
        leadership: candidate,
        dial: async (leader, signal) =>
          (await doorOf({ ...cluster, silenceMs, clock }, leader)).tunnel(signal),
      },
    }),
  });
  // Make the key first: a script that waits for an answer of the API then reads the key.
  if (candidate.isLeader()) await work.ensureAdminKey();
  // The API listens before the other parts start, so that a taken port is known early. Until the master is ready, the
  // API answers 503.
  await running.start(api);
  const door = await startClusterServer(assembly, cluster, {
    master: () => master,
    leadership: candidate,
    takeTunnel: (connection) => api.takeTunnel(connection),
    ...(several !== undefined && { takeDesk: (transport, nodeId) => several.desk.take(transport, nodeId) }),
    apiCertificate,
  });
  // Wait until the other masters have closed their tunnels. This stop runs before that of the cluster port, which
  // would end the tunnels.
  running.onStop(async () => api.forwarder?.untilLeft());
  if (before === undefined) await running.start(extensions);
  extensions.follow(master.state, () => candidate.term() !== null);
  await running.start(master);
  isLoaded = true;
  await running.start(templates);
  running.onStop(() => candidate.stop());
  if (several !== undefined) await running.start(several.search);
  metrics.addSources({
    ...master.metricSources(),
    configurationFileErrors: () => files.ownErrors().length,
    health: () => listHealth(dependencies),
  });
  addFileGauges(metrics.registry, metrics.namingRegistry, () =>
    fileFigures({ ...dependencies, configurationFiles: files }),
  );
  addNodeGauges(metrics.namingRegistry, () => master.nodeFigures());
  addLeadershipGauges(metrics.registry, candidate);
  const connection = connectionTo(master, candidate, cluster.authority, assembly);
  return { master, api, apiCertificate, files, dashboard, commands, candidate, work, connection, openDoor };
}

/** `several`: the parts for several masters; undefined: this is the only master. */
async function lay(assembly: Assembly, before?: Pick<WithoutState, 'waitFor' | 'follow'>) {
  const { paths, configuration, shared, extensions, running, ending } = assembly;
  const { clock, logger } = shared;
  const isShared = configuration.store.kind === 'etcd';
  // Load this module only when masters share a store.
  const ofSeveral = isShared ? await import('./several-masters.js') : undefined;
  const { store, candidate } = await openMasterStore(assembly, before?.waitFor ?? (() => undefined));
  before?.follow(candidate);
  await untilFounded({ store, candidate }, ending);
  const configurationOf = (id: string) => master.state.instances.get(id)?.value.configurationName;
  const audit = new AuditLog({
    path: paths.auditLog,
    now: () => clock.now(),
    logger,
    // No request comes before the master is built.
    onEntry: (entry) => master.note(eventOfAction(entry, configurationOf)),
  });
  running.onStop(() => audit.close());
  const cluster = await openCluster(assembly, store, audit);
  const apiCertificate = await openApiCertificate(assembly, cluster.authority);
  const secret = await ensureTokenSecret(
    cluster.secrets.secret(TOKENS_SECRET, hexFile(join(paths.data, 'instance-tokens.secret'), TOKENS_CURE)),
  );
  const templates = new MasterTemplates({
    ...shared,
    nodeId: configuration.nodeId,
    writes: configuration.configurationWrites,
    paths,
    providers: extensions.storages,
    maxUploadMB: configuration.maxUploadMB,
    afterWrite: async (group, name) => several?.templates.spread(group, name),
    shared: () => several?.templates,
    nodes: {
      connected: () => master.prefetching.connected(),
      fetch: (node, digests, signal) => master.prefetching.fetch(node, digests, signal),
    },
  });
  const { nodeId, address, port, apiPort, clusterName, nodeTimeoutMs } = configuration;
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
    leadership: candidate,
    nodeTimeoutMs,
    store,
    sealing: () => cluster.secrets.sealing(),
    // When masters share the records, only the records count, not the files of one master.
    ...(!isShared && { isInForce: (record) => files.isInForce(record) }),
    readWebhooks: () => readWebhooks(join(paths.root, 'webhooks')),
    templates: templates.sources,
    issueInstanceToken: (id, createdAt) => tokens.issue(id, createdAt),
    revokeNode: (id, options) => cluster.members.revoke(id, options),
    hostAddressOf,
  });
  const tokens = new InstanceTokens(secret, creationOfKept(master.state.instances));
  const ofFiles = {
    nodeId,
    paths,
    writes: configuration.configurationWrites,
    store,
    state: master.state,
    onFault: (detail: string, name: string | undefined) =>
      master.note({ kind: 'file', detail, configuration: name }),
  };
  const several = ofSeveral
    ? new ofSeveral.SeveralMasters({
        ...ofFiles,
        leadership: candidate,
        known: new KnownMasters({
          contact: { host: address, port },
          file: new SecretDirectory(paths.cluster).file('masters.json'),
          logger,
        }),
        dial: async (peer, signal) =>
          (await doorOf({ ...cluster, silenceMs: silenceOf(configuration), clock }, peer)).desk(signal),
        templates,
        audit,
        shared,
      })
    : undefined;
  const files = several?.files ?? buildSoleFiles({ ...shared, ...ofFiles });
  const dashboard = new DashboardFiles({ directory: DASHBOARD, isOn: configuration.dashboard });
  return {
    store,
    candidate,
    audit,
    cluster,
    apiCertificate,
    tokens,
    templates,
    master,
    files,
    several,
    dashboard,
  };
}

/** Builds the functions that the API and the commands share. */
function buildDependencies(
  { paths, configuration, version, shared, extensions, stop }: Assembly,
  foundation: Foundation,
  readiness: Pick<ApiDependencies, 'isReady' | 'hasKeys'>,
): Omit<ApiDependencies, 'commands'> {
  const { store, candidate, audit, cluster, templates, master, files, several, tokens } = foundation;
  const { state } = master;
  const { clock, logger, metrics } = shared;
  return {
    configuration,
    leadership: candidate,
    version,
    dashboard: foundation.dashboard,
    ...state,
    ...readiness,
    led: () => master.led().controllers,
    instanceWrites: master.writer,
    nodeWrites: master.nodeWriter,
    rolloutWrites: master.rolloutWriter,
    secrets: master.secrets,
    configurationFiles: files,
    keyWrites: new KeyWriter({ store, keys: state.keys, clock, adminKeyPath: paths.adminKey, logger }),
    sessionWrites: new SessionWriter({ store, keys: state.keys, sessions: state.sessions, clock }),
    joinTokens: cluster.tokens,
    apiCertificate: foundation.apiCertificate,
    streams: master.streams,
    terminals: master.terminals,
    templates: templates.local,
    templateSync: templates,
    templateDigest: (group, name, storage) => templates.sources.known(group, name, storage),
    extensions,
    beats: master.beats,
    leftOn: async (nodeId, id, signal) => askForLeftDirectories(master.callsOf(nodeId), { id }, signal),
    usageOver: async (nodeId, question, signal) => askForUsage(master.callsOf(nodeId), question, signal),
    usedOf: (nodeId) => master.usedOf(nodeId),
    usages: master.usage,
    usageOf: (id) => master.usageOf(id),
    usageOfNode: (nodeId) => sumOfUsage(master.usage.ofNode(nodeId)),
    drainOf: (nodeId) => master.term?.controllers.drains.progressOf(nodeId),
    serviceOf: (name) => master.term?.controllers.decisions.serviceOf(name),
    webhooks: () => master.term?.controllers.notices.list() ?? [],
    explainer: master.explainer(files),
    unreadable: () => state.unreadable(),
    audit,
    ...(several !== undefined && { auditOfMasters: several.audit }),
    verifyInstanceToken: (token) => tokens.verify(token),
    metrics,
    logger,
    clock,
    stopDaemon: stop,
  };
}

/**
 * The host address of a node. Its text may use the variables that are known before an instance runs: properties, and
 * the node's id and address.
 */
function hostAddressOf(configuration: Configuration, node: NodeRecord): string {
  const variables = new Map(Object.entries(configuration.properties));
  variables.set('NODE_ID', node.nodeId).set('NODE_ADDRESS', node.address).set('HOST_ADDRESS', node.address);
  return configuration.hostAddress === undefined
    ? node.address
    : substitute(configuration.hostAddress, variables);
}
