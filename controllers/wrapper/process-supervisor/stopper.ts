/** Carries out the rungs of the stop ladder, and notes in the handle which one was reached and when. */
import type { Clock } from '../../../src/loop/clock.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { messageOf } from '../../../src/model/errors.js';
import type { StopSignal } from '../../../src/model/stopping.js';
import type { Handle, HandleBook } from '../../../src/node/handle-book.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { type RuntimeSet, runtimeOf } from './runtime-set.js';

export interface StopperOptions {
  readonly handles: HandleBook;
  readonly runtimes: RuntimeSet;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Stopper {
  readonly #options: StopperOptions;

  constructor(options: StopperOptions) {
    this.#options = options;
  }

  /** Sends a signal. Throws Conflict when nothing of the run can live any more. */
  async signal(id: string, run: number, signal: StopSignal): Promise<void> {
    const handle = this.#stoppable(id, run);
    this.#note(handle, signal);
    await runtimeOf(this.#options.runtimes, handle.runtime).signal({ instanceId: id, run }, signal);
  }

  /**
   * Writes the stop command to the process; where it cannot be written, the stop signal is sent at once. Throws as
   * `signal`.
   */
  async command(id: string, run: number): Promise<void> {
    const { runtimes, logger } = this.#options;
    const handle = this.#stoppable(id, run);
    const { command, signal } = handle.stop;
    if (command === null || handle.process === null) return this.signal(id, run, signal);
    this.#note(handle, null);
    try {
      const runtime = runtimeOf(runtimes, handle.runtime);
      await runtime.write({ instanceId: id, run }, Buffer.from(`${command}\n`));
    } catch (error) {
      logger.warn({ err: error, instance: id }, `stopCommand of ${id} was not written: ${messageOf(error)}`);
      await this.signal(id, run, signal);
    }
  }

  #stoppable(id: string, run: number): Handle {
    const handle = this.#options.handles.get(id);
    if (handle === undefined || handle.run !== run || (handle.process === null && !handle.hasRemains))
      throw new Conflict(`run ${run} of ${id} has ended`);
    return handle;
  }

  /** Noted before the act, so that an exit that follows counts as asked for. */
  #note({ id, configurationName, stopping }: Handle, signal: StopSignal | null): void {
    const { handles, clock, logger } = this.#options;
    const signalledAt = clock.monotonic();
    const begun = stopping ?? { since: signalledAt, begunAt: clock.now() };
    handles.change(id, { stopping: { since: begun.since, begunAt: begun.begunAt, signal, signalledAt } });
    logger.info(
      { instance: id, ...(signal !== null && { signal }) },
      `stopping ${id} (${configurationName}): ${signal ?? 'stop command'}`,
    );
  }
}
