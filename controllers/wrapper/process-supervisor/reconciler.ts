/** The process supervisor: gathers the facts of one instance and carries out what plan.ts decided. */

import type { Report } from '../../../src/channel/protocol/messages.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { stopSettingsOf } from '../../../src/model/stopping.js';
import { type Handle, newHandle } from '../../../src/node/handle-book.js';
import type { LeftDirectories } from '../../../src/node/left-directories.js';
import type { StatusOutbox } from '../../../src/node/status-outbox.js';
import type { Exit, RunId } from '../../../src/runtime/runtime.js';
import { describeRun, type RunDescription } from './description.js';
import type { SupervisorFacts } from './goal.js';
import { explainExit } from './out-of-memory.js';
import { plan } from './plan.js';
import { Readiness, type ReadinessOptions } from './readiness.js';
import { Remains } from './remains.js';
import { describeEnd } from './report.js';
import { afterExit } from './restart-delay.js';
import { Starter, type StarterOptions } from './starter.js';
import type { SupervisorStep } from './steps.js';
import { Stopper } from './stopper.js';

export interface ProcessSupervisorOptions extends Omit<StarterOptions, 'recordExit'>, ReadinessOptions {
  readonly outbox: StatusOutbox;
  /** The most memory that a run was measured with; undefined: it never was. */
  readonly mostMemoryOf: (run: RunId) => number | undefined;
  readonly removeWorkspace: (id: string) => Promise<void>;
  readonly left: Pick<LeftDirectories, 'note' | 'end'>;
}

export class ProcessSupervisor implements Reconciler<SupervisorFacts, SupervisorStep> {
  readonly name = 'process-supervisor';
  readonly plan = plan;
  readonly #options: ProcessSupervisorOptions;
  readonly #starter: Starter;
  readonly #stopper: Stopper;
  readonly #remains: Remains;
  readonly #readiness: Readiness;

  constructor(options: ProcessSupervisorOptions) {
    this.#options = options;
    this.#starter = new Starter({ ...options, recordExit: (handle, exit) => this.#recordExit(handle, exit) });
    this.#stopper = new Stopper(options);
    this.#remains = new Remains(options);
    this.#readiness = new Readiness(options);
  }

  observe(id: string): SupervisorFacts | undefined {
    const { desired, handles, outbox, runtimes, isNodeStopping } = this.#options;
    const handle = handles.get(id);
    const isHeld = desired.has(id);
    if (handle === undefined && !isHeld) {
      outbox.forget(id);
      this.#readiness.end(id);
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
      checkedRun: this.#readiness.checkedRun(id),
      isCheckOutdated: this.#readiness.isOutdated(id),
    };
  }

  perform(step: SupervisorStep, _signal: AbortSignal, id: string): Promise<void> | void {
    const { handles, outbox } = this.#options;
    switch (step.do) {
      case 'open':
        return this.#open(id);
      case 'identify':
        this.#identify(id);
        return;
      case 'report':
        if (step.report.state === 'STOPPED') return this.#reportKept(step.report);
        outbox.set(step.report);
        return;
      case 'start':
        return this.#starter.start(id);
      case 'cancel-start':
        this.#starter.cancel(id, step.run);
        return;
      case 'check-readiness':
        return this.#readiness.check(id, step.run);
      case 'end-readiness-check':
        this.#readiness.end(id);
        return;
      case 'note-not-ready':
        this.#readiness.noteLate(id, step.run);
        return;
      case 'write-stop-command':
        return this.#stopper.command(id, step.run);
      case 'signal':
        return this.#stopper.signal(id, step.run, step.signal);
      case 'check-remains':
        return this.#remains.check(id, step.run, step.kill);
      case 'forgive':
        handles.change(id, { streak: 0 });
        return;
      case 'settle-stop':
        handles.change(id, { stopping: null, streak: 0, notBefore: null, problem: null });
        return;
      case 'accept-restart':
        handles.change(id, {
          // The next run may be of another content.
          ...this.#contentFields(id),
          restartToken: step.restartToken,
          isPrepared: false,
          isCleared: false,
          hasEnded: false,
          hasFinished: false,
          streak: 0,
          notBefore: null,
          delayMs: 0,
          problem: null,
        });
        // Else a daemon that is killed after the start would restart the instance once more.
        return handles.keep();
      case 'clear-workspace':
        return this.#clearWorkspace(id);
      case 'forget':
        this.#forget(id);
        return;
      default:
        return step satisfies never;
    }
  }

