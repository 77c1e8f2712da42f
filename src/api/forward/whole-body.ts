/**
 * Waits for the body of a request to an open route, before the request takes anything of the way to the leader. The
 * body stays unread, so that whoever takes the request reads it as usual.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../loop/clock.js';

/** How long the body may take to arrive. It is a few hundred bytes. */
const ARRIVAL_MS = 10_000;

/** What became of the body. `gone`: the client has gone. */
export type Arrival = 'here' | 'late' | 'too-large' | 'gone';

/** Resolves when the body is here as a whole, or cannot come any more. At most 16 KiB are kept. */
export function untilWhole(request: IncomingMessage, clock: Pick<Clock, 'setTimer'>): Promise<Arrival> {
  const most = request.readableHighWaterMark;
  if (Number(request.headers['content-length'] ?? 0) >= most) return Promise.resolve('too-large');
  return new Promise((resolve) => {
    const end = (arrival: Arrival): void => {
      timer.cancel();
      request.off('readable', look).off('close', gone);
      resolve(arrival);
    };
    const gone = (): void => end('gone');
    const look = (): void => {
      if (request.complete) end('here');
    };
    const timer = clock.setTimer(ARRIVAL_MS, () => end(request.readableLength < most ? 'late' : 'too-large'));
    request.once('close', gone);
    // Node tells when the first bytes are here, and when the end is here, even if nobody reads.
    request.on('readable', look);
    look();
  });
}
