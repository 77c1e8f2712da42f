/**
 * Holds a configuration's `ramMB` and `cpu` for all processes of a run together, and measures them together. The
 * supervisor opens it before a start and closes it when nothing of the run lives any more. Runtimes that limit by
 * themselves (docker) do without.
 */
import { isInstanceId } from '../../model/names.js';
import { NO_GROUPS, type RunGroups } from '../run-groups.js';
import type { RunId, Usage } from '../runtime.js';

export interface RunLimits {
  /** RAM, with swap; 0: no limit. */
  readonly ramMB: number;
  /** 100 = one core; 0: no limit. */
  readonly cpu: number;
}

export interface ResourceLimits extends RunGroups {
  /** Why limits do not hold on this node, for the operator; null: they hold. */
  readonly advisory: string | null;

  /**
   * Makes what the run's processes join (`StartSpec.controlGroups`), or takes it over from an earlier run of the instance
   * of which nothing is left; that run has none from then on. Never throws: where it cannot be made the start goes on
   * without limits, and the log says so.
   */
  open(run: RunId, limits: RunLimits): Promise<readonly string[]>;

  /**
   * Takes up what an earlier daemon opened for a run whose process `pid` lives. False: it is not known what that is.
   * Repeatable.
   */
  adopt(run: RunId, pid: number, limits: RunLimits): Promise<boolean>;

  /** Whether the memory limit has ended a process of the run that `noteKills` has not reported. */
  wasOutOfMemory(run: RunId): boolean;

  /**
   * Reports, for a warning, processes that the memory limit ended while their run went on. Only kills from before
   * the call count, so that the end of the run itself is reported as such. Each kill is reported once.
   */
  noteKills(run: RunId): number;

  /** What the run uses now; undefined: unknown here. */
  usage(run: RunId): Usage | undefined;

  /** Nothing of the run lives any more. What is still in use is removed later. Repeatable. */
  close(run: RunId): Promise<void>;

  /**
   * Removes the groups that earlier runs of this root left. Called when the live runs are adopted. What still lives
   * in one of them is ended if `isOver` says that nothing of its run may live, and left alone otherwise.
   */
  removeUnused(isOver: (run: RunId) => boolean): Promise<void>;

  /** Removes what is left when nothing runs. Running instances keep their limits. Idempotent. */
  stop(): Promise<void>;
}

/** Limits that do not hold, and why. */
export function advisoryLimits(reason: string): ResourceLimits {
  return {
    ...NO_GROUPS,
    advisory: reason,
    open: async () => [],
    adopt: async () => false,
    wasOutOfMemory: () => false,
    noteKills: () => 0,
    usage: () => undefined,
    close: async () => undefined,
    removeUnused: async () => undefined,
    stop: async () => undefined,
  };
}

export function runKeyOf(run: RunId): string {
  return `${run.instanceId}.${run.run}`;
}

/** `<instance>.<run>`: the run of such a name; undefined: the name is none. */
export function parseRunKey(name: string): RunId | undefined {
  const [instanceId = '', run = '', ...rest] = name.split('.');
  const isOne = isInstanceId(instanceId) && /^[0-9]+$/.test(run) && rest.length === 0;
  return isOne ? { instanceId, run: Number(run) } : undefined;
}
