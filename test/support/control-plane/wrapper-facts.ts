/** Facts of one instance on its node, for the plan tests of the wrapper's reconcilers. */
import type { z } from 'zod';
import type { SupervisorFacts } from '../../../controllers/wrapper/process-supervisor/goal.js';
import type { Assignment } from '../../../src/channel/protocol/messages.js';
import { type ConfigurationInput, configurationSchema } from '../../../src/model/configuration.js';
import { readinessSchema } from '../../../src/model/readiness.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import {
  AT_ONCE,
  type Down,
  type Handle,
  newHandle,
  type Remaining,
  type Starting,
  type Stopping,
  type Up,
} from '../../../src/node/handle.js';

export const ID = 'abc123';

/** An assignment to run, with port 30000 and no templates. */
export function assignmentOf(id: string, fields: Partial<Assignment> = {}): Assignment {
  return {
    id,
    configurationName: 'lobby',
    revision: 'f00',
    goal: 'run',
    restartToken: 0,
    port: 30000,
    hostAddress: '10.0.0.1',
    templates: [],
    apiKey: 'key',
    ...fields,
  };
}

export function desired(
  fields: Partial<Assignment> = {},
  isStatic = false,
  configuration: Partial<ConfigurationInput> = {},
): Desired {
  return {
    assignment: assignmentOf(ID, fields),
    configuration: configurationSchema.parse({
      name: 'lobby',
      runtime: 'process',
      command: 'run',
      static: isStatic,
      ...configuration,
    }),
  };
}

/** The handle of an instance that is new on the node: never started, nothing prepared. */
export function handle(fields: Partial<Handle> = {}): Handle {
  const known = newHandle({
    id: ID,
    configurationName: 'lobby',
    static: false,
    runtime: 'process',
    restartToken: 0,
  });
  return { ...known, ...fields };
}

/** Started as run 1 and up since the instant 0. */
export function running(fields: Partial<Handle> = {}, phase: Partial<Up> = {}): Handle {
  const process = { pid: 42, startTime: 7, bootId: 'boot' };
  return handle({ run: 1, phase: { is: 'up', process, since: 0, stopping: null, ...phase }, ...fields });
}

export function down(fields: Partial<Down> = {}): Down {
  return { is: 'down', directory: 'stale', next: AT_ONCE, ...fields };
}

export function starting(fields: Partial<Starting> = {}): Starting {
  return { is: 'starting', progress: null, isCancelled: false, next: AT_ONCE, ...fields };
}

export function remaining(fields: Partial<Remaining> = {}): Remaining {
  return {
    is: 'remaining',
    checkedAt: null,
    left: null,
    stopping: null,
    ending: null,
    next: AT_ONCE,
    ...fields,
  };
}

/** Nothing is left of a stop that began with SIGTERM at the instant 0. */
export function stopped(fields: Partial<Stopping> = {}): Handle['phase'] {
  return { is: 'stopped', stopping: { signal: 'SIGTERM', begunAt: 0, signalledAt: 0, since: 0, ...fields } };
}

/** The check of run 1, which began long ago. */
export function checkFor(readiness: z.input<typeof readinessSchema>): NonNullable<SupervisorFacts['check']> {
  return { run: 1, wanted: readinessSchema.parse(readiness), begunAt: -1e9 };
}

/** The facts of a supervisor that lacks nothing. */
export function supervisorFacts(fields: Partial<SupervisorFacts> = {}): SupervisorFacts {
  return {
    id: ID,
    desired: desired(),
    isHeld: true,
    isConfirmed: true,
    handle: handle(),
    reported: undefined,
    isNodeStopping: false,
    runtimeProblem: null,
    check: null,
    portLookedAt: null,
    groupRun: null,
    life: null,
    ...fields,
  };
}
