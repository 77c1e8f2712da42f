/**
 * One session inside its owner. It has begun when its shell says so, its output goes into the log as it comes, and its
 * exit is kept on disk until a daemon acknowledges it. Everything that a new owner needs stands in the run's directory.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { isDiskClosed } from '../../files/system-error.js';
import type { SegmentWriter } from '../../logs/segment-writer.js';
import { ValueMask } from '../../logs/value-mask.js';
import { attempt } from '../../model/plain/attempt.js';
import type { HeldRun, View, Viewer } from '../owner/held-run.js';
import type { OwnerExit, OwnerHeld, StartRequest } from '../owner/protocol.js';
import { checkDirectory, openLog, openLogAgain, toOwnerExit } from '../owner/run-start.js';
import { InputQueue } from './input/input-queue.js';
import { LiteralInput } from './input/literal-input.js';
import { SessionTerminal } from './input/session-terminal.js';
import { OutputPump, SpoolRotation } from './output-pump.js';
import type { OutputPlace, RunDirectory, RunRecord } from './run-directory.js';
import { RunDirectoryWatch } from './run-directory-watch.js';
import { endMark, findEnd, hiddenIn, sessionCall } from './session-prelude.js';
import { SessionProcesses } from './session-processes.js';
import { untilBegun, untilWindowKept } from './session-start.js';
import type { SessionExit, SpoolEnd } from './session-tool.js';
import type { SessionsOptions } from './sessions.js';
import { SessionViews } from './view/session-views.js';

/** How long a session may take to begin: usually milliseconds, more on a very busy machine. */
const START_PATIENCE_MS = 30_000;
const TAKE_UP_PATIENCE_MS = 5000;
const FORGET_RETRY_MS = 2000;
/** How many bytes a tool's closing words may take. No tool writes as many. */
const LONGEST_WORDS_BYTES = 512;
/** After this many looks (every 2 s) at a dead program whose shell reports no end, the session counts as killed. */
const PATIENT_LOOKS = 2;

export interface SessionServices extends Omit<SessionsOptions, 'directory'> {
  /** Scratch memory for reads, shared by all sessions. */
  readonly buffer: Buffer;
  readonly onExit: (session: HeldSession) => void;
  /** The values that are covered in the log of this session; null: they are lost. Absent: none. */
  readonly hidden?: readonly string[] | null | undefined;
}

export class HeldSession implements HeldRun {
  readonly instanceId: string;
  readonly run: number;
  readonly #directory: RunDirectory;
  readonly #record: RunRecord;
  readonly #mask: ValueMask;
  readonly #services: SessionServices;
  readonly #input: LiteralInput;
  readonly #inputQueue: InputQueue;
  readonly #views: SessionViews;
  #watch: RunDirectoryWatch;
  readonly #endMark: Buffer;
  readonly #rotation: SpoolRotation;
  #processes: SessionProcesses;
  #pump: OutputPump | undefined;
  #exit: OwnerExit | null = null;
  #isEnding = false;
  #isPumpDue = false;
  /**
   * True while `#goOn` runs. An end that it finds came while no owner was there, so the end gets the time of the last
   * output.
   */
  #isPast = false;
  #suspiciousLooks = 0;
  #restoring: Promise<void> | undefined;
  #removal: Promise<void> | undefined;

