/**
 * One side of a connection, as the transport of the daemon that holds it. It encodes and decodes, and dies with
 * that daemon.
 */
import { type Frame, type Message, messageSchema } from '../../../src/channel/protocol/messages.js';
import type { Transport } from '../../../src/channel/protocol/transport.js';
import type { Life } from '../machine/life.js';
import type { ConnectionOptions, Packet, Payload } from './path.js';
import type { Pipe } from './pipe.js';

/** An end that hears nothing for so long, not even a ping, gives its connection up. */
const SILENCE_MS = 6000;
const PING_MS = 2000;

export class ConnectionEnd implements Transport {
  readonly #life: Life;
  readonly #pipe: Pipe;
  readonly #options: ConnectionOptions;
  readonly #onGone: (() => void)[] = [];
  #inbox: Packet[] = [];
  #isOpen = true;
  /** Virtual time since which nothing can be heard; undefined: pings arrive. */
  #deafSince: number | undefined;
  #closeReason: string | undefined;
  #frameListener: ((frame: Frame) => void) | undefined;
  #closeListener: ((reason: string) => void) | undefined;

  constructor(life: Life, pipe: Pipe, options: ConnectionOptions) {
    this.#life = life;
    this.#pipe = pipe;
    this.#options = options;
    life.onDeath(() => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      this.#pipe.endWith('connection reset', true);
      this.#tellGone();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  onGone(action: () => void): void {
    this.#onGone.push(action);
  }

  send(message: Message, body?: Buffer): void {
    if (!this.#isOpen || !this.#life.effect(`sending ${message.type}`)) return;
    if (message.type !== 'beat') this.#options.trace.note(this.#life.name, () => `-> ${brief(message)}`);
    this.#options.onSend(message);
    this.#pipe.push({ text: JSON.stringify(message), body });
  }

  /** Whether pings of the other side can arrive. */
  hears(isHearing: boolean): void {
    const { scheduler, random } = this.#options;
    if (isHearing) this.#deafSince = undefined;
    if (isHearing || this.#deafSince !== undefined) return;
    const since = scheduler.now;
    this.#deafSince = since;
    this.#life.after(SILENCE_MS + random.between(0, PING_MS), () => {
      if (this.#deafSince === since) this.close(`nothing was heard for ${SILENCE_MS} ms`);
    });
  }

  /** A packet arrived at this machine: false when nobody has the connection any more. */
  take(packet: Packet): boolean {
    if (!this.#isOpen) return 'close' in packet;
    this.#inbox.push(packet);
    this.#life.after(0, () => this.#read());
    return true;
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#frameListener = listener;
    if (this.#inbox.length > 0) this.#life.after(0, () => this.#read());
  }

  onClose(listener: (reason: string) => void): void {
    this.#closeListener = listener;
    if (this.#closeReason !== undefined) listener(this.#closeReason);
  }

  close(reason: string): void {
    if (!this.#isOpen || !this.#life.effect('closing a connection')) return;
    this.#pipe.push({ close: reason });
    this.#end(reason);
  }

  #read(): void {
    if (this.#frameListener === undefined) return;
    for (
      let packet = this.#inbox.shift();
      packet !== undefined && this.#isOpen;
      packet = this.#inbox.shift()
    ) {
      if ('close' in packet) this.#end(packet.close);
      else this.#handle(packet);
    }
  }

  #handle({ text, body }: Payload): void {
    const parsed = messageSchema.safeParse(JSON.parse(text));
    if (!parsed.success) throw new Error(`a malformed message travelled: ${text.slice(0, 200)}`);
    this.#frameListener?.(body === undefined ? { message: parsed.data } : { message: parsed.data, body });
  }

  #end(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#inbox = [];
    this.#closeReason = reason;
    // Its own last word may be under way still.
    this.#pipe.endWith('the other side closed', false);
    this.#options.trace.note(this.#life.name, () => `connection closed: ${reason}`);
    this.#closeListener?.(reason);
    this.#tellGone();
  }

  #tellGone(): void {
    for (const action of this.#onGone) action();
  }
}

function brief(message: Message): string {
  switch (message.type) {
    case 'status':
      return `status ${message.sequence}: ${message.reports.map(({ id, state, reason, gone }) => `${id} ${state} ${reason}${gone ? ' gone' : ''}`).join(', ')}`;
    case 'snapshot':
      return `snapshot ${message.sequence}: ${message.assignments.map(said).join(', ')}`;
    case 'delta':
      return `delta ${message.sequence}: ${message.put.map(said).join(', ')}${message.drop.map((id) => ` drop ${id}`).join(',')}`;
    case 'status-acknowledged':
      return `${message.type} ${message.sequence}`;
    case 'refused':
      return `refused: ${message.reason}`;
    default:
      return message.type;
  }
}

function said({
  id,
  goal,
  restartToken,
  port,
}: {
  id: string;
  goal: string;
  restartToken: number;
  port: number | null;
}): string {
  return `${id} ${goal}/${restartToken} port ${port}`;
}
