/**
 * The remains of an ended run: members of its process group and its control group, and other processes that carry its
 * mark. The node looks for remains after every end, and nothing starts before they are gone.
 */
import { Conflict } from '../../../src/loop/reconciler.js';
import { changed, fieldsOf, type Handle, hookOf, lookedAfter, nameOf } from '../../../src/node/handle.js';
import type { NodeParts } from '../parts.js';
import { causeOfLeft, describeLeft } from './left-behind.js';

/**
 * Looks for remains once. A process in the run's control group is a remain, even when the runtime finds none. Processes
 * that a second look finds too are named: at the first look, children of an ended process are often still dying. Throws
 * Conflict when the run is no longer the planned run.
 */
export async function checkRemains(parts: NodeParts, id: string, number: number): Promise<void> {
  const { handles, runtimes, clock, limits, logger } = parts;
  const handle = handles.get(id);
  if (handle?.run !== number || handle.phase.is !== 'remaining')
    throw new Conflict(`instance ${id} changed before its remains were looked for`);
  const run = { instanceId: id, run: number };
  const runtime = runtimes.require(handle.runtime);
  const isGroupUsed = limits.pids(run).length > 0;
  // An empty control group holds all that the run could leave outside of its process group.
  const isGone = !isGroupUsed && limits.openRun(id) === number && runtime.isGroupGone(run);
  const hasRemains = isGroupUsed || (!isGone && (await runtime.isAlive(run)));
  const { checkedAt, left: known } = handle.phase;
  const left = hasRemains && checkedAt !== null ? (known ?? (await runtime.processNames?.(run)) ?? []) : null;
  if (handles.get(id)?.run !== number) return;
  handles.move(id, (now) => {
    const looked = lookedAfter(now, hasRemains, clock.monotonic(), left);
    return left === null || known !== null ? looked : withCause(looked, left);
  });
  if (left !== null && known === null && handle.phase.stopping === null)
    logger.warn({ ...fieldsOf(handle), left }, `${nameOf(handle)} ${describeLeft(handle, left)}`);
}

/** Notes with the last end what it left, where the code alone says that all is well. */
function withCause(handle: Handle, left: readonly string[]): Handle {
  const { exit, exits, run } = handle;
  const [last, ...earlier] = exits;
  // After a start that failed the last end is of an earlier run.
  if (exit === null || last?.run !== run || last.wasAsked || hookOf(handle) !== null) return handle;
  const cause = causeOfLeft(exit, left);
  if (cause === undefined) return handle;
  return changed(handle, { exit: { ...exit, cause }, exits: [{ ...last, cause }, ...earlier] });
}
