/**
 * The hooks of an instance. Each is a run of its own in the instance's runtime: with its user, directory, control group
 * and log, stopped by the ladder, and adopted by the next daemon. Pure.
 */
import type { Configuration } from '../../../src/model/configuration.js';
import type { HookCommand } from '../../../src/model/fields/hooks.js';
import type { Exit } from '../../../src/model/run/past-exit.js';
import { cutText } from '../../../src/model/words.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import {
  AT_ONCE,
  changed,
  ended,
  type Handle,
  hookOf,
  stoppingOf,
  type Up,
  unasked,
} from '../../../src/node/handle.js';
import type { SupervisorFacts } from './goal.js';
import { afterFailure, withPast } from './restart-delay.js';
import type { SupervisorPlan } from './steps.js';
import { planStop } from './stop-ladder.js';

const MOST_COMMAND_CHARS = 60;

/** A hook that is to run next. */
export type NextHook = Omit<NonNullable<Handle['hooks']['present']>, 'run'> & Pick<HookCommand, 'command'>;

/** The hook that must run before anything else, because a run has ended; undefined: none is owed. */
export function owedHook(
  { desired }: Pick<SupervisorFacts, 'desired'>,
  { hooks }: Handle,
): NextHook | undefined {
  const { after = [] } = desired?.configuration ?? {};
  return hooks.owed === null ? undefined : hookAt('after', hooks.owed, after);
}

/** The hook before the next start; undefined: all are done. */
export function nextPrepare({ configuration }: Desired, handle: Handle): NextHook | undefined {
  const { prepare = [] } = configuration;
  const isInstalled = handle.static && handle.hooks.preparedFor === preparedFor(configuration, handle);
  const isDue = (index: number): boolean =>
    index >= handle.hooks.done && !(isInstalled && prepare[index]?.when === 'install');
  return hookAt('prepare', [...prepare.keys()].find(isDue) ?? prepare.length, prepare);
}

/** The state of the hooks when a hook, or the command, is started as the next run. */
export function hooksOfStart(
  { configuration }: Desired,
  handle: Handle,
  hook: NextHook | undefined,
): Handle['hooks'] {
  const hooks = { ...handle.hooks, runs: handle.hooks.runs + (hook === undefined ? 0 : 1) };
  const present = hook === undefined ? hooks.present : { ...hook, run: handle.run + 1 };
  const isLeft = configuration.prepare?.some(
    ({ when }, index) => when === 'install' && index >= (hook?.index ?? index + 1),
  );
  if (hook?.kind === 'after' || isLeft === true) return { ...hooks, present };
  return { ...hooks, present, preparedFor: preparedFor(configuration, handle) };
}

/** The commands and the installed templates that the hooks of an install are run for. */
function preparedFor({ prepare = [] }: Configuration, { installed }: Handle): string {
  const digests = installed?.templates.map(({ digest }) => digest) ?? [];
  return JSON.stringify([
    digests,
    prepare.flatMap(({ command, when }) => (when === 'install' ? command : [])),
  ]);
}

function hookAt(kind: NextHook['kind'], index: number, hooks: readonly HookCommand[]): NextHook | undefined {
  const hook = hooks[index];
  if (hook === undefined) return undefined;
  const { command, timeoutSeconds } = hook;
  const name = `${kind} ${index + 1} (${cutText(command, MOST_COMMAND_CHARS)})`;
  const next = index + 1 < hooks.length ? index + 1 : null;
  return { kind, index, next, name, command, timeoutMs: timeoutSeconds * 1000 };
}

/** The content under which a hook is started. */
export function contentOfHook(desired: Desired, hook: NextHook, { exit }: Handle): Desired {
  const { configuration } = desired;
  const { environmentVariables, properties } = configuration;
  const ending = { DROVER_EXIT_CODE: `${exit?.code ?? ''}`, DROVER_EXIT_SIGNAL: exit?.signal ?? '' };
  return {
    ...desired,
    configuration: {
      ...configuration,
      command: hook.command,
      environmentVariables: { ...environmentVariables, ...(hook.kind === 'after' && ending) },
      // The program of an image is not the hook.
      properties: { ...properties, dockerEntrypoint: 'shell' },
    },
  };
}

/** Plans for a hook that runs and may go on: when its time is over, the ladder ends it. */
export function planHook(handle: Handle, phase: Up, timeoutMs: number, now: number): SupervisorPlan {
  const leftMs = phase.since === null ? timeoutMs : phase.since + timeoutMs - now;
  return phase.stopping === null && leftMs > 0
    ? { steps: [], recheckInMs: leftMs }
    : planStop(withoutCommand(handle), phase, now);
}

/** The handle for the ladder of a hook: it does not read the program's stop command, and no proxy has to see it leave. */
export function withoutCommand(handle: Handle): Handle {
  const stop = { ...handle.stop, command: null, leaveMs: 0 };
  return hookOf(handle) === null ? handle : changed(handle, { stop });
}

/** The handle after its hook ended; undefined: the run was no hook. A hook after the program is never repeated. */
export function afterHook(
  handle: Handle,
  exit: Exit,
  ending: string,
  now: number,
  jitter: number,
): Handle | undefined {
  const hook = hookOf(handle);
  if (hook === null) return undefined;
  const { phase, hooks } = handle;
  const isLate = phase.is === 'up' && phase.since !== null && now - phase.since >= hook.timeoutMs;
  const wasAsked = stoppingOf(handle) !== null && !isLate;
  const how = isLate ? `took longer than ${hook.timeoutMs / 1000} s` : ending;
  const isDone = exit.code === 0 && !isLate;
  const message = `${hook.name} ${how}`;
  // The ladder of a late hook is no stop that somebody asked for.
  const base = isLate ? unasked(handle) : handle;
  const exits = isDone ? handle.exits : withPast(handle, { ...exit, cause: message }, wasAsked);
  const next = { ...base, exits };
  if (hook.kind === 'after') return ended({ ...next, hooks: { ...hooks, owed: hook.next } }, AT_ONCE);
  if (isDone) return ended({ ...next, hooks: { ...hooks, done: hook.index + 1 } }, AT_ONCE);
  if (wasAsked) return ended(next, AT_ONCE);
  const problem = { reason: 'install-failed', message, busyPort: null } as const;
  const failure = afterFailure(handle, problem, now, jitter);
  return ended({ ...next, streak: failure.streak }, failure.next);
}
