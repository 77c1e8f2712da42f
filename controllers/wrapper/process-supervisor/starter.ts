/** Starts runs: checks the port, asks the runtime, and notes its answer, or its refusal, in the handle. */
import type { Clock } from '../../../src/loop/clock.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { publicMessage } from '../../../src/model/public-message.js';
import { identityText, pidOf, publicPid, type RunIdentity } from '../../../src/model/run/run-identity.js';
import type { Desired, DesiredCopy } from '../../../src/node/desired-copy.js';
import type { Handle, HandleBook } from '../../../src/node/handle-book.js';
import type { ResourceLimits } from '../../../src/runtime/limits/resource-limits.js';
import type { Exit, RunId, Runtime, StartSpec } from '../../../src/runtime/runtime.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { afterFailure } from './restart-delay.js';
import type { RuntimeSet } from './runtime-set.js';

/** How long a port that something else holds is left alone before the next try. */
const BUSY_PORT_RETRY_MS = 5000;

/** The fields of a handle about a start under way, when there is none. */
const ANSWERED = { isStarting: false, progress: null, isStartCancelled: false } as const;

export interface StarterOptions {
  readonly desired: DesiredCopy;
  readonly handles: HandleBook;
  readonly runtimes: RuntimeSet;
  readonly limits: ResourceLimits;
  /** The complete specification of a start: command, environment, working directory. */
  readonly launchSpec: (desired: Desired, run: number) => StartSpec;
  readonly checkPort: (port: number) => Promise<{ free: true } | { free: false; protocol: 'tcp' | 'udp' }>;
  /** Number of the first line that a run writes which is started now. */
  readonly nextLogLine: (id: string) => Promise<number>;
  readonly isNodeStopping: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Notes the end of a run in its handle. */
  readonly recordExit: (handle: Handle, exit: Exit) => void;
}

interface Start {
  readonly wanted: Desired;
  readonly handle: Handle;
  readonly runtime: Runtime;
  readonly starting: StartUnderWay;
  /** Called when the start says that it takes long. */
  readonly onLong: () => void;
}

interface StartUnderWay {
  readonly run: number;
  readonly cancel: AbortController;
  /** Resolves when the runtime has answered and the handle says so. */
  answered: Promise<void>;
  /** An exit that arrived before the runtime's answer. */
  exit: Exit | undefined;
}

export class Starter {
  readonly #options: StarterOptions;
  /** The starts under way, by instance id. */
  readonly #starting = new Map<string, StartUnderWay>();

  constructor(options: StarterOptions) {
    this.#options = options;
  }

  /** True: the exit belongs to a start under way, and is noted after the runtime's answer. */
  keepExit(run: RunId, exit: Exit): boolean {
    const starting = this.#starting.get(run.instanceId);
    if (starting?.run !== run.run) return false;
    starting.exit = exit;
    return true;
  }

