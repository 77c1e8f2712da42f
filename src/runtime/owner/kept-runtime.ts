/**
 * The daemon's side of every runtime whose runs an owner holds (process, screen, tmux), so that they outlive the
 * daemon. Starts, input and exits go through the owner; the daemon itself sends signals.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isRunning, type ProcessStamp } from '../../files/processes.js';
import { messageOf } from '../../model/errors.js';
import type { RuntimeOffer } from '../../model/node.js';
import type { Attachment, TerminalSize } from '../../model/run/attachment.js';
import type { StopTo } from '../../model/stopping.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { notRunning, unavailable } from '../failures.js';
import type { RunGroups } from '../instance-processes.js';
import { InstanceProcesses } from '../instance-processes.js';
import { ProcessTable } from '../process-table.js';
import { RunEvents } from '../run-events.js';
import { formatMark, MARK_VARIABLE } from '../run-mark.js';
import type { Held, ProcessIdentity, RunId, Runtime, StartSpec } from '../runtime.js';
import type { ToolVersion } from '../session/tool-offer.js';
import { resolveSocketPath } from '../socket-path.js';
import { attachToOwner } from './owner-attachment.js';
import { OwnerConnection } from './owner-connection.js';
import type { OwnerKind } from './owner-launch.js';
import type { OwnerHeld } from './protocol.js';
import { RunBook } from './run-book.js';
import { checkSpec } from './start-spec.js';
import { checkInput, refuseUnread } from './stdin-limits.js';

export interface KeptRuntimeOptions extends Ambient {
  /** Identity of the node's root, a part of every process's mark. */
  readonly rootId: string;
  /** The directory of the owners' sockets, made with mode 0700 when missing. */
  readonly socketDirectory: string;
  /**
   * A secret part of the names of owners' locks, which other users must not guess; one per root. All owners of a kind in
   * one root use the same lock, whatever the socket's path.
   */
  readonly lockKey: string;
  /** The directory that holds a log directory for each instance id. */
  readonly logsDirectory: string;
  readonly segmentBytes: number;
  readonly segments: number;
  /** The control groups of the runs; absent: the node makes no groups. */
  readonly groups?: RunGroups;
}

/** The differences between the runtimes whose runs an owner holds. */
export interface KeptKind extends OwnerKind {
  /**
   * True: runs end with their owner, and what survives it is left to the supervisor. False: the next owner
   * takes over all runs, and nothing is lost.
   */
  readonly diesWithOwner: boolean;
  /** Asks whether the runtime's tool can be used here. Called only when the owner's program exists. */
  readonly probe: () => Promise<ToolVersion>;
  /** True when an earlier owner may have left runs that only a new owner can take over. */
  hasLeftRuns(): boolean;
}

export class KeptRuntime extends RunEvents implements Runtime {
  readonly #kind: KeptKind;
  readonly #options: KeptRuntimeOptions;
  readonly #table = new ProcessTable();
  readonly #processes: InstanceProcesses;
  readonly #book = new RunBook(this.#table.bootId);
  #connection: OwnerConnection | undefined;
  #hasConnected = false;
  #isReleased = false;

  constructor(key: string, kind: KeptKind, options: KeptRuntimeOptions) {
    super(key, options.logger);
    this.#kind = kind;
    this.#options = options;
    this.#processes = new InstanceProcesses(this.#table, options.rootId, key, options.groups);
  }

  async probe(): Promise<RuntimeOffer> {
    const { program, probe } = this.#kind;
    const missing = `its owner program ${basename(program)} is missing; build or install Drover again`;
    const { version, reason } = existsSync(program) ? await probe() : { version: null, reason: missing };
    await this.#takeUpAgain();
    return { key: this.key, available: reason === null, version, reason };
  }

