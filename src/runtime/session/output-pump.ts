/**
 * Moves a run's output from the spool into its log, each byte exactly once, even when the owner is killed in between.
 * `place.json` notes matching places in spool and log; the length of the log tells how much was moved since.
 * `place.json` is written again when the spool or the log continues in a new file, and when the log lost or added
 * something.
 */
import { bytesAfter, type SegmentWriter } from '../../logs/segment-writer.js';
import type { ValueMask } from '../../logs/value-mask.js';
import type { OutputSpan } from '../../model/run/past-exit.js';
import type { OutputPlace, RunDirectory } from './run-directory.js';
import type { SessionTool, SpoolEnd } from './session-tool.js';
import { Spool } from './spool.js';

export interface OutputPumpOptions {
  readonly directory: RunDirectory;
  /** The open log; the pump closes it. */
  readonly log: SegmentWriter;
  readonly logDirectory: string;
  /** The places in spool and log at which to begin. */
  readonly place: OutputPlace;
  /** Covers the values of secrets, in the spool too. */
  readonly mask?: ValueMask;
  /** Scratch memory for reads, shared by all pumps. */
  readonly buffer: Buffer;
}

/** Tells how many of the bytes at the spool's place are output. `isLast`: the spool holds no bytes after them yet. */
type FindEnd = (bytes: Buffer, isLast: boolean) => SpoolEnd;

const REMOVED =
  '[drover] the directory of this run was removed: what was written since the last line here may be lost\n';
/** The most bytes moved in one turn, because the owner has other sessions too. */
const TURN_BYTES = 1024 * 1024;

export class OutputPump {
  readonly #options: OutputPumpOptions;
  readonly #spool: Spool;
  #place: OutputPlace;

  private constructor(options: OutputPumpOptions) {
    this.#options = options;
    this.#spool = new Spool(options.directory.directory, options.place.spool);
    this.#place = options.place;
  }

  /** The pump of a run that just began. */
  static begin(options: OutputPumpOptions): OutputPump {
    const pump = new OutputPump(options);
    pump.#save();
    return pump;
  }

  /** The pump of a run whose earlier owner was killed. `log` was just opened. */
  static resume(options: OutputPumpOptions): OutputPump {
    const pump = new OutputPump(options);
    const { log } = options.place;
    if (log === null || options.log.position === undefined) return pump;
    pump.#skip(bytesAfter(options.logDirectory, log) ?? 0);
    pump.#save();
    return pump;
  }

  get spoolFile(): number {
    return this.#spool.place.file;
  }

  /** The size of the spool's current file. */
  get spoolBytes(): number {
    return this.#spool.fileBytes;
  }

  get isBehind(): boolean {
    return this.#spool.isBehind;
  }

