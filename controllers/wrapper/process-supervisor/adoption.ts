/**
 * Brings the handles in line with what the runtimes hold: at the start of a daemon, and again when a runtime lost
 * all of its runs at once. It starts and ends nothing: it learns what runs, and notes the ends that no daemon saw.
 */
import type { Clock } from '../../../src/loop/clock.js';
import { messageOf } from '../../../src/model/errors.js';
import type { LogPlace } from '../../../src/model/run/past-exit.js';
import { identityText, isSameRun, pidOf, publicPid } from '../../../src/model/run/run-identity.js';
import { stopSettingsOf } from '../../../src/model/stopping.js';
import type { DesiredCopy } from '../../../src/node/desired-copy.js';
import { type Handle, type HandleBook, newHandle } from '../../../src/node/handle-book.js';
import type { Exit, Held, RunId, Runtime } from '../../../src/runtime/runtime.js';
import type { Logger } from '../../../src/telemetry/logger.js';

/** The exit of a process that ended while no daemon watched. */
const UNSEEN_EXIT = { code: null, signal: null };
/** Marks a process as gone until its exit is noted. */
const ABSENT = { pid: 0, startTime: 0, bootId: '' };

export interface AdoptionOptions {
  readonly desired: DesiredCopy;
  readonly handles: HandleBook;
  readonly noteExit: (run: RunId, exit: Exit) => void;
  /** Number of the line that begins at a place of an instance's log. */
  readonly logLineAt: (id: string, place: LogPlace) => Promise<number>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Adoption {
  readonly #options: AdoptionOptions;
  readonly #unsubscribe: (() => void)[] = [];

  constructor(options: AdoptionOptions) {
    this.#options = options;
  }

  /**
   * Subscribes to a runtime and takes up what it holds. A runtime that cannot be asked is logged, not thrown: then
   * it resolves with false, and the runtime may hold what no handle knows.
   */
  async adopt(runtime: Runtime): Promise<boolean> {
    const { logger, noteExit } = this.#options;
    this.#unsubscribe.push(
      runtime.onExit(noteExit),
      runtime.onLost(() => {
        logger.warn(
          { runtime: runtime.key },
          `runtime ${runtime.key} lost hold of its instances; looking at each`,
        );
        this.#takeUp(runtime).catch((error: unknown) =>
          logger.error({ err: error, runtime: runtime.key }, 'instances could not be taken up again'),
        );
      }),
    );
    try {
      await this.#takeUp(runtime);
      return true;
    } catch (error) {
      logger.warn(
        { err: error, runtime: runtime.key },
        `runtime ${runtime.key} cannot be used: ${messageOf(error)}`,
      );
      return false;
    }
  }

  /** Stops listening to the runtimes. Idempotent. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  async #takeUp(runtime: Runtime): Promise<void> {
    const { handles } = this.#options;
    const held = new Map((await runtime.adopt()).map((entry) => [entry.instanceId, entry]));
    const isKnown = ({ instanceId, run }: Held): boolean => handles.get(instanceId)?.run === run;
    const news = [...held.values()].filter((entry) => !isKnown(entry));
    for (const handle of [...handles.values()])
      if (handle.runtime === runtime.key) this.#square(handle, held.get(handle.id));
    for (const entry of held.values())
      if (handles.get(entry.instanceId) === undefined) this.#open(runtime, entry);
    // Afterwards: an exit must not come between what the runtime said and the handle.
    for (const entry of news) if (isKnown(entry)) await this.#noteLogPlace(entry);
  }

  /**
   * Notes where the log of a run begins whose start never reached the disk: else a line of the run before would say that
   * this one is ready. The runtime knows the place.
   */
  async #noteLogPlace(held: Held): Promise<void> {
    const { handles, logLineAt, logger } = this.#options;
    const { instanceId: id, run } = held;
    if (held.exit !== null || held.outputFrom === undefined) return;
    try {
      const logFrom = await logLineAt(id, held.outputFrom);
      if (handles.get(id)?.run === run) handles.change(id, { logFrom });
    } catch (error) {
      logger.warn({ instance: id, run, err: error }, `the log of ${id} cannot be read: ${messageOf(error)}`);
    }
  }

  /** Brings one handle in line with what its runtime holds. */
  #square(handle: Handle, held: Held | undefined): void {
    const { handles, clock, noteExit } = this.#options;
    const isSameRun = held !== undefined && held.run >= handle.run;
    if (isSameRun && held.exit === null) {
      this.#takeOver(handle, held);
      return;
    }
    if (handle.process === null && !isSameRun) {
      // A start may have been cut off between fork and record: its remains are looked for.
      if (handle.run > 0 && !handle.isPrepared) handles.change(handle.id, { hasRemains: true });
      return;
    }
    const exit: Exit = (isSameRun ? held.exit : null) ?? { ...UNSEEN_EXIT, at: clock.now() };
    const run = isSameRun ? held.run : handle.run;
    const begunAt = handle.run === run ? handle.begunAt : null;
    handles.put({ ...handle, run, begunAt, process: handle.process ?? ABSENT });
    noteExit({ instanceId: handle.id, run }, exit);
  }

  /** Notes a running process in its handle: this daemon goes on with it. */
  #takeOver(handle: Handle, { run, process }: Held & { readonly exit: null }): void {
    const { handles, clock, logger } = this.#options;
    const isKnown = isSameRun(handle.process, process) && handle.run === run;
    if (isKnown && handle.upSince !== null) return;
    // Of a run whose start never reached the disk these are not known.
    const { port, begunAt } = handle.run === run ? handle : { port: undefined, begunAt: null };
    handles.put({ ...handle, run, port, begunAt, process, upSince: clock.monotonic(), isPrepared: false });
    logger.info(
      { instance: handle.id, processPid: publicPid(pidOf(process)) },
      `adopted ${handle.id} (${handle.configurationName}), ${identityText(process)}`,
    );
  }

  /** Makes the handle of a process whose handle never reached the disk. */
  #open(runtime: Runtime, held: Held): void {
    const { desired, handles } = this.#options;
    const wanted = desired.get(held.instanceId);
    const handle = newHandle({
      id: held.instanceId,
      configurationName: wanted?.assignment.configurationName ?? 'unknown',
      // Without its configuration nothing may be deleted.
      static: wanted?.configuration.static ?? true,
      runtime: runtime.key,
      restartToken: wanted?.assignment.restartToken ?? 0,
      ...(wanted !== undefined && { stop: stopSettingsOf(wanted.configuration) }),
    });
    handles.put(handle);
    this.#square(handle, held);
  }
}
