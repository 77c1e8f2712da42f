/** The process supervisor: gathers the facts of one instance and carries out what plan.ts decided. */

import type { Clock, TimerHandle } from '../../../src/loop/clock.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { publicMessage } from '../../../src/model/public-message.js';
import type { Desired, DesiredCopy } from '../../../src/node/desired-copy.js';
import { type Handle, type HandleBook, newHandle } from '../../../src/node/handle-book.js';
import type { StatusOutbox } from '../../../src/node/status-outbox.js';
import type { Exit, RunId, Runtime, StartSpec } from '../../../src/runtime/runtime.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { describeRun, type RunDescription } from './description.js';
import type { SupervisorFacts } from './goal.js';
import { plan, type SupervisorStep } from './plan.js';
import { describeEnd } from './report.js';
import { afterExit, afterFailure } from './restart-delay.js';

/** After this long a port that something else held is tried again. */
const BUSY_PORT_RETRY_MS = 5000;
/** When strays of a crashed run are looked for: after its restart, which they must not delay. */
const SWEEP_AFTER_MS = 200;

/** Which runtimes the node has, and why one cannot be used. */
export interface RuntimeSet {
  get(key: string): Runtime | undefined;
  /** Null: it can be used. */
  problemOf(key: string): string | null;
}

export interface ProcessSupervisorOptions {
  readonly desired: DesiredCopy;
  readonly handles: HandleBook;
  readonly outbox: StatusOutbox;
  readonly runtimes: RuntimeSet;
  /** The complete specification of a start: command, environment, working directory. */
  readonly launchSpec: (desired: Desired, run: number) => StartSpec;
  readonly checkPort: (port: number) => Promise<{ free: true } | { free: false; protocol: 'tcp' | 'udp' }>;
  readonly removeWorkspace: (id: string) => Promise<void>;
  readonly isNodeStopping: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export type SupervisorRoundStep = SupervisorStep & { readonly id: string };

export class ProcessSupervisor implements Reconciler<SupervisorFacts, SupervisorRoundStep> {
  readonly name = 'process-supervisor';
  readonly #options: ProcessSupervisorOptions;
  /** Runs whose start is under way, with an exit that overtook the answer. */
  readonly #starting = new Map<string, { run: number; exit: Exit | undefined }>();

  /** Ended runs whose strays are still to be ended, by `<id>/<run>`. */
  readonly #sweeps = new Map<string, { readonly handle: Handle; readonly timer: TimerHandle }>();

  constructor(options: ProcessSupervisorOptions) {
    this.#options = options;
  }

  observe(id: string): SupervisorFacts | undefined {
    const { desired, handles, outbox, runtimes, isNodeStopping } = this.#options;
    const handle = handles.get(id);
    const isHeld = desired.has(id);
    if (handle === undefined && !isHeld) {
      outbox.forget(id);
      return undefined;
    }
    const wanted = desired.get(id);
    const runtime = wanted?.configuration.runtime ?? handle?.runtime ?? '';
    return {
      id,
      desired: wanted,
      isHeld,
      isConfirmed: desired.isConfirmed,
      handle,
      reported: outbox.get(id),
      isNodeStopping: isNodeStopping(),
      runtimeProblem: runtimes.problemOf(runtime),
    };
  }

  plan(facts: SupervisorFacts, now: number) {
    const { steps, ...rest } = plan(facts, now);
    return { ...rest, steps: steps.map((step) => ({ ...step, id: facts.id })) };
  }

