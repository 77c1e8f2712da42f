/**
 * What an owner holds, whatever it is made of: a terminal of its own (terminal-runs.ts), or a session of a terminal
 * multiplexer (session/sessions.ts).
 */
import type { OwnerExit, OwnerHeld, OwnerRun, StartRequest } from './protocol.js';

export interface HeldRun extends OwnerRun {
  /** Null while it runs. */
  readonly exit: OwnerExit | null;
  readonly held: OwnerHeld;

  /** Queues or writes bytes for standard input; false when nobody reads and the queue is full. Throws what else is wrong. */
  write(bytes: Buffer): boolean | Promise<boolean>;

  /** Lets go of the terminal and log of a run that has ended. Idempotent. */
  close(): void;

  /** Its exit was acknowledged: closes it and removes what is kept of it. */
  forget(): void | Promise<void>;
}

export interface RunEvents {
  /** Its command is about to run; told at most once. */
  onReady(run: HeldRun): void;
  /** It has ended and all its output is in its log; told once, never before `start` has returned or resolved. */
  onExit(run: HeldRun): void;
}

/** Makes runs for an owner. */
export interface RunSource {
  /** Starts a run. Throws an Error that tells an operator what is wrong; then nothing is left of it. */
  start(request: StartRequest, events: RunEvents): HeldRun | Promise<HeldRun>;
}
