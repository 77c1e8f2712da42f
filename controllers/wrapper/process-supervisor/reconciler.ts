/** The process supervisor: gathers the facts of one instance and carries out what plan.ts decided. */

import type { Report } from '../../../src/channel/protocol/messages.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { InstanceDescription } from '../../../src/model/run/instance-description.js';
import type { Exit } from '../../../src/model/run/past-exit.js';
import { stopSettingsOf } from '../../../src/model/stopping.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import {
  changed,
  fieldsOf,
  givenUpFor,
  type Handle,
  nameOf,
  newHandle,
  renewed,
  settled,
  unasked,
  withDirectory,
} from '../../../src/node/handle.js';
import type { RunId } from '../../../src/runtime/runtime.js';
import type { NodeParts } from '../parts.js';
import type { TemplateInstaller } from '../template-installer/reconciler.js';
import { describeRun } from './description.js';
import type { SupervisorFacts } from './goal.js';
import { afterHook } from './hooks.js';
import { Liveness } from './liveness.js';
import { plan } from './plan.js';
import { PortLooks } from './port-look.js';
import { Readiness } from './readiness.js';
import { checkRemains } from './remains.js';
import { describeEnd, endedWith, explainExit } from './report.js';
import { afterExit } from './restart-delay.js';
import { Starter } from './starter.js';
import type { SupervisorStep } from './steps.js';
import { Stopper } from './stopper.js';

export class ProcessSupervisor implements Reconciler<SupervisorFacts, SupervisorStep> {
  readonly name = 'process-supervisor';
  readonly plan = plan;
  readonly #parts: NodeParts;
  readonly #installer: TemplateInstaller;
  readonly #starter: Starter;
  readonly #stopper: Stopper;
  readonly #readiness: Readiness;
  readonly #portLooks: PortLooks;
  readonly #liveness: Liveness;

  constructor(parts: NodeParts, installer: TemplateInstaller) {
    this.#parts = parts;
    this.#installer = installer;
    this.#starter = new Starter(parts, (handle, exit) => this.#recordExit(handle, exit));
    this.#stopper = new Stopper(parts);
    this.#readiness = new Readiness(parts);
    this.#portLooks = new PortLooks(parts);
    this.#liveness = new Liveness(parts);
  }

  observe(id: string): SupervisorFacts | undefined {
    const { desired, handles, outbox, runtimes, limits, nodeStop, stopsLater } = this.#parts;
    const handle = handles.get(id);
    const isHeld = desired.has(id);
    if (handle === undefined && !isHeld) {
      outbox.forget(id);
      this.#readiness.end(id);
      this.#portLooks.forget(id);
      this.#liveness.forget(id);
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
      isNodeStopping: nodeStop.aborted && !stopsLater().has(wanted?.configuration.name ?? ''),
      runtimeProblem: runtimes.problemOf(runtime),
      check: this.#readiness.of(id),
      portLookedAt: this.#portLooks.lookedAt(id, handle?.run),
      groupRun: limits.openRun(id) ?? null,
      life: this.#liveness.of(id),
    };
  }

