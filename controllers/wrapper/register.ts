/** Builds the wrapper's controllers, and says which change wakes which of them. Called by the composition root only. */
import { Controller } from '../../src/loop/controller.js';
import type { Trace } from '../../src/loop/trace.js';
import { DroverError } from '../../src/model/errors.js';
import type { NodeParts } from './parts.js';
import type { SupervisorFacts } from './process-supervisor/goal.js';
import { ProcessSupervisor } from './process-supervisor/reconciler.js';
import type { SupervisorStep } from './process-supervisor/steps.js';
import type { InstallerFacts, InstallerStep } from './template-installer/plan.js';
import { TemplateInstaller } from './template-installer/reconciler.js';

/** How many installs run at once: each install copies files. */
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
  /** Looks again at the instances that may wait for a template: the master is connected again, or a tree has come. */
  wakeInstalls(): void;
}

export function buildWrapperControllers(parts: NodeParts, trace: Trace): WrapperControllers {
  const { desired, handles, clock, random, logger } = parts;
  const keys = (): Iterable<string> =>
    new Set([...desired.ids(), ...[...handles.values()].map(({ id }) => id)]);
  const shared = { clock, random, trace, resync: { keys } };
  const templateInstaller = new TemplateInstaller(parts, (id, afterMs) => installer.enqueue(id, { afterMs }));
  const processSupervisor = new ProcessSupervisor(parts, templateInstaller);
  const onError = (what: string) => (instance: string, err: unknown, retryInMs: number) =>
    // The node says once that a runtime is gone, and the instance says what waits for it.
    DroverError.is(err, 'DRV_RUNTIME_UNAVAILABLE')
      ? logger.debug({ reason: err.message, instance, retryInMs }, `${what} round waits for its runtime`)
      : logger.error({ err, instance, retryInMs }, `${what} round failed`);
  const installer = new Controller({
    ...shared,
    reconciler: templateInstaller,
    concurrency: INSTALLS_AT_ONCE,
    onError: onError('an install'),
  });
  const supervisor = new Controller({
    ...shared,
    reconciler: processSupervisor,
    concurrency: STARTS_AT_ONCE,
    onError: onError('a supervisor'),
  });
  desired.onChange((id) => {
    supervisor.specChanged(id);
    // A new instance has no handle yet. The supervisor makes the handle, and the new handle wakes the installer.
    if (handles.get(id) !== undefined) installer.specChanged(id);
  });
  handles.onChange((id) => {
    const phase = handles.get(id)?.phase;
    // While a start is under way, only its progress is worth a look: the runtime's answer changes the handle again.
    if (phase?.is !== 'starting' || phase.progress !== null) supervisor.enqueue(id);
    if (phase?.is === 'down' && phase.directory !== 'prepared') installer.enqueue(id);
  });
  const wakeAll = (): void => {
    for (const id of keys()) {
      supervisor.specChanged(id);
      installer.specChanged(id);
    }
  };
  const wakeInstalls = (): void => {
    for (const { id, phase } of handles.values()) if (phase.is === 'down') installer.specChanged(id);
  };
  return { installer, supervisor, processSupervisor, templateInstaller, wakeAll, wakeInstalls };
}
