/** The control groups of runs, as a runtime sees them that ends what is in them. */
import type { RunId } from './runtime.js';

export interface RunGroups {
  /** Every process in the run's group, wherever it went; none, too, where the run has no group. */
  pids(run: RunId): readonly number[];
  /** Ends all of them in one step, where the kernel can (version 2, `cgroup.kill`). Repeatable. Never throws. */
  kill(run: RunId): Promise<void>;
}

/** Of a node that makes no control groups. */
export const NO_GROUPS: RunGroups = { pids: () => [], kill: async () => undefined };