  /** What a start needs, as it is now. */
  #startable(id: string): { wanted: Desired; handle: Handle; runtime: Runtime } {
    const { desired, handles, runtimes, isNodeStopping } = this.#options;
    const wanted = desired.get(id);
    const handle = handles.get(id);
    const runtime = runtimes.get(handle?.runtime ?? '');
    const isWanted =
      wanted?.assignment.goal === 'run' &&
      wanted.assignment.restartToken === handle?.restartToken &&
      !isNodeStopping();
    if (!isWanted || runtime === undefined || !handle.isPrepared)
      throw new Conflict(`instance ${id} changed before its start`);
    return { wanted, handle, runtime };
  }

  /** Tells the runtime that the start of `run` is no longer wanted. The runtime answers it like every start. */
  cancel(id: string, run: number): void {
    const starting = this.#starting.get(id);
    if (starting?.run !== run) throw new Conflict(`the start of run ${run} of ${id} was answered`);
    this.#options.handles.change(id, { isStartCancelled: true });
    starting.cancel.abort();
  }

  /** Cancels the starts that take long, and waits for the answers of all. The next daemon begins them anew. */
  async stop(): Promise<void> {
    const pending = [...this.#starting.values()];
    for (const { cancel } of pending) cancel.abort();
    await Promise.all(pending.map(({ answered }) => answered));
  }

  /**
   * Starts the next run, or notes why that is impossible. Resolves when the runtime has answered, or said that the
   * start takes long, so that no other start waits for the pull of an image. Throws Conflict when the instance is
   * no longer to be started.
   */
  async start(id: string): Promise<void> {
    const { port } = this.#startable(id).wanted.assignment;
    // Without a port there is nothing to wait for: the start counts in the turn of its round.
    if (port !== null && !(await this.#isPortFree(id, port))) return;
    // Checked again: the wishes may have changed while the port was checked.
    const { wanted, handle, runtime } = this.#startable(id);
    if (wanted.assignment.port !== port) throw new Conflict(`instance ${id} was given another port`);
    const starting: StartUnderWay = {
      run: handle.run + 1,
      cancel: new AbortController(),
      answered: Promise.resolve(),
      exit: undefined,
    };
    this.#starting.set(id, starting);
    await new Promise<void>((resolve) => {
      starting.answered = this.#run({ wanted, handle, runtime, starting, onLong: resolve }).finally(resolve);
    });
  }

  /** Never rejects: failures are noted in the handle. */
  async #run(start: Start): Promise<void> {
    const { handles, recordExit } = this.#options;
    const { id } = start.handle;
    const { starting } = start;
    try {
      await this.#launch(start);
    } catch (error) {
      if (starting.cancel.signal.aborted) this.#noteCancelled(id);
      else this.#startFailed(id, error);
    } finally {
      this.#starting.delete(id);
      const started = handles.get(id);
      if (starting.exit !== undefined && started?.process != null) recordExit(started, starting.exit);
    }
  }

  async #launch({ wanted, handle, runtime, starting, onLong }: Start): Promise<void> {
    const { desired, handles, launchSpec, clock } = this.#options;
    const { id } = handle;
    const { run, cancel } = starting;
    // Written out here and below: a handle is copied fast where all that follows it is named.
    handles.put({
      ...handle,
      run,
      port: wanted.assignment.port,
      begunAt: clock.now(),
      isStarting: true,
      isPrepared: false,
      isCleared: false,
    });
    if (wanted.configuration.readiness?.logLine !== undefined) await this.#noteLogPlace(id);
    const spec = launchSpec(wanted, run);
    const [controlGroups] = await Promise.all([this.#openGroups(runtime, spec), desired.keep(id)]);
    const process = await runtime.start({
      ...spec,
      controlGroups,
      // Made when it is asked for, because most runtimes do not look at it.
      get signal() {
        return cancel.signal;
      },
      onProgress: (progress) => {
        if (this.#starting.get(id) !== starting) return;
        handles.change(id, { progress });
        onLong();
      },
    });
    const restarts = handle.restarts + (handle.exit !== null && handle.streak > 0 ? 1 : 0);
    const started = handles.get(id);
    if (started !== undefined)
      handles.put({
        ...started,
        isStarting: false,
        progress: null,
        isStartCancelled: false,
        process,
        upSince: clock.monotonic(),
        problem: null,
        notBefore: null,
        restarts,
        // A check that is asked for later is for later runs.
        readiness:
          wanted.configuration.readiness === undefined
            ? { run, isReady: true, problem: null }
            : started.readiness,
      });
    this.#sayStarted(handle, run, process, wanted.assignment.port);
  }

  /** Makes the run's control groups. A runtime that measures usage by itself has limits of its own and gets none. */
  async #openGroups(runtime: Runtime, spec: StartSpec): Promise<readonly string[]> {
    return runtime.usage === undefined ? await this.#options.limits.open(spec, spec) : [];
  }

  /**
   * Keeps where the log of the new run begins, for a readiness that asks for a line: lines of earlier runs do not count,
   * for the daemon after a kill either.
   */
  async #noteLogPlace(id: string): Promise<void> {
    const { handles, nextLogLine } = this.#options;
    const logFrom = await nextLogLine(id);
    if (handles.get(id)?.logFrom === logFrom) return;
    handles.change(id, { logFrom });
    await handles.keep();
  }

  #sayStarted(
    { id, configurationName }: Handle,
    run: number,
    process: RunIdentity,
    port: number | null,
  ): void {
    this.#options.logger.info(
      { instance: id, configuration: configurationName, run, processPid: publicPid(pidOf(process)), port },
      `started ${id} (${configurationName}), ${identityText(process)}${port === null ? '' : `, port ${port}`}`,
    );
  }

  /**
   * Notes a cancelled start. It is no failure, so there is no delay; remains of what the runtime began are looked
   * for.
   */
  #noteCancelled(id: string): void {
    this.#options.logger.info({ instance: id }, `the start of ${id} was cancelled`);
    this.#options.handles.change(id, { ...ANSWERED, hasRemains: true, remainsCheckedAt: null });
  }

  async #isPortFree(id: string, port: number): Promise<boolean> {
    const { checkPort, handles, clock, logger } = this.#options;
    const check = await checkPort(port);
    if (check.free) return true;
    const message = `${check.protocol} port ${port} is held by another process on this node`;
    logger.warn({ instance: id, port, protocol: check.protocol }, `cannot start ${id}: ${message}`);
    handles.change(id, {
      problem: { reason: 'port-busy', message, busyPort: port, busyProtocol: check.protocol },
      notBefore: clock.monotonic() + BUSY_PORT_RETRY_MS,
      delayMs: BUSY_PORT_RETRY_MS,
    });
    return false;
  }

  #startFailed(id: string, error: unknown): void {
    const { handles, clock, random, logger, runtimes } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined) return;
    const isToolGone = DroverError.is(error, 'DRV_RUNTIME_UNAVAILABLE');
    const reason = isToolGone ? 'runtime-unavailable' : 'start-failed';
    if (isToolGone) runtimes.probeNow();
    logger.warn({ instance: id, err: error }, `cannot start ${id}: ${messageOf(error)}`);
    const problem = { reason, message: publicMessage(error), busyPort: null } as const;
    handles.change(id, {
      ...afterFailure(handle, problem, clock.monotonic(), random()),
      ...ANSWERED,
      hasRemains: true,
      remainsCheckedAt: null,
    });
  }
}
