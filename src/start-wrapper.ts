/** The wrapper's half of a node as a process: its runtimes, directories and caches, joined to the master in it. */
import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Assembly, openNodeStore } from './assembly.js';
import { createInProcessPair } from './channel/transport.js';
import { Housekeeping } from './housekeeping.js';
import type { Master } from './master.js';
import type { NodeCapacity, NodeConfiguration } from './model/node.js';
import { LocalInstallation } from './runtime/installation.js';
import { ProcessRuntime } from './runtime/process/process-runtime.js';
import { Workspaces } from './runtime/workspace.js';
import { TemplateCache } from './templates/cache.js';
import { Wrapper } from './wrapper.js';

const MB = 1024 * 1024;
/** Share of the machine's RAM that instances may be given when `maxRamMB` is not set. */
const DEFAULT_RAM_SHARE = 0.9;
const OWNER_PROGRAM = fileURLToPath(new URL('./runtime/process/owner-main.js', import.meta.url));

export async function startWrapper(assembly: Assembly, master: Master): Promise<Wrapper> {
  const { paths, configuration, version, shared, extensions, running } = assembly;
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
    runtimes: [runtime, ...extensions.runtimes()],
    installation: new LocalInstallation({
      nodeId,
      address,
      runningDirectory: paths.running,
      logsDirectory: paths.instanceLogs,
      cache,
      workspaces,
      inherited: process.env,
      addedVariables: (instance) => extensions.variables(instance),
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
