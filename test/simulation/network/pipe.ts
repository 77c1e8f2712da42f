/** One direction of a connection: in order while it lasts, late now and then, and cut short when it breaks. */
import type { ConnectionOptions, Direction, Packet } from './path.js';

/** The longest wait between two tries to send what was lost. */
const RESEND_MS = 2000;

export class Pipe {
  readonly #options: ConnectionOptions;
  readonly #direction: Direction;
  #queue: { readonly packet: Packet; readonly at: number }[] = [];
  #deliver: (packet: Packet) => void = () => undefined;
  #lastAt = 0;
  #isEnded = false;
  #isMute = false;

  constructor(options: ConnectionOptions, direction: Direction) {
    this.#options = options;
    this.#direction = direction;
  }

  onPacket(listener: (packet: Packet) => void): void {
    this.#deliver = listener;
  }

  push(packet: Packet): void {
    const { random, disorder } = this.#options;
    if ('close' in packet || this.#options.isLocal) this.#enqueue(packet, 0);
    else {
      this.#enqueue(packet, random.chance(disorder.reorder ?? 0) ? random.between(0, 50) : 0);
      if (random.chance(disorder.repeat ?? 0)) this.#enqueue(packet, random.between(0, 500));
    }
    if ('close' in packet) this.#isEnded = true;
  }

  /** The last word; `isSudden`: of what was under way only a part arrives before it. */
  endWith(reason: string, isSudden: boolean): void {
    if (this.#isEnded || (isSudden && this.#isMute)) return;
    if (isSudden) this.#lose();
    this.push({ close: reason });
  }

  /** Something on the way tells both sides that it is over. */
  breakOff(): void {
    this.#lose();
    this.#isEnded = false;
    this.push({ close: 'connection reset' });
  }

  /** Nothing of what was under way arrives, nor a word of the end, until somebody asks. */
  drop(): void {
    this.#isMute = true;
    this.#isEnded = false;
    this.#queue = [];
  }

  /** The path is whole again: what was dropped on it is sent once more. */
  resend(): void {
    if (this.#queue.length === 0) return;
    const { scheduler, random } = this.#options;
    const delayMs = random.between(0, RESEND_MS);
    this.#queue = this.#queue.map(({ packet, at }) => ({
      packet,
      at: Math.max(at, scheduler.now + delayMs),
    }));
    this.#lastAt = Math.max(this.#lastAt, scheduler.now + delayMs);
    scheduler.after(delayMs, () => this.#flush());
  }

  /** Of what is under way only a part will arrive. */
  #lose(): void {
    this.#queue.length = this.#options.random.below(this.#queue.length + 1);
  }

  #enqueue(packet: Packet, lateMs: number): void {
    const { scheduler } = this.#options;
    const at = Math.max(this.#lastAt, scheduler.now + this.#latencyMs());
    // A packet that is late by disorder is overtaken; everything else keeps its place.
    if (lateMs === 0) this.#lastAt = at;
    this.#queue.push({ packet, at: at + lateMs });
    if (lateMs > 0) this.#queue.sort((a, b) => a.at - b.at);
    scheduler.after(at + lateMs - scheduler.now, () => this.#flush());
  }

  #latencyMs(): number {
    const { isLocal, path, random } = this.#options;
    if (isLocal) return 0;
    const latencyMs = random.between(path.latencyMs / 2, path.latencyMs);
    return random.chance(0.003) ? latencyMs + random.between(100, 3500) : latencyMs;
  }

  #flush(): void {
    const { scheduler, path } = this.#options;
    if (path.cut[this.#direction] > 0) return;
    for (let head = this.#queue[0]; head !== undefined && head.at <= scheduler.now; head = this.#queue[0]) {
      this.#queue.shift();
      this.#deliver(head.packet);
    }
  }
}
