/**
 * Starts the wrapper's half of a node as a process: its runtimes, directories and caches, and its connection to the
 * master.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Services } from '../channel/protocol/calls.js';
import type { Transport } from '../channel/protocol/transport.js';
import { usageServices } from '../channel/services/usage-day.js';
import { Bell } from '../loop/bell.js';
import type { Clock } from '../loop/clock.js';
import { capacityOf, thisMachine } from '../node/capacity.js';
import { Housekeeping } from '../node/housekeeping.js';
import { ownSealing } from '../node/node-secrets.js';
import { SecretDirectory } from '../node/secret-files.js';
import { UsageDay } from '../node/usage-day.js';
import { NodeUsers } from '../runtime/command/node-users.js';
import { DockerRuntime } from '../runtime/docker/docker-runtime.js';
import { EditThread } from '../runtime/installation/file-edits/edit-thread.js';
import { LocalInstallation } from '../runtime/installation/local-installation.js';
import { Workspaces } from '../runtime/installation/workspace.js';
import type { RunGroups } from '../runtime/instance-processes.js';
import { openLimits } from '../runtime/limits/open-limits.js';
import { ProcessUsage } from '../runtime/limits/process-usage.js';
import { holderOfPort } from '../runtime/listening.js';
import { checkPort } from '../runtime/ports.js';
import { processRuntime } from '../runtime/process/process-runtime.js';
import { ProcessTable } from '../runtime/process-table.js';
import type { Runtime } from '../runtime/runtime.js';
import { sessionRuntime } from '../runtime/session/session-runtime.js';
import { TemplateCache } from '../templates/transfer/cache.js';
import { PackThreads } from '../templates/transfer/pack-threads.js';
import { Wrapper, type WrapperOptions } from '../wrapper.js';
import { type Assembly, openNodeStore } from './assembly.js';

type HiddenValues = Wrapper['hiddenValues'];

const MB = 1024 * 1024;
/** How long a start waits for the master's first snapshot. Only an absent master or a full disk delays the snapshot. */
const FED_WAIT_MS = 2000;
/**
 * The programs of owners and threads. The paths are right in the built program, where this file is part of a chunk
 * (rolldown.config.ts).
 */
const OWNER_PROGRAM = fileURLToPath(new URL('../owner-main.js', import.meta.url));
const EDIT_PROGRAM = fileURLToPath(new URL('../edit-thread-main.js', import.meta.url));
const PACK_PROGRAM = fileURLToPath(new URL('../pack-thread-main.js', import.meta.url));
const SESSION_OWNER_PROGRAM = fileURLToPath(new URL('../session-owner-main.js', import.meta.url));

const ROOT_WARNING =
  'Drover runs as root, and so does each instance without runAs: it can read data/admin.key and all of this machine; ' +
  'name a runAs in config.json, or run Drover as a user of its own (docs/operations.md: What an instance can reach)';

/**
 * The connection of the wrapper to its master, and the calls that the wrapper answers in addition to the ordinary
 * services.
 */
export interface MasterConnection {
  readonly connect: (signal: AbortSignal) => Promise<Transport>;
  readonly endRefused?: (reason: string) => void;
  readonly masters?: NonNullable<WrapperOptions['masters']>;
  readonly services?: Services;
}

