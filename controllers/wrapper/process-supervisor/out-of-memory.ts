/** Recognises the ends that the RAM limit caused, and names the cause where signal and code do not. */

import type { Exit } from '../../../src/model/run/past-exit.js';
import { type Handle, stoppingOf } from '../../../src/node/handle.js';
import type { RunId } from '../../../src/runtime/runtime.js';

interface MemoryFacts {
  /** True when the RAM limit has ended a process of the run. Called for runtimes that do not say so themselves. */
  readonly hasKilled: (run: RunId) => boolean;
  /** The limit of RAM; undefined: the configuration is not known. */
  readonly ramMB: number | undefined;
}

/**
 * Returns the exit with its cause. The kernel ends one process, often a child, and the main process decides how the run
 * then ends. A requested end or a success had another cause.
 */
export function explainExit(handle: Handle, exit: Exit, { hasKilled, ramMB }: MemoryFacts): Exit {
  if (stoppingOf(handle) !== null || exit.code === 0 || exit.cause !== undefined) return exit;
  const isOutOfMemory = exit.isOutOfMemory ?? hasKilled({ instanceId: handle.id, run: handle.run });
  if (!isOutOfMemory) return exit;
  const at = ramMB === undefined ? '' : ` at ${ramMB} MB`;
  return { ...exit, cause: `killed: out of memory${at}` };
}