  perform(step: SupervisorRoundStep): Promise<void> | void {
    const { handles, outbox } = this.#options;
    const { id } = step;
    switch (step.do) {
      case 'open':
        this.#open(id);
        return;
      case 'identify':
        this.#identify(id);
        return;
      case 'report':
        outbox.set(step.report);
        return;
      case 'start':
        return this.#start(id);
      case 'signal':
        return this.#signal(id, step.run, step.signal);
      case 'check-remains':
        return this.#checkRemains(id, step.run, step.kill);
      case 'forgive':
        handles.change(id, { streak: 0 });
        return;
      case 'settle-stop':
        handles.change(id, { stopping: null, streak: 0, notBefore: null, problem: null });
        return;
      case 'accept-restart':
        handles.change(id, {
          restartToken: step.restartToken,
          isPrepared: false,
          isCleared: false,
          streak: 0,
          notBefore: null,
          delayMs: 0,
          problem: null,
        });
        return;
      case 'clear-workspace':
        return this.#clearWorkspace(id);
      case 'forget':
        handles.remove(id);
        return;
      default:
        return step satisfies never;
    }
  }

  /** What is known and decided of an instance, for `why`; undefined: the node has no handle for it. */
  describe(id: string): RunDescription | undefined {
    const facts = this.observe(id);
    return facts === undefined ? undefined : describeRun(facts, this.#options.clock.monotonic());
  }

  /** Does at once what was put off, before the runtimes are let go. */
  async stop(): Promise<void> {
    const pending = [...this.#sweeps.values()];
    this.#sweeps.clear();
    for (const { timer } of pending) timer.cancel();
    await Promise.all(pending.map(({ handle }) => this.#sweep(handle)));
  }

  /** An exit that a runtime reported: an observation, taken into the handle. Late and foreign ones are ignored. */
  noteExit(run: RunId, exit: Exit): void {
    const starting = this.#starting.get(run.instanceId);
    if (starting?.run === run.run) {
      starting.exit = exit;
      return;
    }
    const handle = this.#options.handles.get(run.instanceId);
    if (handle === undefined || handle.run !== run.run || handle.process === null) return;
    this.#recordExit(handle, exit);
  }

  #recordExit(handle: Handle, exit: Exit): void {
    const { handles, clock, random, logger, runtimes } = this.#options;
    handles.change(handle.id, afterExit(handle, exit, clock.monotonic(), random()));
    const after = handles.get(handle.id);
    logger.info(
      {
        instance: handle.id,
        configuration: handle.configurationName,
        run: handle.run,
        code: exit.code,
        signal: exit.signal,
      },
      `${handle.id} (${handle.configurationName}) ${describeEnd(handle, exit, after)}`,
    );
    const run = { instanceId: handle.id, run: handle.run };
    runtimes
      .get(handle.runtime)
      ?.acknowledge(run)
      .catch((error: unknown) =>
        logger.debug({ err: error, ...run }, 'an exit stays remembered by its runtime'),
      );
  }

  #open(id: string): void {
    const { desired, handles } = this.#options;
    const wanted = desired.get(id);
    if (wanted === undefined) throw new Conflict(`instance ${id} is no longer desired here`);
    const { assignment, configuration } = wanted;
    handles.put(
      newHandle({
        id,
        configurationName: assignment.configurationName,
        static: configuration.static,
        runtime: configuration.runtime,
        restartToken: assignment.restartToken,
      }),
    );
  }

  #identify(id: string): void {
    const wanted = this.#options.desired.get(id);
    if (wanted === undefined) throw new Conflict(`instance ${id} is no longer desired here`);
    const { assignment, configuration } = wanted;
    this.#options.handles.change(id, {
      configurationName: assignment.configurationName,
      static: configuration.static,
    });
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

