/**
 * The remains of an ended run: members of its process group and its control group, and other processes that carry its
 * mark. The node looks for remains after every end. After a crash, it ends the processes that only their mark
 * identifies a moment after the restart, which must not wait for them.
 */
import type { TimerHandle } from '../../../src/loop/clock.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { type Handle, lookedAfter } from '../../../src/node/handle.js';
import { RepeatedLog } from '../../../src/telemetry/repeated-log.js';
import type { NodeParts } from '../parts.js';

/** How long after a crash to look for remains outside of the groups. The restart, which must not wait, comes first. */
const SWEEP_AFTER_MS = 200;
/** How long after a failure to look again, such as of a node with too many files open. */
const SWEEP_AGAIN_MS = 10_000;

export class Remains {
  readonly #parts: NodeParts;
  /** Crashed runs that may have left processes outside of their groups, which are still to be killed; by `<id>/<run>`. */
  readonly #sweeps = new Map<string, { readonly handle: Handle; readonly timer: TimerHandle }>();

  readonly #failures: RepeatedLog;
  #isStopped = false;

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.#failures = new RepeatedLog(parts.logger, parts.clock);
  }

  /**
   * Looks for remains once, and with `kill` sends them SIGKILL. A process in the run's control group is a remain,
   * even when the runtime finds none. Throws Conflict when the run is no longer the planned run.
   */
  async check(id: string, number: number, kill: boolean): Promise<void> {
    const { handles, runtimes, clock, limits } = this.#parts;
    const handle = handles.get(id);
    if (handle?.run !== number || handle.phase.is !== 'remaining')
      throw new Conflict(`instance ${id} changed before its remains were looked for`);
    const run = { instanceId: id, run: number };
    const runtime = runtimes.require(handle.runtime);
    const isGroupUsed = limits.pids(run).length > 0;
    if (kill && handle.phase.stopping === null && !isGroupUsed && runtime.isGroupGone(run)) {
      handles.put(lookedAfter(handle, false, clock.monotonic()));
      this.#sweepLater(handle);
      return;
    }
    const hasRemains = isGroupUsed || (await runtime.isAlive(run));
    if (isGroupUsed && kill) await limits.kill(run);
    if (hasRemains && kill) await runtime.signal(run, 'SIGKILL');
    if (!hasRemains) await limits.close(run);
    if (handles.get(id)?.run === number)
      handles.move(id, (handle) => lookedAfter(handle, hasRemains, clock.monotonic()));
  }

  /**
   * Ends the remains outside of the groups a moment later, because looking at every process of the machine would delay
   * the next start. The mark of the remains names their run, so the next run is spared.
   */
  #sweepLater(handle: Handle, afterMs = SWEEP_AFTER_MS): void {
    const key = `${handle.id}/${handle.run}`;
    const timer = this.#parts.clock.setTimer(afterMs, () => {
      this.#sweeps.delete(key);
      this.#sweep(handle)
        .then((isDone) => {
          if (!isDone && !this.#isStopped) this.#sweepLater(handle, SWEEP_AGAIN_MS);
        })
        .catch(() => undefined);
    });
    this.#sweeps.set(key, { handle, timer });
  }

  /** Resolves with false when the remains could not be ended. */
  async #sweep(handle: Handle): Promise<boolean> {
    const { handles, runtimes, limits } = this.#parts;
    const run = { instanceId: handle.id, run: handle.run };
    const { run: currentRun, phase } = handles.get(handle.id) ?? {};
    // An instance that left the node and came back counts its runs from the start: the mark may belong to its new
    // process.
    if (currentRun === handle.run && (phase?.is === 'up' || phase?.is === 'starting')) return true;
    try {
      await runtimes.require(handle.runtime).signal(run, 'SIGKILL');
    } catch (error) {
      const line = `what ${handle.id} left behind could not be ended: trying again`;
      this.#failures.say(line, line, { err: error, instance: handle.id });
      return false;
    }
    await limits.close(run);
    return true;
  }

  /** Does the delayed work now, before the runtimes are released. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const pending = [...this.#sweeps.values()];
    this.#sweeps.clear();
    for (const { timer } of pending) timer.cancel();
    await Promise.all(pending.map(({ handle }) => this.#sweep(handle)));
  }
}
