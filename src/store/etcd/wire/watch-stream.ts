/**
 * A watch of etcd on a single stream, until the stream breaks. It joins fragments, and requests a sign of life from a
 * silent etcd.
 */
import type { Clock, TimerHandle } from '../../../loop/clock.js';
import type { EventBatch, KeyEvent } from '../etcd.js';
import { CompactedError, EtcdError } from '../etcd-error.js';
import type { Connection } from './connection.js';
import { decodeWatch, encodeProgressRequest, encodeWatch, type WatchAnswer } from './messages.js';

const PATH = '/etcdserverpb.Watch/Watch';
/** After this silence the watch is asked for a sign of life. After twice this silence the watch is given up. */
const SILENCE_MS = 3000;

interface WatchOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly range: { readonly key: string; readonly end: string; readonly revision: number };
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The events of a watch: see `Etcd.watch`. */
export async function* watchEvents(
  connection: Connection,
  { headers, range, clock, signal }: WatchOptions,
): AsyncGenerator<EventBatch> {
  if (signal.aborted) return;
  const stream = connection.open({ path: PATH, headers });
  const abort = (): void => stream.end(new EtcdError('aborted'));
  signal.addEventListener('abort', abort, { once: true });
  let silence: TimerHandle | undefined;
  const awaitAnswer = (): void => {
    silence = clock.setTimer(SILENCE_MS, () => {
      const giveUp = (): void => stream.end(new EtcdError(`${connection.endpoint}: the watch is silent`));
      silence = clock.setTimer(SILENCE_MS, giveUp);
      stream.send(encodeProgressRequest());
    });
  };
  try {
    stream.send(encodeWatch(range));
    awaitAnswer();
    let events: KeyEvent[] = [];
    for await (const message of stream.messages()) {
      // Stop the timer while the caller handles a batch: nothing is read meanwhile, so etcd does not count as
      // silent.
      silence?.cancel();
      const answer = decodeWatch(message);
      refuseCanceled(answer);
      refuseOlder(answer, range.revision);
      events.push(...answer.events);
      const last = events.at(-1);
      if (!answer.isFragment && last !== undefined) {
        yield { events, revision: last.modRevision };
        events = [];
      }
      awaitAnswer();
    }
    throw new EtcdError(`${connection.endpoint}: the watch ended`);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    silence?.cancel();
    signal.removeEventListener('abort', abort);
    stream.end(new EtcdError('the watch is over'));
    connection.forget(stream);
  }
}

function refuseCanceled({ isCanceled, compactRevision, cancelReason }: WatchAnswer): void {
  if (compactRevision > 0) throw new CompactedError(`etcd has compacted up to revision ${compactRevision}`);
  if (isCanceled) throw new EtcdError(`etcd ended the watch: ${cancelReason || 'no reason given'}`);
}

/** Throws when etcd was restored from a backup: the watch would be silent until etcd passes its earlier revision. */
function refuseOlder({ isCreated, revision }: WatchAnswer, asked: number): void {
  if (isCreated && revision < asked - 1)
    throw new CompactedError(`etcd is at revision ${revision}, older than what was read of it`);
}