  /** What is known and decided of an instance, for `why`; undefined: the node has no handle for it. */
  describe(id: string): RunDescription | undefined {
    // `observe` would forget an instance without a handle.
    const facts = this.#options.handles.get(id) === undefined ? undefined : this.observe(id);
    return facts === undefined ? undefined : describeRun(facts, this.#options.clock.monotonic());
  }

  /** Does the delayed work now, before the runtimes are released. */
  async stop(): Promise<void> {
    await this.#readiness.stop();
    await this.#starter.stop();
    await this.#remains.stop();
  }

  /** Takes an exit that a runtime reported into the handle. Late and foreign ones are ignored. */
  noteExit(run: RunId, exit: Exit): void {
    if (this.#starter.keepExit(run, exit)) return;
    const handle = this.#options.handles.get(run.instanceId);
    if (handle === undefined || handle.run !== run.run || handle.process === null) return;
    this.#recordExit(handle, exit);
  }

  #recordExit(handle: Handle, reported: Exit): void {
    const { handles, clock, random, logger, runtimes, limits, desired, mostMemoryOf } = this.#options;
    const run = { instanceId: handle.id, run: handle.run };
    const exit = explainExit(handle, reported, {
      hasKilled: (run) => limits.wasOutOfMemory(run),
      ramMB: desired.get(handle.id)?.configuration.ramMB,
    });
    const measured = { ...exit, mostMemoryBytes: mostMemoryOf(run) };
    handles.change(handle.id, afterExit(handle, measured, clock.monotonic(), random()));
    const ended = { desired: desired.get(handle.id), handle: handles.get(handle.id) };
    logger.info(
      {
        instance: handle.id,
        configuration: handle.configurationName,
        run: handle.run,
        code: exit.code,
        signal: exit.signal,
      },
      `${handle.id} (${handle.configurationName}) ${describeEnd(handle, exit, ended)}`,
    );
    runtimes
      .get(handle.runtime)
      ?.acknowledge(run)
      .catch((error: unknown) =>
        logger.debug({ err: error, ...run }, 'an exit stays remembered by its runtime'),
      );
  }

  #open(id: string): Promise<void> | void {
    const { desired, handles, left } = this.#options;
    const wanted = desired.get(id);
    if (wanted === undefined) throw new Conflict(`instance ${id} is no longer desired here`);
    const { assignment, configuration } = wanted;
    left.end(id);
    handles.put(
      newHandle({
        id,
        configurationName: assignment.configurationName,
        static: configuration.static,
        runtime: configuration.runtime,
        restartToken: assignment.restartToken,
        stop: stopSettingsOf(configuration),
      }),
    );
    // It may have been here before: a daemon that is killed must not come back with that handle, and restart it.
    if (assignment.restartToken > 0) return handles.keep();
    // Its start waits for this, and the install need not.
    void desired.keep(id);
  }

  /** What a handle keeps of the content of an instance. */
  #contentFields(id: string): Partial<Handle> {
    const configuration = this.#options.desired.get(id)?.configuration;
    if (configuration === undefined) return {};
    const { runtime, static: isStatic } = configuration;
    return { runtime, static: isStatic, stop: stopSettingsOf(configuration) };
  }

  #identify(id: string): void {
    const wanted = this.#options.desired.get(id);
    if (wanted === undefined) throw new Conflict(`instance ${id} is no longer desired here`);
    const { assignment, configuration } = wanted;
    this.#options.handles.change(id, {
      configurationName: assignment.configurationName,
      static: configuration.static,
      stop: stopSettingsOf(configuration),
    });
  }

  /**
   * Waits until the handle is on disk. After the report the instance may be started elsewhere, and a daemon that is
   * killed now must not come back with a copy in which it is wanted here.
   */
  async #reportKept(report: Report): Promise<void> {
    if (report.reason === 'exited') this.#options.handles.change(report.id, { hasFinished: true });
    await this.#options.handles.keep();
    this.#options.outbox.set(report);
  }

  /** Whose directory stays is noted first: both are written in this order. */
  #forget(id: string): void {
    const { handles, left, clock } = this.#options;
    const handle = handles.get(id);
    if (handle?.static === true)
      left.note(id, {
        configurationName: handle.configurationName,
        leftAt: clock.now(),
        port: handle.port ?? null,
      });
    handles.remove(id);
  }

  async #clearWorkspace(id: string): Promise<void> {
    await this.#options.removeWorkspace(id);
    this.#options.handles.change(id, { isCleared: true, isPrepared: false });
  }
}
