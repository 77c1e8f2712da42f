/** The master's half of a node as a process: its state, files, templates, keys, commands and API, in order. */
import { join } from 'node:path';
import { ensureAdminKey } from './api/admin-key.js';
import { KeyWriter } from './api/key-writer.js';
import { ApiServer } from './api/server.js';
import { ensureTokenSecret } from './api/token-secret.js';
import { creationOfKept, InstanceTokens } from './api/tokens.js';
import { type Assembly, openNodeStore } from './assembly.js';
import { ClusterPort } from './channel/cluster-port.js';
import { Commands } from './commands/command-runner.js';
import { ConfigurationFiles } from './configuration-files/configuration-files.js';
import { Master } from './master.js';
import type { Configuration } from './model/configuration.js';
import type { NodeRecord } from './model/node.js';
import { substitute } from './runtime/variables.js';
import { AuditLog } from './telemetry/audit-log.js';
import { MasterTemplates } from './templates/master-templates.js';

/** The API serves 503 until `setReady` is called. */
export async function startMaster(assembly: Assembly): Promise<{
  master: Master;
  api: ApiServer;
  files: ConfigurationFiles;
  commands: Commands;
  setReady: () => void;
}> {
  const { paths, configuration, version, shared, extensions, running } = assembly;
  const { clock, logger, metrics } = shared;
  const store = await openNodeStore(assembly, 'master');
  const audit = new AuditLog({ path: paths.auditLog, now: () => clock.now(), logger });
  running.onStop(() => audit.close());
  await ensureAdminKey({ store, path: paths.adminKey, now: clock.now(), audit, logger });
  const secret = await ensureTokenSecret(join(paths.data, 'instance-tokens.secret'));
  const tokens = new InstanceTokens({
    secret,
    createdAtOf: (id) => creationOfKept(master.state.instances)(id),
  });
  const templates = new MasterTemplates({
    ...shared,
    paths,
    providers: extensions.storages,
    maxUploadMB: configuration.maxUploadMB,
    nodes: {
      connected: () => master.prefetching.connected(),
      prefetch: (node, digests, signal) => master.prefetching.prefetch(node, digests, signal),
    },
  });
  const { nodeId, address, port, apiPort, clusterName, nodeTimeoutMs } = configuration;
  const master = new Master({
    ...shared,
    clusterName,
    address: { nodeId, address, port, apiPort },
    nodeTimeoutMs,
    store,
    templates: templates.sources,
    issueInstanceToken: (id, createdAt) => tokens.issue(id, createdAt),
    hostAddressOf,
  });
  const { instances, configurations, nodes, keys } = master.state;
  const files = new ConfigurationFiles({
    directory: paths.configurations,
    store,
    logger,
    clock,
    whenReadable: (revision) => configurations.until(revision),
  });
  let isReady = false;
  const dependencies = {
    configuration,
    version,
    instances,
    configurations,
    nodes,
    keys,
    isReady: () => isReady,
    instanceWrites: master.writer,
    configurationWrites: files,
    services: master.services,
    templates: templates.local,
    templateSync: templates,
    beats: master.beats,
    usedOf: (nodeId: string) => master.usedOf(nodeId),
    explainer: master.explainer(() => files.errors()),
    audit,
    verifyInstanceToken: (token: string) => tokens.verify(token),
    metrics,
    logger,
  };
  const commands = new Commands({
    ...dependencies,
    clock,
    revisions: master.state.revisions,
    configurationFiles: files,
    templates,
    keyWrites: new KeyWriter({ store, keys, clock, adminKeyPath: paths.adminKey, logger }),
    extensions,
    stopDaemon: assembly.stop,
  });
  const api = new ApiServer({ clock, dependencies: { ...dependencies, commands } });
  // First of all, so that a taken port is known before anything is touched; it answers 503 until the state is there.
  await running.start(api);
  await running.start(new ClusterPort({ port, api: { address, port: apiPort } }));
  await running.start(extensions);
  extensions.follow(master.state);
  await running.start(master);
  await running.start(templates);
  await running.start(files);
  metrics.addSources({ ...master.metricSources(), configurationFileErrors: () => files.errors().length });
  const setReady = (): void => {
    isReady = true;
  };
  return { master, api, files, commands, setReady };
}

/** `hostAddress` may use what is known before an instance runs: properties, and the node's id and address. */
function hostAddressOf(configuration: Configuration, node: NodeRecord): string {
  const variables = new Map(Object.entries(configuration.properties));
  variables.set('NODE_ID', node.nodeId).set('NODE_ADDRESS', node.address).set('HOST_ADDRESS', node.address);
  return configuration.hostAddress === undefined
    ? node.address
    : substitute(configuration.hostAddress, variables);
}
