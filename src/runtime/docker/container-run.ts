/** One run in a container: its log, its standard input, and, once it has ended, its exit until that is acknowledged. */

import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { SegmentLimits } from '../../logs/segments.js';
import { withDeadline } from '../../loop/deadline.js';
import { DroverError, messageOf, stdinFull } from '../../model/errors.js';
import type { Attachment } from '../../model/run/attachment.js';
import type { Exit } from '../../model/run/past-exit.js';
import type { ContainerIdentity } from '../../model/run/run-identity.js';
import { endText } from '../../model/words.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { unavailable } from '../failures.js';
import { recentBytes } from '../recent-bytes.js';
import type { Held, RunId } from '../runtime.js';
import { ContainerLog } from './container-log.js';
import { ContainerTerminal } from './container-terminal.js';
import { REMOVED_CAUSE } from './engine/container-exit.js';
import type { Engine } from './engine/engine.js';
import type { RunFiles, RunState } from './run-files.js';

/** The longest wait for the last output of an ended run while the engine sends none. */
const LAST_OUTPUT_LIMIT_MS = 30_000;
/** The end of the log, which an attached terminal shows first. */
const FIRST_SCREEN_BYTES = 16 * 1024;
const MOST_TERMINALS = 32;
/**
 * The most bytes that wait beyond the buffers of kernel and engine: a program that does not read must not fill the
 * daemon's memory.
 */
const MOST_WAITING_BYTES = 64 * 1024;

export interface ContainerRunServices extends Ambient {
  readonly engine: Engine;
  readonly files: RunFiles;
  /** The directory that holds a log directory for each instance id. */
  readonly logsDirectory: string;
  readonly limits: SegmentLimits;
  readonly random: () => number;
  /** The values that are covered in the log of an instance. Absent: none. */
  readonly hiddenValues?: (instanceId: string) => readonly string[];
}

export class ContainerRun {
  readonly #services: ContainerRunServices;
  readonly #log: ContainerLog;
  readonly #stop = new AbortController();
  readonly #terminals = new Set<ContainerTerminal>();
  #state: RunState;
  /** The connection to standard input, opened at the first write and kept while it lasts. */
  #stdin: Promise<Duplex> | undefined;
  #following: Promise<void> | undefined;
  #ending: Promise<Exit> | undefined;
  #isRemoved = false;

