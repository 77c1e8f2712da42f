/**
 * Brings the handles in line with what the runtimes hold: at the start of a daemon, and again when a runtime lost
 * all of its runs at once. Adoption starts and ends nothing: it learns what runs, and notes the ends that no daemon saw.
 */
import { messageOf } from '../../../src/model/errors.js';
import type { Exit } from '../../../src/model/run/past-exit.js';
import { identityText, pidOf, publicPid } from '../../../src/model/run/run-identity.js';
import { stopSettingsOf } from '../../../src/model/stopping.js';
import {
  changed,
  type Handle,
  isAlive,
  isConfirmed,
  isLostRun,
  nameOf,
  newHandle,
  processOf,
  restartsWithNext,
  unclear,
  up,
} from '../../../src/node/handle.js';
import type { Held, Runtime } from '../../../src/runtime/runtime.js';
import type { NodeParts } from '../parts.js';
import type { ProcessSupervisor } from './reconciler.js';

/** The exit of a process that ended while no daemon watched. */
const UNSEEN_EXIT = { code: null, signal: null };
/** The start of a run that never reached the disk: what the handle says belongs to an earlier run. */
const UNKNOWN_START = { port: undefined, sharesPort: undefined, begunAt: null };

export class Adoption {
  readonly #parts: NodeParts;
  readonly #supervisor: ProcessSupervisor;
  readonly #unsubscribe: (() => void)[] = [];

  constructor(parts: NodeParts, supervisor: ProcessSupervisor) {
    this.#parts = parts;
    this.#supervisor = supervisor;
  }

  /** Takes up what every runtime holds, and the limits of live instances. Call once, before the controllers start. */
  async start(): Promise<void> {
    let areAllAsked = true;
    for (const runtime of this.#parts.runtimes.all) if (!(await this.#adopt(runtime))) areAllAsked = false;
    await this.#takeUpLimits(areAllAsked);
  }

  /** Stops listening to the runtimes. Idempotent. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  /**
   * Subscribes to a runtime and takes up what it holds. Resolves with false, and logs why, when the runtime gives no
   * answer: that runtime may hold runs that no handle knows.
   */
  async #adopt(runtime: Runtime): Promise<boolean> {
    const { logger } = this.#parts;
    this.#unsubscribe.push(
      runtime.onExit((run, exit) => this.#supervisor.noteExit(run, exit)),
      runtime.onLost(() => {
        logger.warn(
          { runtime: runtime.key },
          `runtime ${runtime.key} lost hold of its instances; looking at each`,
        );
        // A container engine that is back may have been thought away: instances wait for the next look at it.
        this.#parts.runtimes.probeNow();
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

  async #takeUp(runtime: Runtime): Promise<void> {
    const { handles } = this.#parts;
    const all = await runtime.adopt();
    // The latest run last, so that it counts. Ends of earlier ones are there when no daemon could record them.
    const held = new Map(all.toSorted((a, b) => a.run - b.run).map((entry) => [entry.instanceId, entry]));
    const isKnown = ({ instanceId, run }: Held): boolean => handles.get(instanceId)?.run === run;
    const news = [...held.values()].filter((entry) => !isKnown(entry));
    for (const handle of [...handles.values()])
      if (handle.runtime === runtime.key) this.#square(handle, held.get(handle.id));
    for (const entry of held.values())
      if (handles.get(entry.instanceId) === undefined) this.#open(runtime, entry);
    // Do this after the handles are made: an exit that arrives during these waits must find the handle of its run.
    for (const entry of news) if (isKnown(entry)) await this.#noteLogPlace(entry);
    for (const entry of all) if (this.#isPast(entry)) this.#supervisor.acknowledge(runtime.key, entry);
  }

  /** True for the end of a run that a later run of its instance has followed. */
  #isPast({ instanceId, run, exit }: Held): boolean {
    return exit !== null && run < (this.#parts.handles.get(instanceId)?.run ?? run);
  }

  /**
   * Notes where the log of a run begins when the run's start never reached the disk; the runtime knows the place.
   * Otherwise a log line of the previous run could make this run count as ready.
   */
  async #noteLogPlace(held: Held): Promise<void> {
    const { handles, installation, logger } = this.#parts;
    const { instanceId: id, run } = held;
    if (held.exit !== null || held.outputFrom === undefined) return;
    try {
      const logFrom = await installation.logLineAt(id, held.outputFrom);
      if (handles.get(id)?.run === run) handles.change(id, { logFrom });
    } catch (error) {
      logger.warn({ instance: id, run, err: error }, `the log of ${id} cannot be read: ${messageOf(error)}`);
    }
  }

  /** Brings one handle in line with what its runtime holds. */
  #square(known: Handle, held: Held | undefined): void {
    const { handles, desired, clock } = this.#parts;
    // The last daemon kept this start before it could count it.
    const isCounted = !isLostRun(known) || (held !== undefined && held.run !== known.run);
    const handle = isCounted ? known : changed(known, { restarts: restartsWithNext(known) });
    const isItsRun = held !== undefined && held.run >= handle.run;
    if (isItsRun && held.exit === null) {
      this.#takeOver(handle, held);
      return;
    }
    // The run of a job may have done its work: it has ended unseen, and its restart policy decides.
    const isLostJob = isLostRun(handle) && desired.get(handle.id)?.configuration.job !== undefined;
    if (handle.phase.is !== 'up' && !isItsRun && !isLostJob) {
      // The last daemon may have been killed after it forked a process, and before it recorded that.
      handles.put(unclear(known));
      return;
    }
    const exit: Exit = (isItsRun ? held.exit : null) ?? { ...UNSEEN_EXIT, at: clock.now() };
    const run = isItsRun ? held.run : handle.run;
    this.#supervisor.noteFoundExit(
      changed(handle, { run, begunAt: handle.run === run ? handle.begunAt : null }),
      exit,
    );
  }

  /** Notes a running process in its handle, because this daemon now supervises it. */
  #takeOver(handle: Handle, { run, process }: Held & { readonly exit: null }): void {
    const { handles, clock, logger } = this.#parts;
    if (handle.run === run && isConfirmed(handle, process)) return;
    const { port, sharesPort, begunAt } = handle.run === run ? handle : UNKNOWN_START;
    handles.put(up(changed(handle, { run, port, sharesPort, begunAt }), process, clock.monotonic()));
    logger.info(
      { instance: handle.id, processPid: publicPid(pidOf(process)) },
      `adopted ${nameOf(handle)}, ${identityText(process)}`,
    );
  }