  /** Starts the session. Resolves when its command is about to run. Throws an Error for the operator. */
  static async start(
    request: StartRequest,
    directory: RunDirectory,
    services: SessionServices,
  ): Promise<HeldSession> {
    checkDirectory(request.workingDirectory);
    return untilWindowKept(() => HeldSession.#tryStart(request, directory, services));
  }

  static async #tryStart(
    request: StartRequest,
    directory: RunDirectory,
    services: SessionServices,
  ): Promise<HeldSession> {
    const { tool } = services;
    const nonce = randomBytes(8).toString('hex');
    const record = { bootId: services.bootId, nonce, log: request.log, hides: request.hidden !== undefined };
    await directory.create(record);
    const session = new HeldSession(directory, record, { ...services, hidden: request.hidden });
    try {
      const { controlGroups = [], workingDirectory } = request;
      const place = { name: directory.name, directory: directory.directory };
      const { variables, beforeEnd } = tool;
      const call = sessionCall({ ...request, ...place, controlGroups, nonce, variables, beforeEnd });
      await tool.start({ ...place, ...call, workingDirectory });
      await session.#untilBegun(START_PATIENCE_MS);
    } catch (error) {
      await session.#discard();
      throw error;
    }
    return session;
  }

  /**
   * Takes over a session of an earlier owner. Undefined: the session never began, and nothing is left of it, or it is a copy of another root's. Throws the
   * disk's error, and then changes nothing.
   */
  static async takeUp(directory: RunDirectory, services: SessionServices): Promise<HeldSession | undefined> {
    const { record, place, exit } = directory;
    if (record === undefined || directory.isCopied) {
      await directory.remove();
      return undefined;
    }
    const hidden = record.hides === true ? hiddenOf(directory) : [];
    const session = new HeldSession(directory, record, { ...services, hidden });
    if (exit !== undefined) session.#takeUpEnded(exit);
    else if (place !== undefined) session.#goOn(place);
    else if (!(await session.#hasBegunAfterAll())) {
      await session.#discard();
      return undefined;
    }
    return session;
  }

  private constructor(directory: RunDirectory, record: RunRecord, services: SessionServices) {
    this.instanceId = directory.instanceId;
    this.run = directory.run;
    this.#directory = directory;
    this.#record = record;
    this.#mask = new ValueMask(services.hidden === undefined ? [] : services.hidden);
    this.#services = services;
    this.#input = new LiteralInput({
      tool: services.tool,
      run: directory,
      terminal: () => (this.#isOfEarlierBoot ? undefined : SessionTerminal.of(directory, services.path)),
    });
    this.#inputQueue = new InputQueue((bytes, isTyped) =>
      isTyped ? this.#input.type(bytes) : this.#input.send(bytes),
    );
    this.#views = new SessionViews({
      tool: services.tool,
      run: directory,
      terminal: () => SessionTerminal.of(directory, services.path),
      type: (bytes) => this.#inputQueue.push(bytes, true),
    });
    this.#rotation = new SpoolRotation(services.tool, directory);
    this.#processes = this.#readProcesses();
    this.#endMark = Buffer.from(endMark(record.nonce));
    this.#watch = this.#newWatch();
  }

  get name(): string {
    return this.#directory.name;
  }

  get exit(): OwnerExit | null {
    return this.#exit;
  }

  get held(): OwnerHeld {
    const { instanceId, run, exit } = this;
    return { instanceId, run, ...this.#processes.identity, exit, outputFrom: this.#pump?.output?.from };
  }

  write(bytes: Buffer): Promise<boolean> {
    return this.#inputQueue.push(bytes);
  }

  attach(viewer: Viewer): Promise<View> {
    return this.#views.open(viewer);
  }

  /** Does nothing: an ended run closes itself. */
  close(): void {}

  async forget(): Promise<void> {
    await this.#restoring;
    await this.#removal;
    let isGone = false;
    while (!isGone)
      isGone = await this.#directory.remove().then(
        () => true,
        async (error: unknown) => {
          if (!isDiskClosed(error)) throw error;
          return await setTimeout(FORGET_RETRY_MS, false);
        },
      );
  }

  /**
   * Called every 2 s, and when the tool says that the session's server is gone. Finds ends that nobody reports, and
   * changes that the watch missed.
   */
  look(): void {
    if (this.#pump === undefined || this.#isEnding) return;
    if (this.#directory.isRemoved) this.#restore();
    if (this.#pump.isBehind) this.#wake();
    this.#rotation.look();
    this.#input.look();
    const { tool } = this.#services;
    if (!tool.isServed(this.#directory)) {
      this.#drain();
      this.#finish(HUNG_UP);
    } else if (this.#processes.isProgramAlive) this.#suspiciousLooks = 0;
    else if (++this.#suspiciousLooks >= PATIENT_LOOKS && this.#isEndKnown) {
      this.#drain();
      this.#finish(KILLED);
    }
  }

  /** Makes the run's directory anew. A later look tries again when that fails. */
  #restore(): void {
    const again = async (pump: OutputPump): Promise<void> => {
      await this.#directory.restore(this.#record);
      await this.#services.tool.reopen(this.#directory);
      this.#watch.close();
      this.#watch = this.#newWatch();
      pump.restart();
    };
    // Move what the tool wrote into the removed file.
    this.#drain();
    if (this.#pump === undefined || this.#isEnding) return;
    this.#restoring ??= again(this.#pump)
      .catch((error: unknown) => {
        process.stderr.write(`${this.#directory.name} cannot be made anew: ${error}\n`);
        return this.#directory.remove();
      })
      .catch(() => undefined)
      .finally(() => {
        this.#restoring = undefined;
        this.#wake();
      });
  }

  #newWatch(): RunDirectoryWatch {
    return new RunDirectoryWatch(this.#directory.directory, () => this.#wake());
  }

  /** Gives the terminal back to people when an earlier owner was killed while it wrote input. */
  takeUpTerminal(): Promise<void> {
    return this.#input.takeUp();
  }

  async #untilBegun(patienceMs: number): Promise<void> {
    const { tool, buffer } = this.#services;
    const offset = await untilBegun({ tool, run: this.#directory, watch: this.#watch, buffer, patienceMs });
    this.#processes = this.#readProcesses();
    const place = { spool: { file: 0, offset }, log: null, from: null };
    this.#pump = OutputPump.begin(this.#pumpOptions(openLog(this.#record.log), place));
    this.#wake();
  }

  #takeUpEnded(exit: OwnerExit): void {
    this.#exit = exit;
    this.#watch.close();
    this.#removal = this.#removeSession();
  }

  /** Resumes a session that had begun. Finds an end that came when no owner was there, before the first daemon asks. */
  #goOn(place: OutputPlace): void {
    this.#pump = OutputPump.resume(this.#pumpOptions(openLogAgain(this.#record.log), place));
    const isLost = this.#isOfEarlierBoot || !this.#services.tool.isServed(this.#directory);
    this.#isPast = true;
    if (isLost || !this.#processes.isShellAlive) this.#drain();
    else this.#wake();
    if (isLost) this.#finish(this.#isOfEarlierBoot ? UNKNOWN_END : HUNG_UP);
    this.#isPast = false;
  }

  /**
   * Waits for the beginning of a session whose earlier owner was killed while it waited. False: the session did not
   * begin.
   */
  async #hasBegunAfterAll(): Promise<boolean> {
    if (this.#isOfEarlierBoot || !this.#services.tool.isServed(this.#directory)) return false;
    try {
      await this.#untilBegun(TAKE_UP_PATIENCE_MS);
      return true;
    } catch (error) {
      process.stderr.write(`${this.#directory.name}: ${error}\n`);
      return false;
    }
  }

  #pumpOptions(log: SegmentWriter, place: OutputPlace) {
    const logDirectory = this.#record.log.directory;
    const { buffer } = this.#services;
    return { directory: this.#directory, log, logDirectory, place, mask: this.#mask, buffer };
  }

  #wake(): void {
    if (this.#isPumpDue || this.#pump === undefined || this.#isEnding) return;
    this.#isPumpDue = true;
    setImmediate(() => {
      this.#isPumpDue = false;
      if (!this.#pumpOnce()) this.#wake();
    });
  }

  #drain(): void {
    while (!this.#pumpOnce());
  }

  /** Moves some output. True: no more output now, or the session has ended. */
  #pumpOnce(): boolean {
    if (this.#pump === undefined || this.#isEnding || this.#restoring !== undefined) return true;
    const { tool } = this.#services;
    const died = this.#processes.isShellAlive ? undefined : tool.readDied?.(this.#directory);
    const { exit, isDone } = this.#pump.run((bytes, isLast) => this.#findEnd(bytes, isLast));
    if (exit !== undefined) this.#finish(exit);
    else if (isDone && died !== undefined) this.#finish(died.signal === null ? KILLED : died);
    else this.#rotation.check(this.#pump);
    return isDone;
  }

  #findEnd(bytes: Buffer, isLast: boolean): SpoolEnd {
    const end = findEnd(bytes, this.#endMark);
    // While the session's shell lives, no byte can be from the tool's own closing words. The shell survives every
    // signal but SIGKILL, and then reports the end itself. So the tool's exit status counts only when it is a signal.
    if (end.exit !== undefined || this.#processes.isShellAlive) return end;
    if (!isLast) return { outputBytes: bytes.length - LONGEST_WORDS_BYTES, exit: undefined };
    const { outputBytes, exit } = this.#services.tool.readEnd?.(bytes) ?? {
      outputBytes: bytes.length,
      exit: undefined,
    };
    return { outputBytes, exit: exit === undefined || exit.signal !== null ? exit : KILLED };
  }

  /** Ends the session. `otherwise`: the exit to use when the session's shell reported none. */
  #finish(otherwise: SessionExit): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#watch.close();
    const { code, signal } = this.#directory.status ?? otherwise;
    const at = this.#isPast ? this.#directory.lastOutputAt : undefined;
    const exit = { ...toOwnerExit(code, signal ?? 0, at), output: this.#pump?.output };
    if (this.#isOfEarlierBoot) exit.ticks = 0;
    if (this.#isPast) this.#settle(exit);
    else void this.#processes.untilReaped().then(() => this.#settle(exit));
  }

  #settle(exit: OwnerExit): void {
    try {
      this.#directory.saveExit(exit);
    } catch (error) {
      process.stderr.write(`${this.#directory.name}: its exit is not on disk: ${error}\n`);
    }
    this.#pump?.close();
    this.#exit = exit;
    this.#removal = this.#removeSession();
    this.#services.onExit(this);
  }

  async #removeSession(): Promise<void> {
    try {
      await this.#services.tool.remove(this.#directory);
    } catch (error) {
      process.stderr.write(`${this.#directory.name} cannot be removed: ${error}\n`);
    }
  }

  async #discard(): Promise<void> {
    this.#isEnding = true;
    this.#watch.close();
    this.#pump?.close();
    await this.#removeSession();
    await this.#directory.remove();
  }

  get #isOfEarlierBoot(): boolean {
    return this.#record.bootId !== this.#services.bootId;
  }

  /** True when the end is certain: the shell has ended too, or has already reported the end. */
  get #isEndKnown(): boolean {
    return !this.#processes.isShellAlive || this.#directory.status !== undefined;
  }

  #readProcesses(): SessionProcesses {
    return new SessionProcesses(this.#directory.processes, !this.#isOfEarlierBoot);
  }
}

/** The values that an earlier owner covered: the session's shell has them while it lives. Null: they are lost. */
function hiddenOf({ processes }: RunDirectory): readonly string[] | null {
  const { pid } = processes?.shell ?? {};
  return hiddenIn(attempt(() => readFileSync(`/proc/${pid}/environ`, 'utf8'), ''));
}

const SIGHUP = 1;
const SIGKILL = 9;
const KILLED: SessionExit = { code: null, signal: SIGKILL };
/** The exit when the tool's server is gone, because its terminals were hung up. */
const HUNG_UP: SessionExit = { code: null, signal: SIGHUP };
const UNKNOWN_END: SessionExit = { code: null, signal: null };