  perform(step: SupervisorStep, _signal: AbortSignal, id: string): Promise<void> | void {
    const { desired, handles, outbox, limits } = this.#parts;
    const wanted = desired.get(id);
    switch (step.do) {
      case 'open':
        return this.#open(id);
      case 'identify':
        return this.#identify(id);
      case 'report':
        if (step.report.state === 'STOPPED') return this.#reportKept(step.report);
        return outbox.set(step.report);
      case 'start':
        return this.#starter.start(id);
      case 'cancel-start':
        return this.#starter.cancel(id, step.run);
      case 'check-readiness':
        return this.#readiness.check(id, step.run);
      case 'end-readiness-check':
        return this.#readiness.end(id);
      case 'note-not-ready':
        return this.#readiness.noteLate(id, step.run);
      case 'look-at-port':
        return this.#portLooks.look(id, step.run);
      case 'look-at-life':
        return this.#liveness.look(id, step.run);
      case 'give-up':
        return handles.change(id, { givenUp: { run: step.run, cause: step.cause } });
      case 'leave':
        return this.#stopper.leave(id, step.run);
      case 'write-stop-command':
        return this.#stopper.command(id, step.run);
      case 'signal':
        return this.#stopper.signal(id, step.run, step.signal, step.to);
      case 'signal-rest':
        return this.#stopper.signalRest(id, step.run);
      case 'check-remains':
        return checkRemains(this.#parts, id, step.run);
      case 'close-group':
        return limits.close({ instanceId: id, run: step.run });
      case 'forgive':
        return handles.change(id, { streak: 0 });
      case 'settle-stop':
        return handles.move(id, settled);
      case 'accept-restart':
        // Note the content too, because the next run may have another content.
        handles.move(id, (handle) => ({
          ...renewed(handle, step.restartToken),
          ...(wanted && contentOf(wanted)),
        }));
        // The handle must be on disk: a daemon killed after the start would otherwise restart the instance again.
        return handles.keep();
      case 'clear-workspace':
        return this.#clearWorkspace(id);
      case 'forget':
        return this.#forget(id);
      default:
        return step satisfies never;
    }
  }

  /** The state and the plans of an instance, for `why`; undefined: the node has no handle for it. */
  describe(id: string): Omit<InstanceDescription, 'exits'> | undefined {
    // Do not call `observe` without a handle: it would forget the instance.
    const facts = this.#parts.handles.get(id) === undefined ? undefined : this.observe(id);
    return facts === undefined ? undefined : describeRun(facts, this.#parts.clock.monotonic());
  }

  /** Does the delayed work now, before the runtimes are released. */
  async stop(): Promise<void> {
    this.#liveness.stop();
    await this.#readiness.stop();
    await this.#starter.stop();
  }

  /** Notes in the handle an exit that a runtime reported. Ignores late exits; those of earlier runs are forgotten. */
  noteExit(run: RunId, exit: Exit): void {
    if (this.#starter.keepExit(run, exit)) return;
    const handle = this.#parts.handles.get(run.instanceId);
    if (handle?.run === run.run && handle.phase.is === 'up') this.#recordExit(handle, exit);
    else if (handle !== undefined && run.run < handle.run) this.acknowledge(handle.runtime, run);
  }

  /** Notes in the handle an exit that no daemon saw. Unlike `noteExit`, this works in every phase of the handle. */
  noteFoundExit(handle: Handle, exit: Exit): void {
    if (!this.#starter.keepExit({ instanceId: handle.id, run: handle.run }, exit))
      this.#recordExit(handle, exit);
  }

  #recordExit(known: Handle, reported: Exit): void {
    const handle = givenUpFor(known) === null ? known : unasked(known);
    const { handles, clock, random, logger, limits, desired, sampler, runtimes } = this.#parts;
    // The runtime may be back since the last look, and the next start waits for it.
    if (runtimes.problemOf(handle.runtime) !== null) runtimes.probeNow();
    const run = { instanceId: handle.id, run: handle.run };
    const [now, jitter] = [clock.monotonic(), random()];
    const hooked = afterHook(handle, reported, endedWith(reported), now, jitter);
    if (hooked !== undefined) {
      handles.put(hooked);
      const [past] = hooked.exits;
      if (hooked.exits !== handle.exits && past?.wasAsked === false)
        logger.warn(fieldsOf(handle), `${handle.id}: ${past.cause}`);
    } else {
      const wanted = desired.get(handle.id);
      const { ramMB, after = [] } = wanted?.configuration ?? {};
      const exit = explainExit(handle, reported, { hasKilled: () => limits.wasOutOfMemory(run), ramMB });
      const exited = afterExit(handle, { ...exit, mostMemoryBytes: sampler.mostMemory(run) }, now, jitter);
      const next = { ...exited, hooks: { ...exited.hooks, owed: after.length > 0 ? 0 : null } };
      handles.put(next);
      const end = describeEnd(handle, exit, { desired: wanted, handle: next });
      const { code, signal } = exit;
      logger.info({ ...fieldsOf(handle), code, signal }, `${nameOf(handle)} ${end}`);
    }
    this.acknowledge(handle.runtime, run);
  }

  /** Lets a runtime forget an exit that is recorded, or that a later run has made worthless. */
  acknowledge(runtime: string, { instanceId, run }: RunId): void {
    const { logger, runtimes } = this.#parts;
    runtimes
      .get(runtime)
      ?.acknowledge({ instanceId, run })
      .catch((error: unknown) =>
        logger.debug({ err: error, instanceId, run }, 'an exit stays remembered by its runtime'),
      );
  }

  #wanted(id: string): Desired {
    const wanted = this.#parts.desired.get(id);
    if (wanted === undefined) throw new Conflict(`instance ${id} is no longer desired here`);
    return wanted;
  }

  #open(id: string): Promise<void> | void {
    const { desired, handles, left } = this.#parts;
    const wanted = this.#wanted(id);
    const preparedFor = left.end(id)?.preparedFor ?? null;
    const { configurationName, restartToken } = wanted.assignment;
    const handle = newHandle({ id, configurationName, restartToken, ...contentOf(wanted) });
    handles.put(changed(handle, { hooks: { ...handle.hooks, preparedFor } }));
    // The disk may have an older handle of this instance. A daemon killed now would come back with that handle, and
    // restart the instance.
    if (restartToken > 0) return handles.keep();
    // Do not wait here: the start, not the install, needs the desired state on disk.
    void desired.keep(id);
  }

  #identify(id: string): void {
    const wanted = this.#wanted(id);
    // Keep the handle's runtime: that runtime holds the process.
    const { runtime: _, ...content } = contentOf(wanted);
    const { configurationName } = wanted.assignment;
    this.#parts.handles.change(id, { configurationName, ...content });
  }

  /**
   * Sends the report once the handle is on disk. After the report, the instance may be started elsewhere: a killed
   * daemon must not come back with a handle in which this node should run it.
   */
  async #reportKept(report: Report): Promise<void> {
    if (report.reason === 'exited') this.#parts.handles.change(report.id, { end: 'final' });
    await this.#parts.handles.keep();
    this.#parts.outbox.set(report);
  }

  /**
   * Removes the handle of an instance. First notes which instance owns a directory that stays: both reach the disk in
   * this order.
   */
  #forget(id: string): void {
    const { handles, left, clock } = this.#parts;
    const handle = handles.get(id);
    if (handle?.static === true)
      left.note(id, {
        configurationName: handle.configurationName,
        leftAt: clock.now(),
        port: handle.port ?? null,
        ports: handle.ports,
        preparedFor: handle.hooks.preparedFor,
      });
    handles.remove(id);
  }

  async #clearWorkspace(id: string): Promise<void> {
    // Wait for an install that still writes: its files would stay behind otherwise.
    await this.#installer.whenInstalled(id);
    await this.#parts.installation.remove(id);
    this.#parts.handles.move(id, (handle) => withDirectory(handle, 'cleared'));
  }
}

/** The fields that a handle keeps of the content of an instance. */
function contentOf({ configuration }: Desired): Pick<Handle, 'runtime' | 'static' | 'stop'> {
  const { runtime, static: isStatic } = configuration;
  return { runtime, static: isStatic, stop: stopSettingsOf(configuration) };
}