export async function startWrapper(assembly: Assembly, connection: MasterConnection): Promise<Wrapper> {
  const { paths, configuration, version, shared, extensions, running, older } = assembly;
  const { nodeId, clusterName, address } = configuration;
  const { logger, clock } = shared;
  const store = await openNodeStore(assembly, 'node');
  const packThreads = new PackThreads(PACK_PROGRAM);
  running.onStop(() => packThreads.stop());
  const editThread = new EditThread(EDIT_PROGRAM, clock);
  running.onStop(() => editThread.stop());
  const cache = new TemplateCache({ directory: paths.templateCache, packThreads, logger, clock });
  await running.start(cache);
  const workspaces = new Workspaces({
    runningDirectory: paths.running,
    installedDirectory: join(paths.data, 'installed'),
    cache,
    packThreads,
    editThread,
    logger,
  });
  await workspaces.removeUnfinished();
  running.onStop(() => workspaces.stop());
  if (process.getuid?.() === 0 && configuration.runAs === undefined) logger.warn(ROOT_WARNING);
  const limits = await openLimits({
    rootId: paths.rootId,
    directory: paths.running,
    environment: process.env,
    logger,
  });
  const day: UsageDay = new UsageDay({
    directory: paths.usage,
    instances: () => wrapper.used(),
    players: (ids) => wrapper.players(ids),
    clock,
    logger,
  });
  const wrapper: Wrapper = new Wrapper({
    ...shared,
    nodeId,
    clusterName,
    address,
    version,
    capacity: capacityOf(configuration, thisMachine()),
    runtimes: [
      ...keptRuntimes(assembly, limits),
      dockerRuntime(assembly, (id) => wrapper.hiddenValues(id)),
      ...extensions.runtimes(),
    ],
    limits,
    processUsage: new ProcessUsage(new ProcessTable(), paths.rootId),
    installation: new LocalInstallation({
      nodeId,
      address,
      runningDirectory: paths.running,
      logsDirectory: paths.instanceLogs,
      apiAuthority: paths.apiAuthority,
      cache,
      workspaces,
      clock,
      // A copy, because each read of `process.env` is a system call, and every start of an instance reads all
      // variables.
      inherited: { ...process.env },
      users: new NodeUsers(configuration.runAs),
      addedVariables: (instance) => extensions.variables(instance),
    }),
    checkPort,
    holderOfPort,
    ...connection,
    services: { ...connection.services, ...usageServices((question, signal) => day.read(question, signal)) },
    older,
    sealing: await ownSealing(new SecretDirectory(paths.cluster).file('node-secrets.key')),
    store,
  });
  await running.start(wrapper);
  await running.start(day);
  const inUse = (): ReturnType<Wrapper['inUse']> => wrapper.inUse();
  await running.start(new Housekeeping({ logsDirectory: paths.instanceLogs, cache, inUse, clock, logger }));
  return wrapper;
}

/** The runtimes that outlive the daemon, the default runtime first. */
function keptRuntimes({ paths, configuration, shared }: Assembly, groups: RunGroups): Runtime[] {
  const options = {
    ...shared,
    rootId: paths.rootId,
    socketDirectory: paths.sockets,
    lockKey: paths.lockKey,
    sessionsDirectory: join(paths.data, 'sessions'),
    logsDirectory: paths.instanceLogs,
    segmentBytes: configuration.instanceLogs.segmentMB * MB,
    segments: configuration.instanceLogs.segments,
    sessionOwnerProgram: SESSION_OWNER_PROGRAM,
    path: process.env.PATH ?? '',
    groups,
  };
  return [
    sessionRuntime({ ...options, tool: 'screen' }),
    sessionRuntime({ ...options, tool: 'tmux' }),
    processRuntime({ ...options, ownerProgram: OWNER_PROGRAM }),
  ];
}

function dockerRuntime(
  { paths, configuration, shared }: Assembly,
  hiddenValues: HiddenValues,
): DockerRuntime {
  const { segmentMB, segments } = configuration.instanceLogs;
  return new DockerRuntime({
    ...shared,
    rootId: paths.rootId,
    stateDirectory: join(paths.data, 'docker'),
    logsDirectory: paths.instanceLogs,
    limits: { segmentBytes: segmentMB * MB, segments },
    environment: process.env,
    hiddenValues,
  });
}

/** Resolves when the wrapper has the master's first snapshot, or after two seconds. */
export async function untilFed(wrapper: Wrapper, clock: Clock): Promise<void> {
  const fed = new Bell();
  void wrapper.whenFed.then(() => fed.ring());
  await fed.wait(undefined, { clock, ms: FED_WAIT_MS });
}
