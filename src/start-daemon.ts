/**
 * Puts a node together as a process: its root directory, files, stores, API and log around the master and the
 * wrapper, started in the one right order. What was started is stopped in the opposite one.
 */
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureAdminKey } from './api/admin-key.js';
import { ApiServer } from './api/server.js';
import { ensureTokenSecret } from './api/token-secret.js';
import { InstanceTokens } from './api/tokens.js';
import { createInProcessPair } from './channel/transport.js';
import { ConfigurationFiles } from './configuration-files/configuration-files.js';
import { Daemon } from './daemon.js';
import { Housekeeping } from './housekeeping.js';
import { RunningParts } from './loop/lifecycle.js';
import { SystemClock } from './loop/system-clock.js';
import { Master } from './master.js';
import type { Configuration } from './model/configuration.js';
import { DroverError, messageOf } from './model/errors.js';
import type { NodeCapacity, NodeConfiguration, NodeRecord } from './model/node.js';
import { loadMainConfiguration } from './node/main-configuration.js';
import { prepareRoot, type RootPaths } from './node/root.js';
import { acquireRootLock } from './node/root-lock.js';
import { LocalInstallation } from './runtime/installation.js';
import { ProcessRuntime } from './runtime/process/process-runtime.js';
import { substitute } from './runtime/variables.js';
import { Workspaces } from './runtime/workspace.js';
import { openStore } from './store/open.js';
import type { Store } from './store/store.js';
import { createLogger, type Logger, type Terminal } from './telemetry/logger.js';
import { Metrics } from './telemetry/metrics.js';
import { TemplateCache } from './templates/cache.js';
import { TemplateLibrary } from './templates/library.js';
import { Wrapper } from './wrapper.js';

const MB = 1024 * 1024;
/** How long the start waits for the node to join its own master; only a disk that cannot be written delays that. */
const JOIN_WAIT_MS = 2000;
/** Share of the machine's RAM that instances may be given when `maxRamMB` is not set. */
const DEFAULT_RAM_SHARE = 0.9;
const OWNER_PROGRAM = fileURLToPath(new URL('./runtime/process/owner-main.js', import.meta.url));

export interface DaemonOptions {
  /** The node's directory; made when its parent exists. */
  readonly root: string;
  readonly version: string;
  /** Where readable log lines go; false: the log file only. */
  readonly terminal: boolean | Terminal;
}

