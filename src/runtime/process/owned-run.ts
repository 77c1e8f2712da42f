/**
 * One run of the `process` runtime inside the owner: its terminal, its log, and its exit until the daemon acknowledges
 * it.
 */

import type { SegmentWriter } from '../../logs/segment-writer.js';
import { smallestOf, type TerminalSize } from '../../model/run/attachment.js';
import type { LogPlace, OutputSpan } from '../../model/run/past-exit.js';
import type { HeldRun, RunEvents, View, Viewer } from '../owner/held-run.js';
import type { OwnerExit, OwnerHeld, StartRequest } from '../owner/protocol.js';
import { checkDirectory, openLog, toOwnerExit } from '../owner/run-start.js';
import { recentBytes } from '../recent-bytes.js';
import type { PseudoTerminal } from './pseudo-terminal.js';

export class OwnedRun implements HeldRun {
  readonly instanceId: string;
  readonly run: number;
  readonly #terminal: PseudoTerminal;
  readonly #log: SegmentWriter;
  readonly #views: TerminalViews;
  readonly #logStart: LogPlace | undefined;
  #exit: OwnerExit | null = null;
  #isClosed = false;

  /**
   * Starts the process. `open` takes a terminal whose shell waits for an order, or throws the system's refusal. Throws
   * an Error with the reason, for the operator.
   */
  constructor(request: StartRequest, open: () => PseudoTerminal, events: RunEvents) {
    this.instanceId = request.instanceId;
    this.run = request.run;
    checkDirectory(request.workingDirectory);
    this.#log = openLog(request.log);
    this.#logStart = this.#log.position;
    const terminal = {
      write: (bytes: Buffer) => this.#terminal.write(bytes),
      resize: (size?: TerminalSize) => this.#terminal.resize(size),
    };
    this.#views = new TerminalViews(terminal, request.log.directory);
    try {
      this.#terminal = this.#startTerminal(request, open(), events);
    } catch (error) {
      this.#log.close();
      throw error;
    }
  }

  get exit(): OwnerExit | null {
    return this.#exit;
  }

  get pid(): number {
    return this.#terminal.pid;
  }

  get startTime(): number {
    return this.#terminal.startTime;
  }

  /** The terminal's descriptor while new processes would inherit it; undefined otherwise. */
  get inheritable(): number | undefined {
    return this.#terminal.inheritable;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get held(): OwnerHeld {
    const { instanceId, run, pid, startTime, exit } = this;
    return { instanceId, run, pid, startTime, exit, outputFrom: this.#logStart };
  }

  /** Queues bytes for standard input. False: the queue is full, because the program does not read. */
  write(bytes: Buffer): boolean {
    return this.#terminal.write(bytes);
  }

  attach(viewer: Viewer): View {
    return this.#views.open(viewer);
  }

  /** Closes terminal and log of an ended run. Processes that still use the terminal get a hang-up. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#terminal.close();
    // Ends the last line, because followers get whole lines only and a run's last output often has no newline.
    this.#log.endLine();
    this.#log.close();
  }

  forget(): void {
    this.close();
  }

  #output(): OutputSpan | undefined {
    const to = this.#log.position;
    return this.#logStart === undefined || to === undefined ? undefined : { from: this.#logStart, to };
  }

  #startTerminal(request: StartRequest, terminal: PseudoTerminal, events: RunEvents): PseudoTerminal {
    const { command, workingDirectory, controlGroups = [] } = request;
    terminal.run({
      order: {
        command,
        environment: { TERM: 'xterm-256color', ...request.environment },
        workingDirectory,
        controlGroups,
      },
      onOutput: (bytes) => {
        this.#log.write(bytes);
        this.#views.show(bytes);
      },
      onReady: () => events.onReady(this),
      onExit: (code, signal) => {
        this.#exit = { ...toOwnerExit(code, signal), output: this.#output() };
        events.onExit(this);
      },
    });
    return terminal;
  }
}

/** How much of the log's end a new viewer sees first. */
const FIRST_SCREEN_BYTES = 16 * 1024;

/**
 * The viewers of one terminal. All see the same bytes, so the smallest viewer decides the size: nothing that the program
 * draws is out of a viewer's sight. When the last viewer leaves the terminal is wide again.
 */
class TerminalViews {
  readonly #terminal: Pick<PseudoTerminal, 'write' | 'resize'>;
  readonly #logDirectory: string;
  readonly #sizes = new Map<Viewer, TerminalSize>();

  constructor(terminal: Pick<PseudoTerminal, 'write' | 'resize'>, logDirectory: string) {
    this.#terminal = terminal;
    this.#logDirectory = logDirectory;
  }

  /**
   * Adds a viewer, who first sees the end of the log. Output is written to the log and shown in one turn, so log and
   * live output join without a gap.
   */
  open(viewer: Viewer): View {
    const first = recentBytes(this.#logDirectory, FIRST_SCREEN_BYTES);
    if (first.length > 0) viewer.onOutput(first);
    this.#sizes.set(viewer, viewer.size);
    this.#fit();
    return {
      isTransparent: true,
      write: (bytes) => this.#terminal.write(bytes),
      resize: (size) => {
        if (!this.#sizes.has(viewer)) return;
        this.#sizes.set(viewer, size);
        this.#fit();
      },
      close: () => {
        if (this.#sizes.delete(viewer)) this.#fit();
      },
    };
  }

  show(bytes: Uint8Array): void {
    for (const viewer of this.#sizes.keys()) viewer.onOutput(bytes);
  }

  #fit(): void {
    const sizes = [...this.#sizes.values()];
    this.#terminal.resize(sizes.length === 0 ? undefined : smallestOf(sizes));
  }
}
