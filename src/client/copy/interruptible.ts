/** Lets a copy clean up before Ctrl-C or SIGTERM ends the program. */
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Aborts `work` at a signal, waits for its end, and then ends the process by that signal. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupt = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    received = signal;
    interrupt.abort(new ClientError(EXIT.failed, 'interrupted: nothing was copied'));
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await work(interrupt.signal);
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
    if (received !== undefined) process.kill(process.pid, received);
  }
}
