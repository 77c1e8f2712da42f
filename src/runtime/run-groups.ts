/** The control groups of runs, for those who end what is in them. */
import type { RunId } from './runtime.js';

export interface RunGroups {
  /** Every process in the run's group, wherever it went; none, too, where the run has no group. */
  pids(run: RunId): readonly number[];
  /**
   * Sends SIGKILL to all of them: in one step where the kernel can (`cgroup.kill` of version 2), else to one after the
   * other. What is forked meanwhile may escape. Repeatable. Never throws.
   */
  kill(run: RunId): Promise<void>;
}

/** Of a node that makes no control groups. */
export const NO_GROUPS: RunGroups = { pids: () => [], kill: async () => undefined };