  constructor(state: RunState, services: ContainerRunServices) {
    this.#services = services;
    this.#state = state;
    this.#log = new ContainerLog({
      ...services,
      containerId: state.containerId,
      directory: join(services.logsDirectory, state.instanceId),
      hidden: () => services.hiddenValues?.(state.instanceId) ?? [],
      onCheckpoint: (checkpoint) => this.#keep({ checkpoint }),
      onOutput: (bytes) => {
        for (const terminal of this.#terminals) terminal.show(bytes);
      },
    });
  }

  get id(): RunId {
    return { instanceId: this.#state.instanceId, run: this.#state.run };
  }

  get containerId(): string {
    return this.#state.containerId;
  }

  /** The exit; null until the run has ended and its output is in the log. */
  get exit(): Exit | null {
    return this.#state.exit;
  }

  get isAcknowledged(): boolean {
    return this.#state.isAcknowledged;
  }

  /** True when the container has ended. Its last output may still be missing in the log. */
  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  get identity(): ContainerIdentity {
    return { containerId: this.containerId };
  }

  get held(): Held {
    const { id, identity, exit } = this;
    return exit === null
      ? { ...id, process: identity, exit, outputFrom: this.#state.from ?? undefined }
      : { ...id, process: identity, exit };
  }

  /** Prepares a new run before its container starts. Throws DRV_RUNTIME_START_FAILED. */
  begin(): void {
    this.#keep({ from: this.#log.begin() });
  }

  /** Begins to copy output, after the start of the container. */
  follow(): void {
    this.#following ??= this.#log.follow(this.#stop.signal);
  }

  /** Continues a run of an earlier daemon. Does nothing for a run that has ended. */
  resume(): void {
    if (this.exit !== null || this.isAcknowledged) return;
    this.#log.resume(this.#state);
    this.follow();
  }

  /** Notes that another program is removing the container. */
  noteRemoved(): void {
    this.#isRemoved = true;
  }

  /** Resolves with the exit when all of the ended run's output is in the log. Repeated calls share the result. */
  end(how: Exit): Promise<Exit> {
    this.#ending ??= this.#end(how);
    return this.#ending;
  }

  /**
   * Writes to standard input, in the order of the calls. Resolves when the bytes are on their way. Throws
   * DRV_STDIN_FULL, or the error of attaching.
   */
  async write(bytes: Buffer): Promise<void> {
    this.#stdin ??= this.#openStdin();
    const stdin = await this.#stdin;
    if (stdin.destroyed || !stdin.writable)
      throw unavailable('the container engine closed the way to standard input; try again');
    if (stdin.writableLength > MOST_WAITING_BYTES)
      throw stdinFull('the process does not read its standard input, and no more of it is kept');
    stdin.write(bytes);
  }

  /**
   * Attaches a terminal to the output on its way into the log. Nothing is asked of the engine, so a slow reader delays
   * no one. Throws DRV_INSTANCE_NOT_ATTACHABLE.
   */
  attach(): Attachment {
    if (this.#terminals.size >= MOST_TERMINALS)
      throw new DroverError(
        'DRV_INSTANCE_NOT_ATTACHABLE',
        `${MOST_TERMINALS} terminals are attached to instance ${this.id.instanceId}: leave one first`,
      );
    const directory = join(this.#services.logsDirectory, this.id.instanceId);
    const terminal: ContainerTerminal = new ContainerTerminal(
      recentBytes(directory, FIRST_SCREEN_BYTES),
      (bytes) => this.write(bytes),
      () => this.#terminals.delete(terminal),
    );
    this.#terminals.add(terminal);
    return terminal;
  }

  /** Notes that the exit is recorded; after that only the container must be removed. */
  acknowledge(): void {
    this.#keep({ isAcknowledged: true });
  }

  /** Releases all resources and leaves the container running. Idempotent. */
  async release(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    for (const terminal of this.#terminals) terminal.close();
    this.#stop.abort();
    await this.#following;
    await this.#ending?.catch(() => undefined);
    this.#log.release();
  }

  async #end(how: Exit): Promise<Exit> {
    if (this.exit !== null) return this.exit;
    // Copy the output even when the container ended before the engine answered the start.
    this.follow();
    await this.#untilFollowed();
    // Do not record the exit after a release: the next daemon finds the ended container and copies the missing output.
    if (this.#stop.signal.aborted) return how;
    const output = this.#log.end();
    const exit: Exit = {
      ...how,
      ...(output !== undefined && { output }),
      ...(this.#isRemoved && { cause: REMOVED_CAUSE }),
    };
    this.#keep({ exit });
    const word = `instance ${this.id.instanceId} ${endText(exit)}`;
    for (const terminal of this.#terminals) terminal.end('exited', word);
    this.#stop.abort();
    return exit;
  }

  async #untilFollowed(): Promise<void> {
    const { clock, logger } = this.#services;
    const expired = (): Error => new Error('the engine did not give the last output');
    const deadline = { limitMs: LAST_OUTPUT_LIMIT_MS, clock, signal: this.#stop.signal, expired };
    for (;;) {
      const before = this.#log.receivedBytes;
      try {
        await withDeadline(deadline, () => this.#following);
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        // Wait longer while output arrives: a busy machine takes long for much output.
        if (this.#log.receivedBytes > before) continue;
        logger.warn(
          { ...this.id, reason: messageOf(error) },
          `output of ${this.id.instanceId} may be missing`,
        );
        return;
      }
    }
  }

  async #openStdin(): Promise<Duplex> {
    const forget = (): void => {
      this.#stdin = undefined;
    };
    try {
      const connection = await this.#services.engine.attach(this.containerId, this.#stop.signal);
      connection.on('error', forget).on('close', forget);
      // Discard what the engine sends here: the output is in the log already.
      connection.resume();
      return connection;
    } catch (error) {
      forget();
      throw error;
    }
  }

  #keep(fields: Partial<RunState>): void {
    this.#state = { ...this.#state, ...fields };
    this.#services.files.write(this.#state);
  }
}
