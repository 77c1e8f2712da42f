/**
 * The `docker` runtime: containers of a Docker Engine, or of Podman by the same interface. The engine outlives the
 * daemon, so no owner process is needed. Containers carry labels, and the engine keeps their output; a small file for
 * each run says how much of it was copied. Only containers with this root's label are ever touched.
 */
import type { RuntimeOffer } from '../../model/node.js';
import { publicMessage } from '../../model/public-message.js';
import type { Attachment } from '../../model/run/attachment.js';
import type { ContainerIdentity } from '../../model/run/run-identity.js';
import { notRunning, unavailable } from '../failures.js';
import { checkInput } from '../owner/stdin-limits.js';
import { RunEvents } from '../run-events.js';
import { type Held, keyOf, type RunId, type Runtime, type StartSpec, type Usage } from '../runtime.js';
import type { ContainerRun, ContainerRunServices } from './container-run.js';
import { startContainer } from './container-start.js';
import { Engine } from './engine/engine.js';
import { isNotNow, isUnknown } from './engine/engine-error.js';
import { findEngineSocket } from './engine/engine-socket.js';
import { EngineSession } from './engine-session.js';
import { RunFiles } from './run-files.js';

export interface DockerRuntimeOptions extends Omit<ContainerRunServices, 'engine' | 'files'> {
  /** Identity of the node's root, a label of every container. */
  readonly rootId: string;
  /** Where the state of runs is kept, made with mode 0700 when needed. */
  readonly stateDirectory: string;
  /** The daemon's environment, for `DOCKER_HOST`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export class DockerRuntime extends RunEvents implements Runtime {
  readonly #options: DockerRuntimeOptions;
  readonly #files: RunFiles;
  readonly #release = new AbortController();
  #session: EngineSession | undefined;
  /**
   * True after `adopt` failed. The supervisor is then told when the running containers are known, and adopts again.
   */
  #isOwed = false;

  constructor(options: DockerRuntimeOptions) {
    super('docker', options.logger);
    this.#options = options;
    this.#files = new RunFiles(options.stateDirectory, options.logger);
  }

  async probe(): Promise<RuntimeOffer> {
    let engine: Engine | undefined;
    try {
      engine = new Engine(this.#socket(), this.#options.clock);
      const { text } = await engine.version();
      return { key: this.key, available: true, version: text, reason: null };
    } catch (error) {
      return { key: this.key, available: false, version: null, reason: publicMessage(error) };
    } finally {
      engine?.close();
    }
  }

  async start(spec: StartSpec): Promise<ContainerIdentity> {
    const session = await this.#connected();
    const { rootId, clock } = this.#options;
    const signal = AbortSignal.any([
      this.#release.signal,
      ...(spec.signal === undefined ? [] : [spec.signal]),
    ]);
    return await this.starting(spec, () => startContainer({ spec, session, rootId, signal, clock }));
  }

  async adopt(): Promise<readonly Held[]> {
    // Ask no engine when this root never started a container.
    if (this.#session === undefined && this.#files.read().length === 0) return [];
    try {
      const session = await this.#connected();
      await session.whenSettled();
      this.#isOwed = false;
      return session.held();
    } catch (error) {
      this.#isOwed = true;
      throw error;
    }
  }

  async list(): Promise<readonly Held[]> {
    return this.#session?.held() ?? [];
  }

  /** Signals the container's main process; SIGKILL ends everything in the container. */
  async signal(run: RunId, signal: NodeJS.Signals): Promise<readonly []> {
    const live = await this.#live(run);
    if (live === undefined) return [];
    await live.session.engine.kill(live.containerId, signal).catch((error: unknown) => {
      if (!isUnknown(error) && !isNotNow(error)) throw error;
    });
    return [];
  }

  async isAlive(run: RunId): Promise<boolean> {
    return (await this.#live(run)) !== undefined;
  }

  isGroupGone(run: RunId): boolean {
    return this.#session?.isSynced === true && this.#session.get(run)?.exit !== null;
  }

  async usage(runs: readonly RunId[]): Promise<ReadonlyMap<string, Usage>> {
    const session = this.#session;
    if (session?.isSynced !== true) return new Map();
    const live = runs.flatMap((run) => {
      const known = session.get(run);
      return known?.exit === null ? [known] : [];
    });
    return session.usage.measure(live, this.#release.signal);
  }

  async mainPid(run: RunId): Promise<number | undefined> {
    const live = await this.#live(run);
    return live && (await live.session.usage.visiblePid(live.containerId));
  }

  async write(run: RunId, bytes: Buffer): Promise<void> {
    checkInput(bytes);
    const known = this.#running(run);
    try {
      await known.write(bytes);
    } catch (error) {
      // The container ended or was removed during the request.
      throw isUnknown(error) || isNotNow(error) ? notRunning(run) : error;
    }
  }

  /** Attaches a terminal without a size, because a container has no terminal of its own. */
  async attach(run: RunId): Promise<Attachment> {
    return this.#running(run).attach();
  }

  async acknowledge(run: RunId): Promise<void> {
    const known = this.#session?.get(run);
    if (known === undefined || known.exit === null) return;
    known.acknowledge();
    await this.#session?.remove(known);
  }

  async release(): Promise<void> {
    this.#release.abort(unavailable('this runtime was released'));
    await this.#session?.release();
  }

  /** Returns a live run. Throws DRV_INSTANCE_NOT_RUNNING. */
  #running(run: RunId): ContainerRun {
    const known = this.#session?.get(run);
    if (known?.exit !== null || known.isEnding) throw notRunning(run);
    return known;
  }

  /** Returns the container of a run that has not ended. Throws DRV_RUNTIME_UNAVAILABLE while that is not known. */
  async #live(run: RunId): Promise<{ session: EngineSession; containerId: string } | undefined> {
    const isSynced = this.#session?.isSynced === true;
    if (!isSynced && !this.#files.read().some((one) => keyOf(one) === keyOf(run))) return undefined;
    const session = isSynced && this.#session !== undefined ? this.#session : await this.#connected();
    const known = session.get(run);
    if (known?.exit !== null) return undefined;
    if (!known.isAcknowledged) return { session, containerId: known.containerId };
    // This run's start failed, and the engine could not remove its container then: try again.
    await session.remove(known);
    if (session.get(run) !== undefined) throw unavailable('the container engine does not answer');
    return undefined;
  }

  /**
   * The socket of the engine that has this root's containers; without any containers, the socket of any present engine.
   * Throws DRV_RUNTIME_UNAVAILABLE.
   */
  #socket(): string {
    const isUsed = this.#session !== undefined && this.#session.runs.size > 0;
    const used = isUsed ? this.#session?.engine.socketPath : this.#files.read()[0]?.socketPath;
    return used ?? findEngineSocket(this.#options.environment);
  }

  async #connected(): Promise<EngineSession> {
    this.#release.signal.throwIfAborted();
    const path = this.#socket();
    const old = this.#session;
    if (old !== undefined && old.engine.socketPath !== path) {
      this.#session = undefined;
      await old.release();
    }
    this.#session ??= new EngineSession({
      ...this.#options,
      engine: new Engine(path, this.#options.clock),
      files: this.#files,
      isStarting: (run) => this.isStarting(run),
      onExit: (run, exit) => this.tellExit(run, exit),
      onSynced: () => {
        const isOwed = this.#isOwed;
        this.#isOwed = false;
        if (isOwed) this.tellLost();
      },
    });
    const session = this.#session;
    await session.connected();
    return session;
  }
}
