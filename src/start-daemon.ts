/**
 * Puts a node together as a process: its root directory, files, stores, API and log around the master and the
 * wrapper, started in the one right order. What was started is stopped in the opposite one.
 */
import type { Assembly, Shared } from './assembly.js';
import { Daemon } from './daemon.js';
import { BUILT_INS } from './extensions/built-in/built-ins.js';
import type { ExtensionFaults } from './extensions/extension-faults.js';
import { ExtensionRegistry } from './extensions/registry.js';
import { RunningParts } from './loop/lifecycle.js';
import { SystemClock } from './loop/system-clock.js';
import { DroverError, messageOf } from './model/errors.js';
import type { NodeConfiguration } from './model/node.js';
import { loadMainConfiguration } from './node/main-configuration.js';
import { prepareRoot, type RootPaths } from './node/root.js';
import { acquireRootLock } from './node/root-lock.js';
import { startMaster } from './start-master.js';
import { startWrapper } from './start-wrapper.js';
import { createLogger, type Terminal } from './telemetry/logger.js';
import { Metrics } from './telemetry/metrics.js';
import type { Wrapper } from './wrapper.js';

const MB = 1024 * 1024;
/** How long the start waits for the node to join its own master; only a disk that cannot be written delays that. */
const JOIN_WAIT_MS = 2000;

export interface DaemonOptions {
  /** The node's directory; made when its parent exists. */
  readonly root: string;
  readonly version: string;
  /** Where readable log lines go; false: the log file only. */
  readonly terminal: boolean | Terminal;
  /** What the command `stop` does: ends the daemon as SIGTERM does, soon. */
  readonly stop: () => void;
  /** Told of the code of extensions, so that the process can tell whose an error is that nobody caught. */
  readonly faults?: ExtensionFaults;
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
  { root, version, terminal, stop, faults }: DaemonOptions,
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
  const extensions = buildExtensions(configuration, paths, shared, faults);
  const assembly = { paths, configuration, version, shared, extensions, running, stop };
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

function buildExtensions(
  { nodeId, instanceLogs }: NodeConfiguration,
  paths: RootPaths,
  shared: Shared,
  faults: ExtensionFaults | undefined,
): ExtensionRegistry {
  return new ExtensionRegistry({
    ...shared,
    directory: paths.extensions,
    dataDirectory: paths.extensionData,
    instanceLogs: paths.instanceLogs,
    logLimits: { segmentBytes: instanceLogs.segmentMB * MB, segments: instanceLogs.segments },
    nodeId,
    builtIns: BUILT_INS,
    ...(faults !== undefined && { faults }),
  });
}

async function startAll(assembly: Assembly): Promise<Daemon> {
  const { paths, configuration, shared, running } = assembly;
  const { logger } = shared;
  const { master, api, files, commands, setReady } = await startMaster(assembly);
  const wrapper = await startWrapper(assembly, master);
  await untilJoined(wrapper, shared.clock);
  await master.startControllers();
  // Not earlier: until the node is there, a client would read of processes that may be gone, and be refused instances.
  setReady();
  return new Daemon({ paths, configuration, logger, master, wrapper, api, files, commands, running });
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
