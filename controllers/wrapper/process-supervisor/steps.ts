/** What the supervisor can do next for one instance: the whole vocabulary of its plans. */
import type { Report } from '../../../src/channel/protocol/messages.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import type { StopSignal } from '../../../src/model/stopping.js';

export type SupervisorStep =
  /** Begin to keep a handle for an instance that is new here. */
  | { readonly do: 'open' }
  /** A handle that was made without its configuration (the node's own store was lost) learns what it is. */
  | { readonly do: 'identify' }
  | { readonly do: 'report'; readonly report: Report }
  | { readonly do: 'start' }
  /** A start that takes long is no longer wanted. */
  | { readonly do: 'cancel-start'; readonly run: number }
  /** Begin to look whether the run is ready. */
  | { readonly do: 'check-readiness'; readonly run: number }
  /** Nobody needs to know any more whether it is ready. */
  | { readonly do: 'end-readiness-check' }
  /** The time that it was given to become ready is over. */
  | { readonly do: 'note-not-ready'; readonly run: number }
  /** Begin a stop by writing to its standard input; where that fails the stop signal is sent at once. */
  | { readonly do: 'write-stop-command'; readonly run: number }
  /** Send the signal to everything of the run, and note when. */
  | { readonly do: 'signal'; readonly signal: StopSignal; readonly run: number }
  /** See whether anything of an ended run lives; note it when nothing does, end it with SIGKILL when `kill`. */
  | { readonly do: 'check-remains'; readonly kill: boolean; readonly run: number }
  /** The process has been up long enough: its failures are forgotten. */
  | { readonly do: 'forgive' }
  /** The stop is complete. */
  | { readonly do: 'settle-stop' }
  /** Nothing of before the restart request lives any more: the request counts as acted on. */
  | { readonly do: 'accept-restart'; readonly restartToken: number }
  | { readonly do: 'clear-workspace' }
  | { readonly do: 'forget' };

export type SupervisorPlan = Plan<SupervisorStep>;
