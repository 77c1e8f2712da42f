/**
 * One run of the `process` runtime inside the owner: its terminal, its log, and its exit until the daemon acknowledges
 * it. `TerminalRuns` starts it.
 */

import type { SegmentWriter } from '../../logs/segment-writer.js';
import { smallestOf, type TerminalSize } from '../../model/run/attachment.js';
import type { LogPlace } from '../../model/run/past-exit.js';
import type { HeldRun, View, Viewer } from '../owner/held-run.js';
import type { OwnerExit, OwnerHeld, StartRequest } from '../owner/protocol.js';
import { toOwnerExit } from '../owner/run-start.js';
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

  constructor({ instanceId, run, log }: StartRequest, writer: SegmentWriter, terminal: PseudoTerminal) {
    this.instanceId = instanceId;
    this.run = run;
    this.#log = writer;
    this.#logStart = writer.position;
    this.#terminal = terminal;
    this.#views = new TerminalViews(terminal, log.directory);
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

  /** Writes output of the program to the log, and shows it to the viewers. */
  take(bytes: Uint8Array): void {
    this.#log.write(bytes);
    this.#views.show(bytes);
  }

  /** Notes the exit, after all output. `signal`: a number; 0: none. */
  end(code: number, signal: number): void {
    const from = this.#logStart;
    const to = this.#log.position;
    const output = from === undefined || to === undefined ? undefined : { from, to };
    this.#exit = { ...toOwnerExit(code, signal), output };
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
