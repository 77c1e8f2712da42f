/**
 * The soak's slow clients: they follow noisy logs and read a little, then nothing for a while, again and again. That is
 * less than is written, so the daemon soon finds their sockets full.
 */
import { WebSocket } from 'ws';
import type { BenchDaemon } from '../world.js';

/** What a socket has read by then comes too: about 64 KiB. */
const LINES_AT_ONCE = 200;
const WAITING_MS = 2000;

export class SlowFollowers {
  readonly #sockets = new Set<WebSocket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  received = 0;
  /** Times that the daemon closed one of them; it comes again. */
  closed = 0;
  #isStopped = false;

  follow(daemon: BenchDaemon, id: string): void {
    if (this.#isStopped) return;
    const url = `${daemon.url.replace('http', 'ws')}/instances/${id}/live-log?tail=100`;
    const headers = { authorization: `Bearer ${daemon.token}` };
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    let read = 0;
    socket.on('message', () => {
      this.received++;
      if (++read % LINES_AT_ONCE === 0) this.#rest(socket);
    });
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#isStopped) return;
      this.closed++;
      this.#later(WAITING_MS, () => this.follow(daemon, id));
    });
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of this.#sockets) socket.terminate();
  }

  #rest(socket: WebSocket): void {
    if (socket.isPaused) return;
    socket.pause();
    this.#later(WAITING_MS, () => socket.resume());
  }

  #later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }
}