  /**
   * Moves the present output, up to a megabyte. `isDone`: no more output now. `exit`: the end was found, and nothing
   * follows.
   */
  run(findEnd: FindEnd): Pick<SpoolEnd, 'exit'> & { readonly isDone: boolean } {
    for (let moved = 0; moved < TURN_BYTES; ) {
      const bytes = this.#spool.read(this.#options.buffer);
      if (bytes.length === 0) {
        if (!this.#goOn()) return { exit: undefined, isDone: true };
        continue;
      }
      const { outputBytes, exit } = findEnd(bytes, bytes.length < this.#options.buffer.length);
      const output = bytes.subarray(0, outputBytes);
      const ready = exit === undefined ? certainBytes(output) : outputBytes;
      this.#move(output.subarray(0, ready));
      moved += ready;
      if (exit !== undefined || (ready === 0 && !this.#beginAgain())) return { exit, isDone: true };
    }
    return { exit: undefined, isDone: false };
  }

  /** Goes on with the first spool file of a directory that was made anew, and says so in the log. */
  restart(): void {
    this.#options.log.endLine();
    this.#options.log.write(Buffer.from(REMOVED));
    this.#spool.restart();
    this.#save();
  }

  /** The run's output so far; undefined while the log could not be opened. */
  get output(): OutputSpan | undefined {
    const to = this.#options.log.position;
    return this.#place.from === null || to === undefined ? undefined : { from: this.#place.from, to };
  }

  /** Ends the last line of the log, and closes the log and the spool. Idempotent. */
  close(): void {
    this.#options.log.endLine();
    this.#options.log.close();
    this.#spool.close();
  }

  /**
   * Moves the spool's place over bytes that are in the log already. `count`: how many bytes of the log were made from
   * them.
   */
  #skip(count: number): void {
    for (let left = count; left > 0; ) {
      const { spent, kept } = spentFor(this.#spool.read(this.#options.buffer), left);
      if (kept === 0) return;
      this.#spool.take(spent);
      left -= kept;
    }
  }

  #move(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const { log, mask } = this.#options;
    if (mask?.cover(bytes) === true) this.#spool.overwrite(bytes);
    const before = log.position?.segment;
    const { file } = this.#spool.place;
    const isExact = log.write(withoutReturns(bytes));
    this.#spool.take(bytes.length);
    const isSame = this.#spool.place.file === file && log.position?.segment === before;
    if (isExact && before !== undefined && isSame) return;
    if (this.#save()) this.#spool.clear();
  }

  /** Goes on with the next spool file. False: there is none. */
  #goOn(): boolean {
    if (!this.#spool.hasNext) return this.#beginAgain();
    // The tool may have written to this file after the read that found nothing, and before it began the next file.
    if (this.#spool.fileBytes > this.#spool.place.offset) return true;
    this.#spool.moveOn();
    if (this.#save()) this.#spool.clear();
    return true;
  }

  #beginAgain(): boolean {
    const isNew = this.#spool.beginAgain();
    if (isNew) this.#save();
    return isNew;
  }

  #save(): boolean {
    const { directory, log } = this.#options;
    const { segment, offset } = log.position ?? {};
    const position = segment === undefined || offset === undefined ? null : { segment, offset };
    this.#place = { spool: this.#spool.place, log: position, from: this.#place.from ?? position };
    return directory.savePlace(this.#place);
  }
}

const LARGE_BYTES = 1024 * 1024;
/** After this many looks without the requested file, the file is requested again. */
const PATIENT_LOOKS = 2;

/** Asks a tool for the next spool file when the current one is large, so that the spool stays small. */
export class SpoolRotation {
  readonly #tool: SessionTool;
  readonly #directory: RunDirectory;
  #asked: { readonly after: number; looks: number } | undefined;

  constructor(tool: SessionTool, directory: RunDirectory) {
    this.#tool = tool;
    this.#directory = directory;
  }

  /** Called when some output was moved. */
  check({ spoolFile, spoolBytes }: Pick<OutputPump, 'spoolFile' | 'spoolBytes'>): void {
    if (spoolBytes < LARGE_BYTES || this.#asked?.after === spoolFile) return;
    this.#asked = { after: spoolFile, looks: 0 };
    this.#tool
      .rotate?.(this.#directory, spoolFile + 1)
      .catch((error: unknown) => process.stderr.write(`${this.#directory.name}: no rotation: ${error}\n`));
  }

  /** Called every 2 s. */
  look(): void {
    if (this.#asked !== undefined && ++this.#asked.looks > PATIENT_LOOKS) this.#asked = undefined;
  }
}

/*
 * A session's terminal adds carriage returns before newlines for operators who attach. The log holds the program's own
 * output. When a program sets up its terminal otherwise, a return of its own before a newline is removed too.
 */

const RETURN = 0x0d;
const LINE_END = '\r\n';

/** How many of `bytes` can be moved now. A carriage return at their end must wait, because a newline may follow. */
function certainBytes(bytes: Buffer): number {
  return bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length;
}

/** `bytes` without the carriage return before each newline. Overwrites `bytes` to save memory. */
export function withoutReturns(bytes: Buffer): Buffer {
  let kept = 0;
  let from = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, from)) {
    bytes.copyWithin(kept, from, at);
    kept += at - from;
    from = at + 1;
  }
  bytes.copyWithin(kept, from);
  return bytes.subarray(0, kept + bytes.length - from);
}

/**
 * How many of `bytes` (`spent`) become the first `count` bytes of the log, after `withoutReturns`. `kept`: how many
 * bytes of the log they become, which is less than `count` when `bytes` ends too early.
 */
function spentFor(bytes: Buffer, count: number): { readonly spent: number; readonly kept: number } {
  let kept = 0;
  let from = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, from)) {
    if (kept + at - from >= count) break;
    kept += at - from;
    from = at + 1;
  }
  const more = Math.min(count - kept, certainBytes(bytes) - from);
  return { spent: from + more, kept: kept + more };
}
