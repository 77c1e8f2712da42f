/**
 * What holds `ramMB` and `cpu` of a configuration for all processes of a run, and measures them as one. The supervisor
 * opens it before a start and closes it when nothing of the run lives any more; runtimes that limit by themselves
 * (docker) do without.
 */
import type { RunId, Usage } from '../runtime.js';

export interface RunLimits {
  /** RAM, and swap with it; 0: no limit. */
  readonly ramMB: number;
  /** 100 = one core; 0: no limit. */
  readonly cpu: number;
}

export interface ResourceLimits {
  /** Why limits do not hold on this node, in words for the operator; null: they hold. */
  readonly advisory: string | null;

  /**
   * Makes what the run's processes join (`StartSpec.controlGroups`). Never throws: where it cannot be made the start
   * goes on without limits, and the log says so.
   */
  open(run: RunId, limits: RunLimits): Promise<readonly string[]>;

  /** Takes up what an earlier daemon opened for a run whose process `pid` lives. May be repeated. */
  adopt(run: RunId, pid: number, limits: RunLimits): Promise<void>;

  /** Whether the memory limit has ended a process of the run that `noteKills` has not told of. */
  wasOutOfMemory(run: RunId): boolean;

  /**
   * Processes that the memory limit ended while their run went on, for a warning: those that were there at the call
   * before already, so that the end of the run itself is told as that. Each is told once.
   */
  noteKills(run: RunId): number;

  /** What the run uses now; undefined: nothing of it is known here. */
  usage(run: RunId): Usage | undefined;

  /** Nothing of the run lives any more. What is still in use is removed later. May be repeated. */
  close(run: RunId): Promise<void>;

  /** Removes what earlier runs of this root left and nothing uses. Called when the runs that live are adopted. */
  removeLeftovers(): Promise<void>;

  /** Removes what is left when nothing runs; what runs keeps its limits. Idempotent. */
  stop(): Promise<void>;
}

/** Limits that do not hold, and why. */
export function advisoryLimits(reason: string): ResourceLimits {
  return {
    advisory: reason,
    open: async () => [],
    adopt: async () => undefined,
    wasOutOfMemory: () => false,
    noteKills: () => 0,
    usage: () => undefined,
    close: async () => undefined,
    removeLeftovers: async () => undefined,
    stop: async () => undefined,
  };
}

export function runKeyOf(run: RunId): string {
  return `${run.instanceId}.${run.run}`;
}
