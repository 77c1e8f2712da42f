/**
 * A run that an owner holds: on one of the owner's terminals (terminal-runs.ts), or in a session of a terminal
 * multiplexer (session/sessions.ts).
 */
import type { TerminalSize } from '../../model/run/attachment.js';
import type { OwnerExit, OwnerHeld, OwnerRun, StartRequest } from './protocol.js';

export interface HeldRun extends OwnerRun {
  /** The exit; null while the run lives. */
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

  /** Called when the exit was acknowledged: closes the run and removes its files. */
  forget(): void | Promise<void>;
}

/** Somebody who looks at a run's terminal. Neither method throws or waits. */
export interface Viewer {
  readonly size: TerminalSize;
  /** Takes output. May be called before `attach` has returned. The caller may change `bytes` afterwards. */
  onOutput(bytes: Uint8Array): void;
  /** Called at most once when the view ends by itself, and never before `attach` has resolved. */
  onEnd(): void;
}

export interface View {
  /** True when the terminal passes on every byte as it is: see `Attachment`. */
  readonly isTransparent: boolean;
  /**
   * Gives bytes to the program as a terminal does. Returns false when the program does not read and the queue is full.
   */
  write(bytes: Buffer): boolean | Promise<boolean>;
  resize(size: TerminalSize): void;
  /** Ends the view; the run goes on. Idempotent. */
  close(): void;
}

export interface RunEvents {
  /** Called at most once, when the command is about to run. */
  readonly onReady: (run: HeldRun) => void;
  /**
   * Called once, when the run has ended and all of its output is in its log. Never called before `start` has returned
   * or resolved.
   */
  readonly onExit: (run: HeldRun) => void;
}

/** Makes runs for an owner. */
export interface RunSource {
  /** Starts a run. Throws an Error for the operator, and then leaves nothing of the run. */
  start(request: StartRequest, events: RunEvents): HeldRun | Promise<HeldRun>;
}