  async #start(id: string): Promise<void> {
    const { handles, launchSpec, logger, clock } = this.#options;
    const { port } = this.#startable(id).wanted.assignment;
    if (!(await this.#isPortFree(id, port))) return;
    // Again: much may have been asked for while the port was looked at.
    const { wanted, handle, runtime } = this.#startable(id);
    if (wanted.assignment.port !== port) throw new Conflict(`instance ${id} was given another port`);
    const run = handle.run + 1;
    const starting: { run: number; exit: Exit | undefined } = { run, exit: undefined };
    this.#starting.set(id, starting);
    try {
      handles.change(id, { run, isStarting: true, isPrepared: false, isCleared: false });
      const process = await runtime.start(launchSpec(wanted, run));
      const restarts = handle.restarts + (handle.exit !== null && handle.streak > 0 ? 1 : 0);
      handles.change(id, {
        process,
        isStarting: false,
        upSince: clock.monotonic(),
        problem: null,
        notBefore: null,
        restarts,
      });
      logger.info(
        {
          instance: id,
          configuration: handle.configurationName,
          run,
          processPid: process.pid,
          port,
        },
        `started ${id} (${handle.configurationName}), pid ${process.pid}${port === null ? '' : `, port ${port}`}`,
      );
    } catch (error) {
      this.#startFailed(id, error);
    } finally {
      this.#starting.delete(id);
      const started = handles.get(id);
      if (starting.exit !== undefined && started?.process != null) this.#recordExit(started, starting.exit);
    }
  }

  async #isPortFree(id: string, port: number | null): Promise<boolean> {
    if (port === null) return true;
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
    const { handles, clock, random, logger } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined) return;
    const reason = DroverError.is(error, 'DRV_RUNTIME_UNAVAILABLE') ? 'runtime-unavailable' : 'start-failed';
    logger.warn({ instance: id, err: error }, `cannot start ${id}: ${messageOf(error)}`);
    const problem = { reason, message: publicMessage(error), busyPort: null } as const;
    handles.change(id, {
      ...afterFailure(handle, problem, clock.monotonic(), random()),
      isStarting: false,
      hasRemains: true,
      remainsCheckedAt: null,
    });
  }

  async #signal(id: string, run: number, signal: NodeJS.Signals): Promise<void> {
    const { handles, clock, logger } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined || handle.run !== run || handle.process === null)
      throw new Conflict(`run ${run} of ${id} has ended`);
    const signalledAt = clock.monotonic();
    handles.change(id, { stopping: { signal, signalledAt, since: handle.stopping?.since ?? signalledAt } });
    logger.info({ instance: id, signal }, `stopping ${id} (${handle.configurationName}): ${signal}`);
    await this.#runtimeOf(handle).signal({ instanceId: id, run }, signal);
  }

  async #checkRemains(id: string, run: number, kill: boolean): Promise<void> {
    const { handles, clock } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined || handle.run !== run || handle.process !== null)
      throw new Conflict(`instance ${id} changed before its remains were looked for`);
    const runtime = this.#runtimeOf(handle);
    if (kill && handle.stopping === null && runtime.isGroupGone({ instanceId: id, run })) {
      handles.change(id, { hasRemains: false, remainsCheckedAt: clock.monotonic() });
      this.#sweepLater(handle);
      return;
    }
    const hasRemains = await runtime.isAlive({ instanceId: id, run });
    if (hasRemains && kill) await runtime.signal({ instanceId: id, run }, 'SIGKILL');
    if (handles.get(id)?.run === run) handles.change(id, { hasRemains, remainsCheckedAt: clock.monotonic() });
  }

  /**
   * After a crash the next start does not wait for a look at every process of the machine: what the ended run left
   * outside of its group is ended a moment later. Its mark tells it from the run that follows.
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
    const current = this.#options.handles.get(handle.id);
    // An instance that was dropped and came back counts its runs anew: the mark may be that of its new process.
    if (current?.run === handle.run && (current.process !== null || current.isStarting)) return;
    try {
      await this.#runtimeOf(handle).signal({ instanceId: handle.id, run: handle.run }, 'SIGKILL');
    } catch (error) {
      this.#options.logger.warn(
        { err: error, instance: handle.id },
        `what ${handle.id} left behind could not be ended`,
      );
    }
  }

  async #clearWorkspace(id: string): Promise<void> {
    await this.#options.removeWorkspace(id);
    this.#options.handles.change(id, { isCleared: true, isPrepared: false });
  }

  #runtimeOf(handle: Handle): Runtime {
    const runtime = this.#options.runtimes.get(handle.runtime);
    if (runtime === undefined)
      throw new DroverError('DRV_RUNTIME_UNAVAILABLE', `this node has no runtime ${handle.runtime}`);
    return runtime;
  }
}
