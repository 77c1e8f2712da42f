/**
 * A run that an owner holds: on a terminal of the owner's own (terminal-runs.ts), or in a session of a terminal
 * multiplexer (session/sessions.ts).
 */
import type { TerminalSize } from '../../model/run/attachment.js';
import type { OwnerExit, OwnerHeld, OwnerRun, StartRequest } from './protocol.js';

export interface HeldRun extends OwnerRun {
  /** Null while it runs. */
  readonly exit: OwnerExit | null;
  readonly held: OwnerHeld;

  /**
   * Queues or writes bytes for standard input. Returns false when the program does not read and the queue is full.
   * Throws other failures.
   */
  write(bytes: Buffer): boolean | Promise<boolean>;

  /** Shows the run's terminal to a viewer, from a first screen on. Throws an Error for the operator. */
  attach(viewer: Viewer): View | Promise<View>;

  /** Closes terminal and log of a run that has ended. Idempotent. */
  close(): void;

  /** Its exit was acknowledged: closes the run and removes its files. */
  forget(): void | Promise<void>;
}

/** One that looks at a run's terminal. Neither call throws or waits. */
export interface Viewer {
  readonly size: TerminalSize;
  /** `bytes` may be changed after the call. May be called before `attach` has returned. */
  onOutput(bytes: Uint8Array): void;
  /** The view ended by itself. Called at most once, never before `attach` has resolved. */
  onEnd(): void;
}

export interface View {
  /** As in `Attachment`. */
  readonly isTransparent: boolean;
  /** Gives bytes to the program as a terminal does. Returns false when it does not read and the queue is full. */
  write(bytes: Buffer): boolean | Promise<boolean>;
  resize(size: TerminalSize): void;
  /** Idempotent. The run goes on. */
  close(): void;
}

export interface RunEvents {
  /** The command is about to run; called at most once. */
  onReady(run: HeldRun): void;
  /**
   * The run has ended, and all of its output is in its log. Called once, never before `start` has returned or
   * resolved.
   */
  onExit(run: HeldRun): void;
}

/** Makes runs for an owner. */
export interface RunSource {
  /** Starts a run. Throws an Error for the operator; then nothing is left of the run. */
  start(request: StartRequest, events: RunEvents): HeldRun | Promise<HeldRun>;
}
