/**
 * Starts a node as a process. It builds the root directory, files, stores, API and log around the master and the
 * wrapper, in the only right order. It stops them in the opposite order.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BUILT_INS } from '../extensions/built-in/built-ins.js';
import type { ExtensionFaults } from '../extensions/extension-faults.js';
import type { Beat } from '../extensions/loop-thread-main.js';
import { ExtensionRegistry } from '../extensions/registry.js';
import { removeUnfinishedWrites } from '../files/replace-file.js';
import { RunningParts } from '../loop/lifecycle.js';
import { pause } from '../loop/pause.js';
import { SystemClock } from '../loop/system-clock.js';
import { WorkerThread } from '../loop/worker-thread.js';
import { DroverError, messageOf, storeClosed } from '../model/errors.js';
import type { NodeConfiguration } from '../model/node.js';
import { loadMainConfiguration } from '../node/main-configuration.js';
import { prepareRoot, type RootPaths } from '../node/root.js';
import { acquireRootLock } from '../node/root-lock.js';
import { removeUnfinishedStores } from '../store/lmdb/replace.js';
import { createLogger, type LogTerminal } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { RepeatedLog } from '../telemetry/repeated-log.js';
import type { Assembly, Shared } from './assembly.js';
import { Daemon } from './daemon.js';
import type { MasterWork } from './master-work.js';
import type { MemberNode } from './member-node.js';
import { startMaster } from './start-master.js';
import { startMemberNode } from './start-member.js';
import { startWithoutState } from './start-without-state.js';
import { startWrapper, untilFed } from './start-wrapper.js';

const MB = 1024 * 1024;
const FILES_AGAIN_MS = 2000;
/** How long a start may go on to its end once the node is to end. */
const START_ENDS_MS = 1000;
/** How long the parts of a start that is given up may take to stop. The process then ends without them. */
const STOP_MS = 3000;
const LOOP_PROGRAM = fileURLToPath(new URL('../loop-thread-main.js', import.meta.url));

/** A master with its own wrapper, or a wrapper alone. */
export type StartedNode = Daemon | MemberNode;

/** `stop` ends the daemon soon, as SIGTERM does; the command `stop` calls it. */
export interface DaemonOptions extends Pick<Assembly, 'version' | 'stop' | 'fail' | 'fenced'> {
  /** The node's directory. It is created if its parent exists. */
  readonly root: string;
  /** Where readable log lines go; false: the log lines go to the log file only. */
  readonly terminal: boolean | LogTerminal;
  /**
   * Aborts when the node is to end while it still starts, so that a start that waits for etcd gives up. Default: never.
   */
  readonly ending?: AbortSignal;
  /** True when the node accepts an older store, such as a restored one, from the first master that answers. */
  readonly acceptOlder?: boolean;
  /**
   * Gets to know which code belongs to extensions, so that the process can attribute an uncaught error to an extension.
   */
  readonly faults?: ExtensionFaults;
}

/**
 * Starts the node. Throws DroverErrors whose message is one clear line, after undoing every step of the start. Throws
 * DRV_STORE_CLOSED soon after `ending` aborts, whatever the start waits for.
 */
export async function startDaemon(options: DaemonOptions): Promise<StartedNode> {
  const running = new RunningParts();
  const { ending } = options;
  try {
    return await Promise.race([startParts(options, running), ...(ending ? [givenUp(ending)] : [])]);
  } catch (error) {
    const stopping = running.stop();
    await (ending?.aborted === true ? Promise.race([stopping, sleep(STOP_MS)]) : stopping);
    throw error;
  }
}

/** Rejects with DRV_STORE_CLOSED when the node must end and the start has had a moment to end by itself. */
async function givenUp(ending: AbortSignal): Promise<never> {
  if (!ending.aborted)
    await new Promise((resolve) => ending.addEventListener('abort', resolve, { once: true }));
  await sleep(START_ENDS_MS);
  throw storeClosed('ended while it started; instances that run here go on');
}

