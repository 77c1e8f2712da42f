/**
 * Copies a container's output from its engine into the instance's log: both streams, live, in the engine's order.
 * After a break the copy continues exactly where it stopped. The engine keeps the output, so none is lost while no
 * daemon runs. A checkpoint notes the last copied message of the engine and the place in the log after it. Later
 * output is copied byte for byte, so the size of the log tells how much of it was copied.
 */
import type { Readable } from 'node:stream';
import { isDiskClosed } from '../../files/system-error.js';
import { bytesAfter, SegmentWriter } from '../../logs/segment-writer.js';
import { Backoff } from '../../loop/backoff.js';
import { pause } from '../../loop/pause.js';
import { messageOf } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import type { LogPlace, OutputSpan } from '../../model/run/past-exit.js';
import { startFailed, unavailable } from '../failures.js';
import type { ContainerRunServices } from './container-run.js';
import type { Engine } from './engine/engine.js';
import { CursorAlignment, CursorTracker, type EngineCursor, LogFrames } from './engine/engine-cursor.js';
import { isUnknown } from './engine/engine-error.js';
import { ENGINE_RETRY } from './engine/engine-watch.js';
import type { RunState } from './run-files.js';

/** The most output that a new daemon reads again after a kill. */
const CHECKPOINT_EVERY_BYTES = 256 * 1024;
const GAP_NOTE = Buffer.from('[drover] output is lost here: the container engine kept no more of it\n');

export type LogCheckpoint = NonNullable<RunState['checkpoint']>;

interface ContainerLogOptions extends Pick<ContainerRunServices, 'limits' | 'clock' | 'random' | 'logger'> {
  readonly engine: Pick<Engine, 'logs' | 'logsSoFar' | 'inspect' | 'version'>;
  readonly containerId: string;
  /** The instance's log directory. */
  readonly directory: string;
  /** The values that are covered in the log. */
  readonly hidden?: () => readonly string[];
  readonly onCheckpoint: (checkpoint: LogCheckpoint) => void;
  /** Called with all new output, in the turn in which it was written. */
  readonly onOutput: (bytes: Buffer) => void;
}

export class ContainerLog {
  readonly #options: ContainerLogOptions;
  readonly #writer: SegmentWriter;
  readonly #backoff: Backoff;
  #from: LogPlace | null = null;
  #cursor: EngineCursor | undefined;
  /** How many bytes after the cursor the log already holds. They are not written again. */
  #skip = 0;
  #sinceCheckpoint = 0;
  #receivedBytes = 0;

  constructor(options: ContainerLogOptions) {
    this.#options = options;
    this.#writer = new SegmentWriter(options.directory, options.limits);
    this.#backoff = new Backoff(options.random, ENGINE_RETRY);
  }

  /** How many bytes the engine has sent, including repeated ones. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /**
   * Opens the log of a new run, before the run starts. Returns where the run's output begins. Throws
   * DRV_RUNTIME_START_FAILED.
   */
  begin(): LogPlace | null {
    this.#open();
    // The former run may have ended in the middle of a line: without a line end, its text would run into this run's
    // first line.
    this.#writer.endLine();
    this.#from = this.#writer.position ?? null;
    this.#checkpoint();
    return this.#from;
  }

  /** Opens the log of a run that an earlier daemon began, instead of `begin`. */
  resume({ from, checkpoint }: Pick<RunState, 'from' | 'checkpoint'>): void {
    this.#open();
    this.#from = from ?? this.#writer.position ?? null;
    if (checkpoint === null) return;
    this.#cursor = checkpoint.cursor ?? undefined;
    this.#skip = Math.max(0, bytesAfter(this.#options.directory, checkpoint.place) ?? 0);
  }

