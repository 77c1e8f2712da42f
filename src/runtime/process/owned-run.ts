/**
 * One run of the `process` runtime inside the owner: its terminal, its log, and its exit until the daemon acknowledges
 * it.
 */
import type { SegmentWriter } from '../../logs/segment-writer.js';
import type { TerminalSize } from '../../model/run/attachment.js';
import type { LogPlace, OutputSpan } from '../../model/run/past-exit.js';
import type { HeldRun, View, Viewer } from '../owner/held-run.js';
import type { OwnerExit, OwnerHeld, StartRequest } from '../owner/protocol.js';
import { checkDirectory, openLog, toOwnerExit } from '../owner/run-start.js';
import type { PseudoTerminal } from './pseudo-terminal.js';
import { TerminalViews } from './terminal-views.js';

export interface RunServices {
  /** Takes a terminal whose shell waits for an order. Throws the system's refusal. */
  readonly terminal: () => PseudoTerminal;
  /** Called when the shell is about to become the command. */
  readonly onReady: (run: OwnedRun) => void;
  /** Called once, after the last output was written to the log. */
  readonly onExit: (run: OwnedRun) => void;
}

export class OwnedRun implements HeldRun {
  readonly instanceId: string;
  readonly run: number;
  readonly #terminal: PseudoTerminal;
  readonly #log: SegmentWriter;
  readonly #views: TerminalViews;
  readonly #logStart: LogPlace | undefined;
  #exit: OwnerExit | null = null;
  #isClosed = false;

  /** Starts the process. Throws an Error with the reason, for the operator. */
  constructor(request: StartRequest, services: RunServices) {
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
      this.#terminal = this.#startTerminal(request, services);
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

  #startTerminal(request: StartRequest, services: RunServices): PseudoTerminal {
    const { command, workingDirectory, controlGroups = [] } = request;
    const terminal = services.terminal();
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
      onReady: () => services.onReady(this),
      onExit: (code, signal) => {
        this.#exit = { ...toOwnerExit(code, signal), output: this.#output() };
        services.onExit(this);
      },
    });
    return terminal;
  }
}
