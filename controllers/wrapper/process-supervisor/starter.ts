/** Starts runs: checks the port, asks the runtime, and notes its answer, or its refusal, in the handle. */
import { Conflict } from '../../../src/loop/reconciler.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { type NamedPort, portsOf } from '../../../src/model/fields/ports.js';
import { isSameValue } from '../../../src/model/plain/same-value.js';
import { publicMessage } from '../../../src/model/public-message.js';
import type { Exit } from '../../../src/model/run/past-exit.js';
import { identityText, pidOf, publicPid } from '../../../src/model/run/run-identity.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import {
  AT_ONCE,
  cancelled,
  changed,
  fieldsOf,
  type Handle,
  hindered,
  hookOf,
  isPrepared,
  nameOf,
  nextStartOf,
  notStarted,
  restartsWithNext,
  starting,
  up,
  withProgress,
} from '../../../src/node/handle.js';
import type { RunId, Runtime } from '../../../src/runtime/runtime.js';
import type { NodeParts } from '../parts.js';
import { isForFormerPort } from './goal.js';
import { contentOfHook, hooksOfStart, type NextHook, nextPrepare, owedHook } from './hooks.js';
import { afterFailure } from './restart-delay.js';

/** How long to wait before trying a port again that something else holds. */
const BUSY_PORT_RETRY_MS = 5000;

/** The collaborators of one start, as they are when it begins. */
interface Startable {
  readonly wanted: Desired;
  readonly handle: Handle;
  readonly runtime: Runtime;
  /** The hook to start; undefined: the command. */
  readonly hook: NextHook | undefined;
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
  readonly #parts: NodeParts;
  readonly #recordExit: (handle: Handle, exit: Exit) => void;
  /** The starts under way, by instance id. */
  readonly #starting = new Map<string, StartUnderWay>();
  /** The looks at ports under way. Instances that share a port share the look: two would hold it from each other. */
  readonly #looks = new Map<string, ReturnType<NodeParts['checkPort']>>();

  /** `recordExit` notes in the handle that a run ended. */
  constructor(parts: NodeParts, recordExit: (handle: Handle, exit: Exit) => void) {
    this.#parts = parts;
    this.#recordExit = recordExit;
  }

  /**
   * Keeps an exit of a start under way; the exit is noted after the runtime's answer. Returns false when no such start
   * is under way.
   */
  keepExit(run: RunId, exit: Exit): boolean {
    const underWay = this.#starting.get(run.instanceId);
    if (underWay?.run !== run.run) return false;
    underWay.exit = exit;
    return true;
  }

  /** Tells the runtime that the start of `run` is no longer wanted. The runtime still answers that start. */
  cancel(id: string, run: number): void {
    const underWay = this.#starting.get(id);
    if (underWay?.run !== run) throw new Conflict(`the start of run ${run} of ${id} was answered`);
    this.#parts.handles.move(id, cancelled);
    underWay.cancel.abort();
  }

  /**
   * Cancels the starts that take long, and waits for the answer to every start. The next daemon starts the cancelled
   * ones again.
   */
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
    const { hook, wanted } = this.#startable(id);
    const ports = hook?.kind === 'after' ? [] : portsOf(wanted.assignment);
    // A start without a port skips the port check, and so is under way before the first `await`.
    for (const port of ports) if (!(await this.#isPortFree(id, port))) return;
    const startable = this.#startable(id);
    if (ports.length > 0 && !isSameValue(portsOf(startable.wanted.assignment), ports))
      throw new Conflict(`instance ${id} was given another port`);
    const underWay: StartUnderWay = {
      run: startable.handle.run + 1,
      cancel: new AbortController(),
      answered: Promise.resolve(),
      exit: undefined,
    };
    this.#starting.set(id, underWay);
    await new Promise<void>((resolve) => {
      underWay.answered = this.#run(startable, underWay, resolve).finally(resolve);
    });
  }

  /** The collaborators of a start of the instance. Throws Conflict when the instance is not to be started now. */
  #startable(id: string): Startable {
    const { desired, handles, runtimes, nodeStop } = this.#parts;
    const wanted = desired.get(id);
    const handle = handles.get(id);
    const runtime = runtimes.get(handle?.runtime ?? '');
    const owed = handle && owedHook({ desired: wanted }, handle);
    if (wanted !== undefined && handle?.phase.is === 'down' && runtime !== undefined && owed !== undefined)
      return { wanted, handle, runtime, hook: owed };
    const isWanted =
      wanted?.assignment.goal === 'run' &&
      wanted.assignment.restartToken === handle?.restartToken &&
      !nodeStop.aborted;
    if (
      !isWanted ||
      runtime === undefined ||
      !isPrepared(handle) ||
      isForFormerPort(wanted.assignment, handle)
    )
      throw new Conflict(`instance ${id} changed before its start`);
    return { wanted, handle, runtime, hook: nextPrepare(wanted, handle) };
  }