/** What every part of a node gets. */
interface Shared {
  readonly clock: SystemClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

interface Assembly {
  readonly paths: RootPaths;
  readonly configuration: NodeConfiguration;
  readonly version: string;
  readonly shared: Shared;
  readonly running: RunningParts;
}

/** Throws DroverErrors whose message is one clear line; everything that was begun is then undone. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const running = new RunningParts();
  try {
    return await startParts(options, running);
  } catch (error) {
    await running.stop();
    throw error;
  }
}

async function startParts(
  { root, version, terminal }: DaemonOptions,
  running: RunningParts,
): Promise<Daemon> {
  const paths = await prepareRoot(root);
  const configuration = await loadMainConfiguration(paths.configFile);
  refuseWhatIsNotThere(configuration);
  const lock = await acquireRootLock(paths);
  running.onStop(() => lock.release());
  const level = configuration.debug ? 'debug' : configuration.logLevel;
  const log = await createLogger({ file: paths.droverLog, terminal, level });
  running.onStop(() => log.close());
  const { logger } = log;
  running.onStop(() => logger.info('Drover has ended'));
  logger.info({ version, node: configuration.nodeId, root: paths.root }, `Drover ${version} starts`);

  const shared = { clock: new SystemClock(), random: Math.random, logger, metrics: new Metrics() };
  const assembly = { paths, configuration, version, shared, running };
  try {
    return await startAll(assembly);
  } catch (error) {
    // In the log too: under a service manager nobody sees the terminal.
    logger.error(
      error instanceof DroverError ? { code: error.code } : { err: error },
      `Drover cannot start: ${messageOf(error)}`,
    );
    throw error;
  }
}

async function startAll(assembly: Assembly): Promise<Daemon> {
  const { paths, configuration, shared, running } = assembly;
  const { logger } = shared;
  const { master, api, files, setReady } = await startMaster(assembly);
  const wrapper = await startWrapper(assembly, master);
  await untilJoined(wrapper, shared.clock);
  await master.startControllers();
  // Not earlier: until the node is there, a client would read of processes that may be gone, and be refused instances.
  setReady();
  return new Daemon({ paths, configuration, logger, master, wrapper, api, files, running });
}

function refuseWhatIsNotThere(configuration: NodeConfiguration): void {
  if (configuration.isMasterNode) return;
  throw new DroverError(
    'DRV_NODE_CONFIG_INVALID',
    'config.json: isMasterNode is false, but joining a master on another machine is not part of this version: set it to true',
  );
}

async function untilJoined(wrapper: Wrapper, clock: SystemClock): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.setTimer(JOIN_WAIT_MS, resolve);
    void wrapper.whenFed.then(() => {
      timer.cancel();
      resolve();
    });
  });
}

async function openNodeStore({ paths, shared, running }: Assembly, name: 'master' | 'node'): Promise<Store> {
  const store = await openStore({
    directory: join(paths.store, name),
    onWrite: (seconds) => shared.metrics.observeStoreWrite(seconds),
    logger: shared.logger,
  });
  running.onStop(() => store.close());
  return store;
}

async function startMaster(
  assembly: Assembly,
): Promise<{ master: Master; api: ApiServer; files: ConfigurationFiles; setReady: () => void }> {
  const { paths, configuration, version, shared, running } = assembly;
  const { clock, logger, metrics } = shared;
  const store = await openNodeStore(assembly, 'master');
  await ensureAdminKey({ store, path: paths.adminKey, now: clock.now() });
  const secret = await ensureTokenSecret(join(paths.data, 'instance-tokens.secret'));
  const tokens = new InstanceTokens({
    secret,
    createdAtOf: (id) => master.state.instances.get(id)?.value.createdAt,
  });
  const library = new TemplateLibrary({ directory: paths.templates, logger, clock });
  const { nodeId, address, port, apiPort, clusterName, nodeTimeoutMs } = configuration;
  const master = new Master({
    ...shared,
    clusterName,
    address: { nodeId, address, port, apiPort },
    nodeTimeoutMs,
    store,
    templates: library,
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
    beats: master.beats,
    verifyInstanceToken: (token: string) => tokens.verify(token),
    metrics,
    logger,
  };
  const api = new ApiServer({ clock, dependencies });
  // First of all, so that a taken port is known before anything is touched; it answers 503 until the state is there.
  await running.start(api);
  await running.start(master);
  await running.start(library);
  await running.start(files);
  metrics.addSources({ ...master.metricSources(), configurationFileErrors: () => files.errors().length });
  const setReady = (): void => {
    isReady = true;
  };
  return { master, api, files, setReady };
}

async function startWrapper(assembly: Assembly, master: Master): Promise<Wrapper> {
  const { paths, configuration, version, shared, running } = assembly;
  const { nodeId, clusterName, address, instanceLogs } = configuration;
  const { logger, clock } = shared;
  const store = await openNodeStore(assembly, 'node');
  const cache = new TemplateCache({ directory: paths.templateCache, logger, clock });
  await running.start(cache);
  const workspaces = new Workspaces({ runningDirectory: paths.running, cache, logger });
  await workspaces.cleanLeftovers();
  running.onStop(() => workspaces.stop());
  const runtime = new ProcessRuntime({
    rootId: paths.rootId,
    socketDirectory: paths.sockets,
    logsDirectory: paths.instanceLogs,
    segmentBytes: instanceLogs.segmentMB * MB,
    segments: instanceLogs.segments,
    ownerProgram: OWNER_PROGRAM,
    logger,
    clock,
  });
  const wrapper = new Wrapper({
    ...shared,
    nodeId,
    clusterName,
    address,
    version,
    capacity: capacityOf(configuration),
    runtimes: [runtime],
    installation: new LocalInstallation({
      nodeId,
      address,
      runningDirectory: paths.running,
      logsDirectory: paths.instanceLogs,
      cache,
      workspaces,
      inherited: process.env,
    }),
    connect: async () => {
      const [mine, its] = createInProcessPair();
      master.accept(its);
      return mine;
    },
    store,
  });
  await running.start(wrapper);
  const inUse = (): ReturnType<Wrapper['inUse']> => wrapper.inUse();
  await running.start(new Housekeeping({ logsDirectory: paths.instanceLogs, cache, inUse, clock, logger }));
  return wrapper;
}

function capacityOf({ maxRamMB, maxCpu }: NodeConfiguration): NodeCapacity {
  return {
    maxRamMB: maxRamMB ?? Math.max(1, Math.floor((totalmem() / MB) * DEFAULT_RAM_SHARE)),
    maxCpu: maxCpu ?? availableParallelism() * 100,
  };
}

/** `hostAddress` may use what is known before an instance runs: properties, and the node's id and address. */
function hostAddressOf(configuration: Configuration, node: NodeRecord): string {
  const variables = new Map(Object.entries(configuration.properties));
  variables.set('NODE_ID', node.nodeId).set('NODE_ADDRESS', node.address).set('HOST_ADDRESS', node.address);
  return configuration.hostAddress === undefined
    ? node.address
    : substitute(configuration.hostAddress, variables);
}
