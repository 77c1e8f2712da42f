/**
 * A run that an owner holds: on a terminal of the owner's own (terminal-runs.ts), or in a session of a terminal
 * multiplexer (session/sessions.ts).
 */
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

  /** Closes terminal and log of a run that has ended. Idempotent. */
  close(): void;

  /** Its exit was acknowledged: closes the run and removes its files. */
  forget(): void | Promise<void>;
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
