/** The soak's slow clients: they follow noisy logs and read a little, then nothing for a while, again and again. */
import { WebSocket } from 'ws';
import type { BenchDaemon } from '../world.js';

const READING_MS = 20;
const WAITING_MS = 1000;

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
    socket.on('message', () => void this.received++);
    socket.on('open', () => this.#readSlowly(socket));
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

  #readSlowly(socket: WebSocket): void {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.resume();
    this.#later(READING_MS, () => {
      socket.pause();
      this.#later(WAITING_MS, () => this.#readSlowly(socket));
    });
  }

  #later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }
}
