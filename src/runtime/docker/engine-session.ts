/**
 * The containers of this root on one engine: takes over running containers, learns of their ends, and removes
 * containers whose end was recorded. While the engine is away no container counts as ended. When the engine is back,
 * all containers are looked up.
 */

import type { SegmentLimits } from '../../logs/segments.js';
import { messageOf } from '../../model/errors.js';
import type { Exit } from '../../model/run/past-exit.js';
import { type Held, keyOf, type RunId } from '../runtime.js';
import { ContainerRun, type ContainerRunServices } from './container-run.js';
import { ContainerUsage } from './container-usage.js';
import { exitOfRemoved, exitOfState } from './engine/container-exit.js';
import { runOfLabels } from './engine/container-options.js';
import type { Engine, ListedContainer } from './engine/engine.js';
import { isNotNow, isUnknown } from './engine/engine-error.js';
import { type EngineEvent, EngineWatch } from './engine/engine-watch.js';
import type { RunState } from './run-files.js';

interface EngineSessionOptions extends ContainerRunServices {
  readonly rootId: string;
  /** True while the start of this run is under way: its container is then not left over from a failed start. */
  readonly isStarting: (run: RunId) => boolean;
  /** Called when a run has ended and its output is in the log. */
  readonly onExit: (run: RunId, exit: Exit) => void;
  /** Called when all containers are known. */
  readonly onSynced: () => void;
}

export class EngineSession {
  readonly engine: Engine;
  readonly limits: SegmentLimits;
  /** The runs that this daemon knows, by the keys of the runs. */
  readonly runs = new Map<string, ContainerRun>();
  readonly usage: ContainerUsage;
  readonly #options: EngineSessionOptions;
  readonly #watch: EngineWatch;
  readonly #ending = new Set<Promise<void>>();
  #isSynced = false;
  #hasInit = true;

