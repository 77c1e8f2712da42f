/** Carries out the rungs of the stop ladder, and notes in the handle which rung was reached and when. */
import { Conflict } from '../../../src/loop/reconciler.js';
import { messageOf } from '../../../src/model/errors.js';
import type { StopSignal } from '../../../src/model/stopping.js';
import { type Handle, signalled, stoppingOf } from '../../../src/node/handle.js';
import type { NodeParts } from '../parts.js';

export class Stopper {
  readonly #parts: NodeParts;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** Sends a signal. Throws Conflict when nothing of the run can live any more. */
  async signal(id: string, run: number, signal: StopSignal): Promise<void> {
    const handle = this.#stoppable(id, run);
    this.#note(handle, signal);
    await this.#parts.runtimes.require(handle.runtime).signal({ instanceId: id, run }, signal);
  }

  /**
   * Writes the stop command to the process. Sends the stop signal at once where the command cannot be written. Throws
   * Conflict when nothing of the run can live any more.
   */
  async command(id: string, run: number): Promise<void> {
    const { runtimes, logger } = this.#parts;
    const handle = this.#stoppable(id, run);
    const { command, signal } = handle.stop;
    if (command === null || handle.phase.is !== 'up') return this.signal(id, run, signal);
    this.#note(handle, null);
    try {
      const runtime = runtimes.require(handle.runtime);
      await runtime.write({ instanceId: id, run }, Buffer.from(`${command}\n`));
    } catch (error) {
      logger.warn({ err: error, instance: id }, `stopCommand of ${id} was not written: ${messageOf(error)}`);
      await this.signal(id, run, signal);
    }
  }

  #stoppable(id: string, run: number): Handle {
    const handle = this.#parts.handles.get(id);
    if (handle?.run === run && (handle.phase.is === 'up' || handle.phase.is === 'remaining')) return handle;
    throw new Conflict(`run ${run} of ${id} has ended`);
  }

  /** Notes a rung before it is carried out, so that the exit that follows counts as requested. */
  #note(handle: Handle, signal: StopSignal | null): void {
    const { handles, clock, logger } = this.#parts;
    const { id, configurationName } = handle;
    const signalledAt = clock.monotonic();
    const { since, begunAt } = stoppingOf(handle) ?? { since: signalledAt, begunAt: clock.now() };
    handles.put(signalled(handle, { since, begunAt, signal, signalledAt }));
    logger.info(
      { instance: id, ...(signal !== null && { signal }) },
      `stopping ${id} (${configurationName}): ${signal ?? 'stop command'}`,
    );
  }
}
