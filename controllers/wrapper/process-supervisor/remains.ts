/**
 * The remains of an ended run: members of its process group and its control group, and other processes that carry
 * its mark. They are looked for after every end. After a crash those that only the mark tells are ended a moment
 * after the restart, which must not wait for them.
 */
import type { Clock, TimerHandle } from '../../../src/loop/clock.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import type { Handle, HandleBook } from '../../../src/node/handle-book.js';
import type { ResourceLimits } from '../../../src/runtime/limits/resource-limits.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { type RuntimeSet, runtimeOf } from './runtime-set.js';

/**
 * How long after a crash the remains outside of the groups are looked for: after the restart, which must not wait.
 */
const SWEEP_AFTER_MS = 200;

export interface RemainsOptions {
  readonly handles: HandleBook;
  readonly runtimes: RuntimeSet;
  readonly limits: Pick<ResourceLimits, 'close' | 'pids' | 'kill'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Remains {
  readonly #options: RemainsOptions;
  /** Crashed runs whose remains outside of the groups are still to be ended, by `<id>/<run>`. */
  readonly #sweeps = new Map<string, { readonly handle: Handle; readonly timer: TimerHandle }>();

  constructor(options: RemainsOptions) {
    this.#options = options;
  }

  /**
   * Looks for remains once, and with `kill` sends them SIGKILL. What is in the run's control group counts whatever
   * the runtime finds. Throws Conflict when the run is no longer the planned one.
   */
  async check(id: string, number: number, kill: boolean): Promise<void> {
    const { handles, clock, limits } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined || handle.run !== number || handle.process !== null)
      throw new Conflict(`instance ${id} changed before its remains were looked for`);
    const run = { instanceId: id, run: number };
    const runtime = runtimeOf(this.#options.runtimes, handle.runtime);
    const isGroupUsed = limits.pids(run).length > 0;
    if (kill && handle.stopping === null && !isGroupUsed && runtime.isGroupGone(run)) {
      handles.change(id, { hasRemains: false, remainsCheckedAt: clock.monotonic() });
      this.#sweepLater(handle);
      return;
    }
    const hasRemains = isGroupUsed || (await runtime.isAlive(run));
    if (isGroupUsed && kill) await limits.kill(run);
    if (hasRemains && kill) await runtime.signal(run, 'SIGKILL');
    if (!hasRemains) await limits.close(run);
    if (handles.get(id)?.run === number)
      handles.change(id, { hasRemains, remainsCheckedAt: clock.monotonic() });
  }

  /**
   * Ends the remains outside of the groups a moment later, so that the next start does not wait for a look at every
   * process of the machine. Their mark tells them from the run that follows.
   */
  #sweepLater(handle: Handle): void {
    const key = `${handle.id}/${handle.run}`;
    const timer = this.#options.clock.setTimer(SWEEP_AFTER_MS, () => {
      this.#sweeps.delete(key);
      this.#sweep(handle).catch(() => undefined);
    });
    this.#sweeps.set(key, { handle, timer });
  }

  async #sweep(handle: Handle): Promise<void> {
    const { handles, runtimes, limits, logger } = this.#options;
    const run = { instanceId: handle.id, run: handle.run };
    const current = handles.get(handle.id);
    // An instance that was dropped and came back counts its runs anew: the mark may be that of its new process.
    if (current?.run === handle.run && (current.process !== null || current.isStarting)) return;
    try {
      await runtimeOf(runtimes, handle.runtime).signal(run, 'SIGKILL');
    } catch (error) {
      logger.warn({ err: error, instance: handle.id }, `what ${handle.id} left behind could not be ended`);
    }
    await limits.close(run);
  }

  /** Does the delayed work now, before the runtimes are released. */
  async stop(): Promise<void> {
    const pending = [...this.#sweeps.values()];
    this.#sweeps.clear();
    for (const { timer } of pending) timer.cancel();
    await Promise.all(pending.map(({ handle }) => this.#sweep(handle)));
  }
}
