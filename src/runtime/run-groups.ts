/** The control groups of runs, as the code that ends a run's processes sees them. */
import type { RunId } from './runtime.js';

export interface RunGroups {
  /** The pids of all processes in the run's group and the groups below it; empty when the run has no group. */
  pids(run: RunId): readonly number[];
  /**
   * Sends SIGKILL to all processes of the group: in one step where the kernel can (`cgroup.kill` of version 2), else
   * one by one. A process forked meanwhile may escape. Repeatable. Never throws.
   */
  kill(run: RunId): Promise<void>;
}

/** The groups of a node that makes no control groups. */
export const NO_GROUPS: RunGroups = { pids: () => [], kill: async () => undefined };
