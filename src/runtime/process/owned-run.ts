/** One run inside the owner: its terminal, its log, and, once it has ended, its exit until that is acknowledged. */
import { accessSync, constants as fsConstants, statSync } from 'node:fs';
import { constants, uptime } from 'node:os';
import { SegmentWriter } from '../../logs/segment-writer.js';
import type { LogPlace, OutputSpan } from '../../model/past-exit.js';
import { publicMessage } from '../../model/public-message.js';
import { readProcess } from '../process-table.js';
import type { NativePty } from './native-pty.js';
import type { OwnerExit, OwnerHeld, StartRequest } from './protocol.js';
import { shellCall } from './shell-prelude.js';
import { Terminal } from './terminal.js';

/** Unit of process start times on every Linux, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;
const DISK_FULL = new Set<unknown>(['ENOSPC', 'EDQUOT']);

export interface RunServices {
  readonly native: NativePty;
  readonly buffer: Buffer;
  readonly hasBash: boolean;
  /** Descriptors that the new process would inherit and must not. */
  readonly inheritable: readonly number[];
  /** Called once, after the last output was written. */
  /** The command itself is about to run. */
  readonly onReady: (run: OwnedRun) => void;
  readonly onExit: (run: OwnedRun) => void;
}

export class OwnedRun {
  readonly instanceId: string;
  readonly run: number;
  readonly #terminal: Terminal;
  readonly #log: SegmentWriter;
  readonly #logStart: LogPlace | undefined;
  readonly #startTime: number;
  #exit: OwnerExit | null = null;

  /** Starts the process. Throws an Error with the reason, for the operator. */
  constructor(request: StartRequest, services: RunServices) {
    this.instanceId = request.instanceId;
    this.run = request.run;
    checkDirectory(request.workingDirectory);
    this.#log = openLog(request);
    this.#logStart = this.#log.position;
    try {
      this.#terminal = this.#startTerminal(request, services);
    } catch (error) {
      this.#log.close();
      throw error;
    }
    this.#startTime = readProcess(this.#terminal.pid)?.startTime ?? 0;
  }

  get exit(): OwnerExit | null {
    return this.#exit;
  }

  get pid(): number {
    return this.#terminal.pid;
  }

  get startTime(): number {
    return this.#startTime;
  }

  /** The terminal's descriptor, while it is open and new processes would inherit it. */
  get inheritable(): number | undefined {
    return this.#terminal.inheritable;
  }

  get held(): OwnerHeld {
    const { instanceId, run, pid, startTime, exit } = this;
    return { instanceId, run, pid, startTime, exit };
  }

  /** False when the process does not read and the queue is full. */
  write(bytes: Buffer): boolean {
    return this.#terminal.write(bytes);
  }

  /** Closes terminal and log of a run that has ended: what still holds the terminal is hung up. Idempotent. */
  close(): void {
    this.#terminal.close();
    // Its followers get whole lines only: the last words of a run often have no newline.
    this.#log.endLine();
    this.#log.close();
  }

  #output(): OutputSpan | undefined {
    const to = this.#log.position;
    return this.#logStart === undefined || to === undefined ? undefined : { from: this.#logStart, to };
  }

  #startTerminal(request: StartRequest, services: RunServices): Terminal {
    const { command, workingDirectory } = request;
    const environment = { TERM: 'xterm-256color', ...request.environment };
    return Terminal.start({
      native: services.native,
      shell: shellCall({
        command,
        environment,
        inheritable: services.inheritable,
        hasBash: services.hasBash,
      }),
      workingDirectory,
      environment,
      buffer: services.buffer,
      onOutput: (bytes) => this.#log.write(bytes),
      onReady: () => services.onReady(this),
      onExit: (code, signal) => {
        this.#exit = { ...toExit(code, signal), output: this.#output() };
        services.onExit(this);
      },
    });
  }
}

function openLog({ log }: StartRequest): SegmentWriter {
  const writer = new SegmentWriter(log.directory, log);
  try {
    writer.open();
    // A run that ended in the middle of a line must not swallow the first line of this one.
    writer.endLine();
  } catch (error) {
    // A full disk is no reason not to run: the writer drops, counts, and goes on when there is room.
    if (!(error instanceof Error && 'code' in error && DISK_FULL.has(error.code)))
      throw new Error(`cannot open its log: ${publicMessage(error)}`);
  }
  return writer;
}

/** node-pty would start a process that only fails afterwards, and says so in its output. */
function checkDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Error(`the working directory ${shortName(directory)} does not exist`);
  try {
    accessSync(directory, fsConstants.X_OK);
  } catch (error) {
    throw new Error(
      `the working directory ${shortName(directory)} cannot be entered: ${publicMessage(error)}`,
    );
  }
}

/** `running/abc123`: what is said of a start reaches clients of the API. */
function shortName(directory: string): string {
  return directory.split('/').slice(-2).join('/');
}

function toExit(code: number, signal: number): OwnerExit {
  const name = Object.entries(constants.signals).find(([, value]) => value === signal)?.[0];
  return {
    code: signal === 0 ? code : null,
    signal: signal === 0 ? null : (name ?? `SIG${signal}`),
    at: Date.now(),
    ticks: Math.floor(uptime() * TICKS_PER_SECOND),
  };
}
