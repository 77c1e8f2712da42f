/** Carries out the rungs of the stop ladder, and notes in the handle which rung the runtime took, and when. */
import type { ProcessStamp } from '../../../src/files/processes.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { publicMessage } from '../../../src/model/public-message.js';
import type { StopSignal, StopTo } from '../../../src/model/stopping.js';
import { climbed, type Handle, ladderOf, nameOf, type Stopping } from '../../../src/node/handle.js';
import type { NodeParts } from '../parts.js';

/** The ladder of a run that no rung has reached. */
const NOT_BEGUN: Stopping = { signal: 'none', begunAt: 0, since: 0, signalledAt: 0 };
/** How long the rest of a run may pass on what its ended main processes wrote. */
const LAST_WORDS_MS = 5000;

export class Stopper {
  readonly #parts: NodeParts;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /**
   * Sends a signal. When the runtime does not take it, notes why: the ladder waits. Throws Conflict when nothing of the
   * run can live any more.
   */
  async signal(id: string, run: number, signal: StopSignal, to: StopTo): Promise<void> {
    const { runtimes, limits } = this.#parts;
    const handle = this.#begun(id, run);
    this.#say(handle, signal);
    try {
      // Where the kernel can, all members of a control group end in one step.
      if (signal === 'SIGKILL' && handle.phase.is === 'remaining') await limits.kill({ instanceId: id, run });
      const mains = await runtimes.require(handle.runtime).signal({ instanceId: id, run }, signal, to);
      this.#taken(id, run, signal, mains);
    } catch (error) {
      this.#refused(id, run, signal, error);
    }
  }

  /** Begins the ladder, and says that its first rung waits. Throws Conflict when nothing of the run can live any more. */
  leave(id: string, run: number): void {
    const { clock, logger } = this.#parts;
    const handle = this.#begun(id, run, clock.monotonic());
    const seconds = handle.stop.leaveMs / 1000;
    logger.info({ instance: id }, `stopping ${nameOf(handle)} in ${seconds} s: proxies learn it first`);
  }

  /**
   * Sends the signal of the main processes to the rest of the run, once no main process lives. The readers of pipes
   * have time before that: they pass on the last words and end by themselves.
   */
  async signalRest(id: string, run: number): Promise<void> {
    const { runtimes, clock } = this.#parts;
    const handle = this.#stoppable(id, run);
    const ladder = ladderOf(handle);
    const runtime = runtimes.require(handle.runtime);
    if (ladder === null || ladder.signal === null || ladder.signal === 'none') return;
    const { mains = [], draining: earlier, ...rest } = ladder;
    const lookedAt = clock.monotonic();
    const isAnyAlive = (some: readonly ProcessStamp[]): boolean =>
      some.some((one) => runtime.isProcessAlive?.(one) === true);
    if (isAnyAlive(mains)) return this.#climb(id, run, () => ({ ...ladder, lookedAt }));
    const readersNow = async () => (await runtime.pipeReaders?.({ instanceId: id, run })) ?? [];
    const draining = earlier ?? { since: lookedAt, readers: await readersNow() };
    if (lookedAt - draining.since < LAST_WORDS_MS && isAnyAlive(draining.readers))
      return this.#climb(id, run, () => ({ ...ladder, draining, lookedAt }));
    await runtime.signal({ instanceId: id, run }, ladder.signal, 'all');
    this.#climb(id, run, () => ({ ...rest, lookedAt }));
  }

  /**
   * Writes the stop command to the process. Sends the stop signal at once where the command cannot be written. Throws
   * Conflict when nothing of the run can live any more.
   */
  async command(id: string, run: number): Promise<void> {
    const { runtimes, logger } = this.#parts;
    const handle = this.#begun(id, run);
    const { command, signal, to } = handle.stop;
    if (command === null || handle.phase.is !== 'up') return this.signal(id, run, signal, to);
    this.#say(handle, null);
    try {
      await runtimes.require(handle.runtime).write({ instanceId: id, run }, Buffer.from(`${command}\n`));
      this.#taken(id, run, null, []);
    } catch (error) {
      if (ladderOf(handle)?.problem === undefined)
        logger.warn(
          { err: error, instance: id },
          `stopCommand of ${id} was not written: ${messageOf(error)}`,
        );
      await this.signal(id, run, signal, to);
    }
  }

  #stoppable(id: string, run: number): Handle {
    const handle = this.#parts.handles.get(id);
    if (handle?.run === run && (handle.phase.is === 'up' || handle.phase.is === 'remaining')) return handle;
    throw new Conflict(`run ${run} of ${id} has ended`);
  }

  /** Begins the ladder before its first rung, so that an exit that follows counts as requested. */
  #begun(id: string, run: number, leftAt?: number): Handle {
    const handle = this.#stoppable(id, run);
    if (ladderOf(handle) !== null) return handle;
    const begun = climbed(handle, { ...NOT_BEGUN, ...(leftAt !== undefined && { leftAt }) });
    this.#parts.handles.put(begun);
    return begun;
  }

  #taken(id: string, run: number, signal: StopSignal | null, mains: Stopping['mains'] = []): void {
    const { clock } = this.#parts;
    const signalledAt = clock.monotonic();
    this.#climb(id, run, ({ signal: last, since, begunAt }) => ({
      signal,
      ...(last === 'none' ? { since: signalledAt, begunAt: clock.now() } : { since, begunAt }),
      signalledAt,
      ...(mains.length > 0 && { mains }),
    }));
  }

  /** Logs a rung before the runtime is asked, so that the line stands before that of the end. Says it once. */
  #say(handle: Handle, signal: StopSignal | null): void {
    const { id, phase } = handle;
    if (ladderOf(handle)?.problem !== undefined) return;
    const isStop = phase.is === 'up' || (phase.is === 'remaining' && phase.stopping !== null);
    const what = isStop ? `stopping ${nameOf(handle)}` : `ending what ${id} left behind`;
    const context = { instance: id, ...(signal !== null && { signal }) };
    this.#parts.logger.info(context, `${what}: ${signal ?? 'stop command'}`);
  }

  /** Says so once: the ladder tries again every second. */
  #refused(id: string, run: number, signal: StopSignal, error: unknown): void {
    const { clock, logger } = this.#parts;
    this.#climb(id, run, (ladder) => {
      const fields = { instance: id, signal, ...(!(error instanceof DroverError) && { err: error }) };
      if (ladder.problem === undefined) logger.warn(fields, `${signal} for ${id} waits: ${messageOf(error)}`);
      return { ...ladder, problem: publicMessage(error), lookedAt: clock.monotonic() };
    });
  }

  /** Notes where the run is on its ladder now. Does nothing when it climbs none any more. */
  #climb(id: string, run: number, next: (ladder: Stopping) => Stopping): void {
    this.#parts.handles.move(id, (handle) => {
      const ladder = handle.run === run ? ladderOf(handle) : null;
      return ladder === null ? handle : climbed(handle, next(ladder));
    });
  }
}