  /**
   * Carries out a start. Never rejects: the handle notes failures. Calls `onLong` when the runtime says that the start
   * takes long.
   */
  async #run(startable: Startable, underWay: StartUnderWay, onLong: () => void): Promise<void> {
    const { handles, logger } = this.#parts;
    const { id } = startable.handle;
    try {
      await this.#launch(startable, underWay, onLong);
    } catch (error) {
      if (underWay.cancel.signal.aborted) {
        logger.info({ instance: id }, `the start of ${id} was cancelled`);
        // A cancellation is no failure, so the next start gets no delay.
        handles.move(id, (handle) => notStarted(handle, nextStartOf(handle)));
      } else this.#startFailed(id, error);
    } finally {
      this.#starting.delete(id);
      const started = handles.get(id);
      if (underWay.exit !== undefined && started?.phase.is === 'up') this.#recordExit(started, underWay.exit);
    }
  }

  async #launch(
    { wanted, handle, runtime, hook }: Startable,
    underWay: StartUnderWay,
    onLong: () => void,
  ): Promise<void> {
    const { desired, handles, installation, limits, clock, logger } = this.#parts;
    const { id } = handle;
    const { run, cancel } = underWay;
    const { assignment, configuration } = wanted;
    const hooks = hooksOfStart(wanted, handle, hook);
    const sharesPort = configuration.sharePort !== undefined;
    handles.put(starting(changed(handle, { hooks, sharesPort }), assignment, clock.now()));
    // A daemon killed now would otherwise come back and take the hook for the program, or start the run of a job again.
    if (hook !== undefined || configuration.job !== undefined) await handles.keep();
    if (hook === undefined && configuration.readiness?.logLine !== undefined) await this.#noteLogPlace(id);
    const content = hook === undefined ? wanted : contentOfHook(wanted, hook, handle);
    const spec = installation.launchSpec(content, run, desired.master);
    // A runtime that measures usage itself also sets its own limits, so Drover makes no control groups for it.
    const opening = runtime.usage === undefined ? limits.open(spec, spec) : [];
    const [controlGroups] = await Promise.all([opening, desired.keep(id)]);
    const process = await runtime.start({
      ...spec,
      controlGroups,
      // Use a getter, because most runtimes never read the signal.
      get signal() {
        return cancel.signal;
      },
      onProgress: (progress) => {
        if (this.#starting.get(id) !== underWay) return;
        handles.move(id, (started) => withProgress(started, progress));
        onLong();
      },
    });
    handles.move(id, (started) =>
      up(
        changed(started, {
          restarts: hook === undefined ? restartsWithNext(handle) : handle.restarts,
          // A run that starts without a check counts as ready, even when a check is added to its configuration later.
          readiness:
            configuration.readiness === undefined ? { run, isReady: true, problem: null } : started.readiness,
        }),
        process,
        clock.monotonic(),
      ),
    );
    const { port } = assignment;
    const what = `${hook === undefined ? '' : `${hook.name} of `}${nameOf(handle)}`;
    logger.info(
      { ...fieldsOf(handle), run, processPid: publicPid(pidOf(process)), port },
      `started ${what}, ${identityText(process)}${port === null ? '' : `, port ${port}`}`,
    );
  }

  /**
   * Notes where the log of the new run begins, for a readiness check that waits for a log line: lines of earlier runs
   * do not count. The next daemon, after a kill, must know the place too.
   */
  async #noteLogPlace(id: string): Promise<void> {
    const { handles, installation } = this.#parts;
    const logFrom = await installation.nextLogLine(id);
    if (handles.get(id)?.logFrom === logFrom) return;
    handles.change(id, { logFrom });
    await handles.keep();
  }

  async #isPortFree(id: string, { name, port, protocol }: NamedPort): Promise<boolean> {
    const { checkPort, holderOfPort, handles, clock, logger } = this.#parts;
    if (this.#hasSharer(id, port)) return true;
    const key = `${port}/${protocol}`;
    const look = this.#looks.get(key) ?? checkPort(port, protocol).finally(() => this.#looks.delete(key));
    this.#looks.set(key, look);
    const check = await look;
    if (check.free) return true;
    const holder = await holderOfPort(port, check.protocol);
    const who = holder === undefined ? '' : ` (${holder})`;
    const what = name === 'main' ? port : `${port} (${name})`;
    const message = `${check.protocol} port ${what} is held by another process on this node${who}`;
    logger.warn({ instance: id, port, protocol: check.protocol }, `cannot start ${id}: ${message}`);
    const problem = { reason: 'port-busy', message, busyPort: port, busyProtocol: check.protocol } as const;
    const delay = { until: clock.monotonic() + BUSY_PORT_RETRY_MS, ms: BUSY_PORT_RETRY_MS };
    handles.move(id, (handle) => hindered(handle, { problem, delay }));
    return false;
  }

  /**
   * True where another instance of the configuration is up on the port that they share. A look says nothing then: the
   * others hold the port, perhaps as another user. The program's own bind decides.
   */
  #hasSharer(id: string, port: number): boolean {
    const { desired, handles } = this.#parts;
    const { configuration } = desired.get(id) ?? {};
    // The ports of a run whose start never reached the disk are unknown: they count as those that it is to have.
    const portsHeldBy = (other: Handle): readonly NamedPort[] =>
      portsOf(other.port === undefined ? (desired.get(other.id)?.assignment ?? {}) : other);
    return (
      configuration?.sharePort !== undefined &&
      [...handles.values()].some(
        (other) =>
          other.id !== id &&
          other.configurationName === configuration.name &&
          ['starting', 'up', 'remaining'].includes(other.phase.is) &&
          // It may run as it was started before the content made the port a shared one.
          other.sharesPort !== false &&
          portsHeldBy(other).some((one) => one.port === port),
      )
    );
  }

  #startFailed(id: string, error: unknown): void {
    const { handles, clock, random, logger, runtimes } = this.#parts;
    const isToolGone = DroverError.is(error, 'DRV_RUNTIME_UNAVAILABLE');
    const isSecretGone = DroverError.is(error, 'DRV_SECRET_MISSING');
    const reason = isToolGone ? 'runtime-unavailable' : isSecretGone ? 'secret-missing' : 'start-failed';
    if (isToolGone) runtimes.probeNow();
    logger.warn({ instance: id, err: error }, `cannot start ${id}: ${messageOf(error)}`);
    const problem = { reason, message: publicMessage(error), busyPort: null } as const;
    handles.move(id, (handle) => {
      const hook = hookOf(handle);
      if (hook?.kind === 'after')
        return notStarted(changed(handle, { hooks: { ...handle.hooks, owed: hook.next } }), AT_ONCE);
      const { streak, next } = afterFailure(handle, problem, clock.monotonic(), random());
      return notStarted(changed(handle, { streak }), next);
    });
  }
}