  async start(spec: StartSpec): Promise<ProcessIdentity> {
    checkSpec(spec);
    return await this.starting(spec, () => this.#start(spec));
  }

  async adopt(): Promise<readonly Held[]> {
    const owner = this.#owner();
    if (!(await owner.find())) {
      if (this.#kind.diesWithOwner) await this.#loseRuns();
      else if (this.#kind.hasLeftRuns()) await owner.reach();
    }
    return this.#book.all();
  }

  async list(): Promise<readonly Held[]> {
    return this.#book.all();
  }

  async signal(run: RunId, signal: NodeJS.Signals, to?: StopTo): Promise<readonly ProcessStamp[]> {
    return await this.#processes.signal(run, this.#book.leaderOf(run), signal, to);
  }

  isProcessAlive(main: ProcessStamp): boolean {
    return isRunning(main);
  }

  async pipeReaders(run: RunId): Promise<readonly ProcessStamp[]> {
    return await this.#processes.pipeReaders(run, this.#book.leaderOf(run));
  }

  async processNames(run: RunId): Promise<readonly string[]> {
    return await this.#processes.names(run, this.#book.leaderOf(run));
  }

  async isAlive(run: RunId): Promise<boolean> {
    return await this.#processes.isAlive(run, this.#book.leaderOf(run));
  }

  isGroupGone(run: RunId): boolean {
    return this.#processes.isGroupGone(this.#book.leaderOf(run));
  }

  async write(run: RunId, bytes: Buffer): Promise<void> {
    checkInput(bytes);
    if (!this.#book.isLive(run)) throw notRunning(run);
    refuseUnread(this.#book.leaderOf(run)?.identity);
    await this.#owner().request({ type: 'write', instanceId: run.instanceId, run: run.run }, bytes);
  }

  async attach({ instanceId, run }: RunId, size: TerminalSize): Promise<Attachment> {
    if (!this.#book.isLive({ instanceId, run })) throw notRunning({ instanceId, run });
    const { title } = this.#kind;
    await this.#owner().reach();
    const { rootId, clock } = this.#options;
    const request = { type: 'attach', rootId, instanceId, run, ...size } as const;
    return await attachToOwner({ socketPath: this.#socketPath, title, request, clock });
  }

  async acknowledge(run: RunId): Promise<void> {
    this.#book.acknowledge(run);
    const owner = this.#owner();
    if (await owner.find())
      await owner.request({ type: 'acknowledge', instanceId: run.instanceId, run: run.run });
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#connection?.release();
  }

  async #start(spec: StartSpec): Promise<ProcessIdentity> {
    const { instanceId, run, command, workingDirectory, hidden = [], controlGroups } = spec;
    const { logsDirectory, segmentBytes, segments } = this.#options;
    const { process: started } = await this.#owner().request({
      type: 'start',
      instanceId,
      run,
      command,
      workingDirectory,
      environment: { ...spec.environment, [MARK_VARIABLE]: formatMark(this.#options.rootId, spec, this.key) },
      ...(hidden.length > 0 && { hidden }),
      ...(controlGroups !== undefined && { controlGroups }),
      log: { directory: join(logsDirectory, instanceId), segmentBytes, segments },
    });
    if (started === undefined) throw unavailable(`${this.#kind.title} did not say what it started`);
    return this.#book.started(spec, started);
  }

  /** Makes the connection at first use, because the constructor must not touch the disk. */
  #owner(): OwnerConnection {
    if (this.#isReleased) throw unavailable('this runtime was released');
    this.#connection ??= new OwnerConnection({
      ...this.#options,
      kind: this.#kind,
      socketPath: this.#socketPath,
      onExit: (run, exit) => this.tellExit(run, this.#book.exited(run, exit)),
      onConnected: (held) => this.#onConnected(held),
      ...(this.#kind.diesWithOwner && { onDead: () => this.#onDead() }),
    });
    return this.#connection;
  }

  get #socketPath(): string {
    return resolveSocketPath(this.#options.socketDirectory, `${this.#kind.name}.sock`);
  }

  #onConnected(held: readonly OwnerHeld[]): void {
    const { clock, logger } = this.#options;
    const acknowledged = held.filter((one) => one.exit !== null && this.#book.wasAcknowledged(one));
    const fresh = held.filter((one) => !acknowledged.includes(one));
    // A live run that the book does not know: the connection broke before its start was answered, so the caller took
    // the start as failed. The supervisor must then list the runs again.
    const isNews = this.#hasConnected && fresh.some((one) => one.exit === null && !this.#book.isLive(one));
    this.#hasConnected = true;
    for (const { run, exit } of this.#book.replace(fresh, clock.now())) this.tellExit(run, exit);
    if (isNews) setImmediate(() => this.tellLost());
    // Acknowledge in a later turn, because the connection stands only after this method returns.
    for (const run of acknowledged)
      setImmediate(() => {
        if (this.#isReleased) return;
        this.acknowledge(run).catch((error: unknown) =>
          logger.warn({ reason: messageOf(error) }, `${this.#kind.title} still keeps a recorded exit`),
        );
      });
  }

  /** Tries again to start an owner for running sessions whose owner failed to start. */
  async #takeUpAgain(): Promise<void> {
    if (this.#kind.diesWithOwner || this.#isReleased || this.#book.liveRuns().length === 0) return;
    await this.#owner()
      .reach()
      .catch((error: unknown) =>
        this.#options.logger.error({ reason: messageOf(error) }, `${this.#kind.title} cannot be reached`),
      );
  }

  async #onDead(): Promise<void> {
    this.#options.logger.error(`${this.#kind.title} died; its instances are hung up and ended`);
    await this.#loseRuns();
    this.tellLost();
  }

  /**
   * Notes the end of the runs whose owner is gone: nobody holds their terminal and log any more. The supervisor ends
   * the processes that live on, as after every end.
   */
  async #loseRuns(): Promise<void> {
    const marked = await this.#processes.marked();
    marked.sort((a, b) => a.run - b.run);
    this.#book.loseAll(marked, this.#options.clock.now());
  }
}