async function startParts(
  { root, version, terminal, stop, fail, fenced, acceptOlder = false, ending, faults }: DaemonOptions,
  running: RunningParts,
): Promise<StartedNode> {
  const paths = await prepareRoot(root);
  const locking = acquireRootLock(paths);
  running.onStop(() => locking.then((lock) => lock.release(), ignore));
  const [configuration] = await Promise.all([loadMainConfiguration(paths.configFile), locking]);
  for (const directory of [paths.root, paths.data, paths.cluster]) await removeUnfinishedWrites(directory);
  await removeUnfinishedStores(paths.store);
  const level = configuration.debug ? 'debug' : configuration.logLevel;
  const log = await createLogger({ file: paths.droverLog, terminal, level });
  running.onStop(() => log.close());
  const { logger } = log;
  running.onStop(() => logger.info('Drover has ended'));
  logger.info({ version, node: configuration.nodeId, root: paths.root }, `Drover ${version} starts`);

  const shared = { clock: new SystemClock(), random: Math.random, logger, metrics: new Metrics() };
  const loops = new WorkerThread<Beat, void>({ program: LOOP_PROGRAM, name: 'loops', task: 'finds loops' });
  running.onStop(() => loops.stop());
  const beat = (): void => {
    if (extensions.codes.size > 0) loops.ask({ codes: extensions.codes, log: paths.droverLog }).catch(ignore);
  };
  // The first beat comes before any code of an extension runs: a loop may be in its first second.
  const extensions = buildExtensions(configuration, paths, { ...shared, onCode: beat }, faults);
  // Keeps the process alive, because the clock's timers do not: a node that only waits for its master would exit.
  const alive = setInterval(beat, 1000);
  running.onStop(() => clearInterval(alive));
  const assembly: Assembly = {
    paths,
    configuration,
    version,
    shared,
    extensions,
    running,
    stop,
    ending: ending ?? new AbortController().signal,
    fail: (reason) => {
      // The caller prints the line at the terminal, so the log must not print it there again.
      log.closeTerminal();
      logger.error(`Drover ends: ${reason}`);
      fail(reason);
    },
    older: { isAccepted: acceptOlder },
    fenced: (error) => {
      log.closeTerminal();
      logger.error({ code: error.code }, `Drover ends: ${error.message}`);
      fenced(error);
    },
  };
  try {
    return await startAll(assembly);
  } catch (error) {
    // The caller prints the line at the terminal. The log file gets the line too, because a service manager may not
    // show the terminal.
    log.closeTerminal();
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
  shared: Shared & { readonly onCode: () => void },
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

async function startAll(assembly: Assembly): Promise<StartedNode> {
  const { configuration, shared } = assembly;
  if (!configuration.isMasterNode) return startMemberNode(assembly);
  const before = configuration.store.kind === 'etcd' ? await startWithoutState(assembly) : undefined;
  const started = await startMaster(assembly, before);
  const { candidate, work, connection, openDoor } = started;
  const serving = candidate.serve(work);
  // The promise is awaited below, after the wrapper. Without this handler, an earlier failure would count as unhandled.
  serving.catch(ignore);
  before?.connect(connection);
  const wrapper = before?.wrapper ?? (await startWrapper(assembly, connection));
  if (candidate.isLeader()) await untilFed(wrapper, shared.clock);
  work.nodeIsUp();
  await serving;
  await openDoor();
  void followFiles(work, assembly);
  return new Daemon(assembly, wrapper, started);
}

/**
 * Follows the files on every master, leading or not. A leader whose files fail gives up its term instead, and tries
 * again in its next term.
 */
async function followFiles(work: MasterWork, { shared, running }: Assembly): Promise<void> {
  const { clock, logger } = shared;
  const failures = new RepeatedLog(logger, clock, 'error');
  const stopping = new AbortController();
  running.onStop(() => stopping.abort());
  while (!stopping.signal.aborted) {
    try {
      await work.startFiles();
      return;
    } catch (error) {
      if (DroverError.is(error, 'DRV_STORE_CLOSED')) return;
      const line = `the directories are not followed: ${messageOf(error)}; trying again`;
      failures.say(line, line, { err: error });
    }
    await pause(clock, FILES_AGAIN_MS, stopping.signal);
  }
}

function ignore(): void {}