  /** Makes the handle of a process whose handle never reached the disk. */
  #open(runtime: Runtime, held: Held): void {
    const { desired, handles } = this.#parts;
    const wanted = desired.get(held.instanceId);
    const handle = newHandle({
      id: held.instanceId,
      configurationName: wanted?.assignment.configurationName ?? 'unknown',
      // An unknown configuration counts as static, so that nothing of the instance is deleted.
      static: wanted?.configuration.static ?? true,
      runtime: runtime.key,
      restartToken: wanted?.assignment.restartToken ?? 0,
      ...(wanted !== undefined && { stop: stopSettingsOf(wanted.configuration) }),
    });
    handles.put(handle);
    this.#square(handle, held);
  }

  /**
   * Adopts the limits of running instances, and removes the limits of ended ones. `areAllAsked`: every runtime has
   * answered, so nothing runs without a handle.
   */
  async #takeUpLimits(areAllAsked: boolean): Promise<void> {
    const { handles, desired, limits } = this.#parts;
    // Live instances whose group was not found. Their process may be in the group of any earlier run, so all their
    // groups stay.
    const unknown = new Set<string>();
    for (const handle of handles.values()) {
      const { id, run } = handle;
      const process = processOf(handle);
      const { ramMB = 0, cpu = 0, limits: own } = desired.get(id)?.configuration ?? {};
      if (process === null || !('pid' in process)) continue;
      if (!(await limits.adopt({ instanceId: id, run }, process.pid, { ...own, ramMB, cpu })))
        unknown.add(id);
    }
    await limits.removeUnused(({ instanceId, run }) => {
      const handle = handles.get(instanceId);
      if (handle === undefined) return areAllAsked;
      if (unknown.has(instanceId)) return false;
      return run < handle.run || (run === handle.run && !isAlive(handle));
    });
  }
}
