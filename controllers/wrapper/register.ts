/** Builds the wrapper's controllers, and says which change wakes which of them. Called by the composition root only. */
import type { Clock } from '../../src/loop/clock.js';
import { Controller } from '../../src/loop/controller.js';
import type { Trace } from '../../src/loop/trace.js';
import type { DesiredCopy } from '../../src/node/desired-copy.js';
import type { Handle, HandleBook } from '../../src/node/handle-book.js';
import type { Logger } from '../../src/telemetry/logger.js';
import type { SupervisorFacts } from './process-supervisor/goal.js';
import { ProcessSupervisor, type ProcessSupervisorOptions } from './process-supervisor/reconciler.js';
import type { SupervisorStep } from './process-supervisor/steps.js';
import type { InstallerFacts, InstallerStep } from './template-installer/plan.js';
import { TemplateInstaller, type TemplateInstallerOptions } from './template-installer/reconciler.js';

/** How many installs run at once: each copies files. */
const INSTALLS_AT_ONCE = 4;
/** How many starts and stops run at once: each waits for a small answer of a runtime. */
const STARTS_AT_ONCE = 32;

export interface WrapperControllers {
  readonly installer: Controller<InstallerFacts, InstallerStep>;
  readonly supervisor: Controller<SupervisorFacts, SupervisorStep>;
  readonly processSupervisor: ProcessSupervisor;
  readonly templateInstaller: TemplateInstaller;
  /** Looks at every instance again, for example when the whole node begins to stop. */
  wakeAll(): void;
  /** Looks at those again whose start may wait for a template: the master is connected again, or a tree has come. */
  wakeInstalls(): void;
}

export interface WrapperControllersOptions {
  readonly desired: DesiredCopy;
  readonly handles: HandleBook;
  readonly installer: Omit<TemplateInstallerOptions, 'wake'>;
  readonly supervisor: ProcessSupervisorOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly trace: Trace;
  readonly logger: Logger;
}

export function buildWrapperControllers(options: WrapperControllersOptions): WrapperControllers {
  const { desired, handles, clock, random, trace, logger } = options;
  const keys = (): Iterable<string> =>
    new Set([...desired.ids(), ...[...handles.values()].map(({ id }) => id)]);
  const shared = { clock, random, trace, resync: { keys } };
  const templateInstaller = new TemplateInstaller({
    ...options.installer,
    wake: (id, afterMs) => installer.enqueue(id, { afterMs }),
  });
  const processSupervisor = new ProcessSupervisor({
    ...options.supervisor,
    removeWorkspace: async (id) => {
      // Else files that an install still writes would stay behind.
      await templateInstaller.whenInstalled(id);
      await options.supervisor.removeWorkspace(id);
    },
  });
  const installer = new Controller({
    ...shared,
    reconciler: templateInstaller,
    concurrency: INSTALLS_AT_ONCE,
    onError: (instance, error, retryInMs) =>
      logger.error({ err: error, instance, retryInMs }, 'an install round failed'),
  });
  const supervisor = new Controller({
    ...shared,
    reconciler: processSupervisor,
    concurrency: STARTS_AT_ONCE,
    onError: (instance, error, retryInMs) =>
      logger.error({ err: error, instance, retryInMs }, 'a supervisor round failed'),
  });
  desired.onChange((id) => {
    supervisor.specChanged(id);
    // What is new here has no handle yet: the one that the supervisor makes wakes the installer.
    if (handles.get(id) !== undefined) installer.specChanged(id);
  });
  handles.onChange((id) => {
    const handle = handles.get(id);
    // The answer to a start changes the handle again; until then only a long start has something new to show.
    if (handle?.isStarting !== true || handle.progress !== null) supervisor.enqueue(id);
    if (handle !== undefined && isDown(handle) && !handle.isPrepared) installer.enqueue(id);
  });
  const wakeAll = (): void => {
    for (const id of keys()) {
      supervisor.specChanged(id);
      installer.specChanged(id);
    }
  };
  const wakeInstalls = (): void => {
    for (const handle of handles.values()) if (isDown(handle)) installer.specChanged(handle.id);
  };
  return { installer, supervisor, processSupervisor, templateInstaller, wakeAll, wakeInstalls };
}

/** An install is possible only where nothing runs or is about to. */
function isDown({ process, isStarting, hasRemains, stopping }: Handle): boolean {
  return process === null && !isStarting && !hasRemains && stopping === null;
}