  /** Copies until the container has ended and all of its output is in the log, or until `signal` aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { engine, containerId, clock, logger } = this.#options;
    let hasEnded = false;
    while (!signal.aborted) {
      try {
        const stream = await engine.logs(containerId, this.#cursor?.since, signal);
        await ((await engine.version()).isPodman ? this.#copyAt(stream, signal) : this.#copy(stream));
        if (hasEnded) return;
        hasEnded = !(await engine.inspect(containerId)).isRunning;
        // Read once more: when a container ends, engines leave the last output out of a stream that follows.
        if (hasEnded) continue;
      } catch (error) {
        if (signal.aborted || isUnknown(error)) return;
        logger.debug(
          { reason: messageOf(error), container: containerId },
          'the log of a container broke off',
        );
      }
      await pause(clock, this.#backoff.next(), signal);
    }
  }

  /**
   * Podman (4.3) leaves lines out of a log that it follows. So the stream only signals new output, and the output is
   * read without following.
   */
  async #copyAt(stream: Readable, signal: AbortSignal): Promise<void> {
    const { engine, containerId } = this.#options;
    const copy = async (): Promise<void> =>
      this.#copy(await engine.logsSoFar(containerId, this.#cursor?.since, signal));
    for await (const _chunk of stream) await copy();
    await copy();
  }

  /** Ends the last line of an ended run and closes the log. Returns the place of the run's output. */
  end(): OutputSpan | undefined {
    const to = this.#writer.position;
    // End the line: followers get whole lines only, and the last output often has no newline.
    this.#writer.endLine();
    this.#writer.close();
    return this.#from === null || to === undefined ? undefined : { from: this.#from, to };
  }

  /** Closes the log of a run that continues without this daemon. */
  release(): void {
    this.#checkpoint();
    this.#writer.close();
  }

  #open(): void {
    this.#writer.hide(this.#options.hidden?.() ?? []);
    try {
      this.#writer.open();
    } catch (error) {
      // Run even with a full or read-only disk: the writer drops lines, counts them, and writes again when there is room.
      if (!isDiskClosed(error)) throw startFailed(`cannot open its log: ${publicMessage(error)}`, error);
    }
  }

  async #copy(stream: Readable): Promise<void> {
    const frames = new LogFrames();
    const tracker = new CursorTracker();
    const alignment = new CursorAlignment(this.#cursor);
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) throw unavailable('the container engine sent a log that is no bytes');
      this.#receivedBytes += chunk.length;
      const wasPast = alignment.isPast;
      const fresh: Buffer[] = [];
      for (const message of frames.push(chunk)) {
        tracker.note(message);
        if (!alignment.isOld(message)) fresh.push(this.#withoutSkipped(message.payload, alignment.isGap));
      }
      if (alignment.isPast) this.#cursor = tracker.cursor();
      const isNewGap = alignment.isGap && !wasPast;
      this.#write(Buffer.concat(isNewGap ? [GAP_NOTE, ...fresh] : fresh));
      if (isNewGap) this.#checkpoint();
      this.#backoff.clear();
    }
  }

  #withoutSkipped(payload: Buffer, isGap: boolean): Buffer {
    // After a gap the bytes to skip are unknown, so skip none: a repeated line is better than a lost line.
    if (isGap) this.#skip = 0;
    const skipped = Math.min(this.#skip, payload.length);
    this.#skip -= skipped;
    return payload.subarray(skipped);
  }

  #write(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const before = this.#writer.position;
    this.#writer.write(bytes);
    this.#options.onOutput(bytes);
    const after = this.#writer.position;
    this.#sinceCheckpoint += bytes.length;
    // False when a new segment began or a full disk lost bytes: the log's size then no longer tells the place, so a
    // checkpoint is due.
    const isPlain =
      before?.segment === after?.segment && before?.offset === (after?.offset ?? 0) - bytes.length;
    if (!isPlain || this.#sinceCheckpoint >= CHECKPOINT_EVERY_BYTES) this.#checkpoint();
  }

  #checkpoint(): void {
    const place = this.#writer.position;
    // Write no checkpoint while bytes are skipped: the cursor does not match the place yet.
    if (place === undefined || this.#skip > 0) return;
    this.#sinceCheckpoint = 0;
    this.#options.onCheckpoint({ place, cursor: this.#cursor ?? null });
  }
}
