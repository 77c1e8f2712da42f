/** The steps of the supervisor for one instance: the whole vocabulary of its plans. */
import type { Report } from '../../../src/channel/protocol/messages.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import type { StopSignal, StopTo } from '../../../src/model/stopping.js';

export type SupervisorStep =
  /** Begin a handle for an instance that is new here. */
  | { readonly do: 'open' }
  /**
   * Correct the handle's copy of the configuration: changed stop settings, or the whole copy when the node's own store
   * was lost.
   */
  | { readonly do: 'identify' }
  | { readonly do: 'report'; readonly report: Report }
  | { readonly do: 'start' }
  /** Cancel a start that takes long. */
  | { readonly do: 'cancel-start'; readonly run: number }
  /** Begin the readiness check of the run. */
  | { readonly do: 'check-readiness'; readonly run: number }
  /** End a readiness check whose answer is no longer needed. */
  | { readonly do: 'end-readiness-check' }
  /** Note that the run was not ready in time. */
  | { readonly do: 'note-not-ready'; readonly run: number }
  /** Look whether the run listens on its port, and note the result. */
  | { readonly do: 'look-at-port'; readonly run: number }
  /** Begin to watch whether the run is alive, or look again. */
  | { readonly do: 'look-at-life'; readonly run: number }
  /** Note that the run is ended because it is not alive. */
  | { readonly do: 'give-up'; readonly run: number; readonly cause: string }
  /** Begin a stop that waits until proxies have seen that the instance leaves. */
  | { readonly do: 'leave'; readonly run: number }
  /** Begin a stop by writing the stop command to standard input. Where that fails, the stop signal is sent at once. */
  | { readonly do: 'write-stop-command'; readonly run: number }
  /** Send the signal to the main processes or to everything of the run, and note when the runtime has taken it. */
  | { readonly do: 'signal'; readonly signal: StopSignal; readonly to: StopTo; readonly run: number }
  /** Send the signal of the main processes to the rest of the run, once no main process lives. */
  | { readonly do: 'signal-rest'; readonly run: number }
  /** Look for remains of an ended run and note the result. */
  | { readonly do: 'check-remains'; readonly run: number }
  /** Remove the control group of an ended run that no start will take over. */
  | { readonly do: 'close-group'; readonly run: number }
  /** Forget the failures of a process that has been up long enough. */
  | { readonly do: 'forgive' }
  /** Note that the stop is complete. */
  | { readonly do: 'settle-stop' }
  /** Note that the node acted on the restart request: nothing of an earlier run lives. */
  | { readonly do: 'accept-restart'; readonly restartToken: number }
  | { readonly do: 'clear-workspace' }
  | { readonly do: 'forget' };

export type SupervisorPlan = Plan<SupervisorStep>;