  constructor(options: EngineSessionOptions) {
    const { engine, limits, logger } = options;
    this.engine = engine;
    this.limits = limits;
    this.usage = new ContainerUsage(engine, logger);
    this.#options = options;
    this.#watch = new EngineWatch({
      ...options,
      onConnected: () => this.#sync(),
      onEvent: (event) => this.#onEvent(event),
    });
  }

  /** False once a start found that the engine has no init program. */
  get hasInit(): boolean {
    return this.#hasInit;
  }

  noteNoInit(): void {
    this.#hasInit = false;
    this.#options.logger.warn(
      'the container engine has no init program (docker-init, catatonit): programs that do not handle SIGTERM themselves are only ended by SIGKILL',
    );
  }

  /** True once the engine has answered, so that `runs` holds what the engine last listed. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  get(run: RunId): ContainerRun | undefined {
    return this.runs.get(keyOf(run));
  }

  /** The run of an instance that has not ended. */
  liveOf(instanceId: string): ContainerRun | undefined {
    return [...this.runs.values()].find((run) => run.id.instanceId === instanceId && run.exit === null);
  }

  held(): Held[] {
    return [...this.runs.values()].flatMap((run) => (run.isAcknowledged ? [] : [run.held]));
  }

  /** Resolves when the engine answers and its containers are known. Throws DRV_RUNTIME_UNAVAILABLE. */
  connected(): Promise<void> {
    return this.#watch.connected();
  }

  /** Resolves when every known end has been reported. */
  async whenSettled(): Promise<void> {
    await Promise.all(this.#ending);
  }

  /** Prepares a new run before its container starts. Throws DRV_RUNTIME_START_FAILED. */
  open(run: RunId, containerId: string): ContainerRun {
    const opened = new ContainerRun(this.#newState(run, containerId), this.#options);
    opened.begin();
    this.runs.set(keyOf(run), opened);
    return opened;
  }

  /**
   * Removes the container of a run whose exit was acknowledged, and forgets the run. A failed removal is repeated when
   * the engine is back.
   */
  async remove(run: ContainerRun): Promise<void> {
    if (await this.#removeContainer(run.containerId)) this.#forget(run);
  }

  /** Undoes a failed start. While the engine does not answer, the container may still run. */
  async discard(containerId: string, run: ContainerRun | undefined): Promise<void> {
    // Acknowledge first: if this daemon ends now, the next daemon still removes the container.
    run?.acknowledge();
    await run?.release();
    if ((await this.#removeContainer(containerId)) && run !== undefined) this.#forget(run);
  }

  /** Releases everything. Idempotent. */
  async release(): Promise<void> {
    await Promise.all([...this.runs.values()].map((run) => run.release()));
    this.engine.close();
    await this.#watch.stop();
    await Promise.all(this.#ending);
  }

  async #sync(): Promise<void> {
    const { files, rootId, onSynced } = this.#options;
    const listed = await this.engine.list(rootId);
    const byId = new Map(listed.map((container) => [container.id, container]));
    for (const state of files.read()) this.#takeUp(state);
    for (const container of listed) await this.#takeUpUnknown(container);
    for (const run of [...this.runs.values()]) await this.#square(run, byId.get(run.containerId));
    this.#isSynced = true;
    onSynced();
  }

  #takeUp(state: RunState): void {
    if (this.get(state) !== undefined) return;
    const run = new ContainerRun(state, this.#options);
    run.resume();
    this.runs.set(keyOf(state), run);
  }

  /** Takes over a container without a file: its start was interrupted, or the data directory was lost. */
  async #takeUpUnknown({ id, labels, isNew }: ListedContainer): Promise<void> {
    const run = runOfLabels(this.#options.rootId, labels);
    if (run === undefined || this.#runIn(id) !== undefined || this.#options.isStarting(run)) return;
    if (isNew) await this.#removeContainer(id);
    else this.#takeUp(this.#newState(run, id));
  }

  #runIn(containerId: string): ContainerRun | undefined {
    return [...this.runs.values()].find((run) => run.containerId === containerId);
  }

  #forget(run: ContainerRun): void {
    this.runs.delete(keyOf(run.id));
    this.#options.files.remove(run.id);
  }

  /** Brings a run in line with the engine's list. `listed` undefined: the engine has no such container any more. */
  async #square(run: ContainerRun, listed: ListedContainer | undefined): Promise<void> {
    if (run.isAcknowledged) await this.remove(run);
    else if (run.exit !== null || this.#options.isStarting(run.id)) return;
    else if (listed?.isNew === true) await this.discard(run.containerId, run);
    else if (listed === undefined) this.#end(run, exitOfRemoved(undefined, this.#options.clock.now()));
    else if (!listed.isLive) await this.#lookAtEnd(run, undefined);
  }

  #onEvent(event: EngineEvent): void {
    const run = this.#runIn(event.containerId);
    if (run === undefined || run.exit !== null || run.isAcknowledged) return;
    if (event.kind === 'removed') {
      run.noteRemoved();
      this.#end(run, exitOfRemoved(undefined, this.#options.clock.now()));
    } else
      this.#lookAtEnd(run, event.exitCode).catch((error: unknown) =>
        this.#options.logger.debug(
          { reason: messageOf(error) },
          'the end of a container could not be looked at',
        ),
      );
  }

  async #lookAtEnd(run: ContainerRun, exitCode: number | undefined): Promise<void> {
    const { clock } = this.#options;
    try {
      const state = await this.engine.inspect(run.containerId);
      if (state.isBeingRemoved) run.noteRemoved();
      // Use the reported exit code: if someone has started the container again, its present state says nothing of this
      // run.
      const said = exitCode === undefined ? state : { ...state, exitCode };
      this.#end(run, exitOfState(said, clock.now()));
    } catch (error) {
      if (isUnknown(error)) this.#end(run, exitOfRemoved(exitCode, clock.now()));
      // Use the reported exit code when the engine cannot be asked for more.
      else if (exitCode !== undefined)
        this.#end(run, exitOfState({ exitCode, isOutOfMemory: false, finishedAt: '' }, clock.now()));
      else throw error;
    }
  }

  #end(run: ContainerRun, how: Exit): void {
    if (run.isEnding) return;
    const ending = run
      .end(how)
      .then((exit) => {
        if (run.exit !== null && this.get(run.id) === run) this.#options.onExit(run.id, exit);
      })
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** Removes a container. Returns false when the engine did not answer. */
  async #removeContainer(id: string): Promise<boolean> {
    try {
      await this.engine.remove(id);
      return true;
    } catch (error) {
      // The container is gone, or (409) someone else is removing it: nothing is left to do.
      if (isUnknown(error) || isNotNow(error)) return true;
      this.#options.logger.debug({ reason: messageOf(error), container: id }, 'a container is removed later');
      return false;
    }
  }

  #newState({ instanceId, run }: RunId, containerId: string): RunState {
    return {
      instanceId,
      run,
      containerId,
      socketPath: this.engine.socketPath,
      from: null,
      checkpoint: null,
      exit: null,
      isAcknowledged: false,
    };
  }
}
