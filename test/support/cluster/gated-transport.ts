/** A transport whose frames a test can hold back, deliver late, or lose with the connection. */
import type { AnswerLimit } from '../../../src/channel/protocol/frame-codec.js';
import type { Frame, Message } from '../../../src/channel/protocol/messages.js';
import type { Transport } from '../../../src/channel/protocol/transport.js';

/** A gate for frames. Open: everything passes. Shut: everything waits, in order, until the gate opens again. */
export class Gate {
  readonly #transports = new Set<GatedTransport>();
  #isShut = false;
  #waiting: (() => void)[] = [];

  shut(): void {
    this.#isShut = true;
  }

  /** Lets through what waits, and everything after it. */
  open(): void {
    this.#isShut = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const pass of waiting) pass();
  }

  /** Loses what waits and closes every connection; new connections pass. */
  reset(): void {
    this.#isShut = false;
    this.#waiting = [];
    for (const transport of this.#transports) transport.sever();
    this.#transports.clear();
  }

  pass(action: () => void): void {
    if (this.#isShut) this.#waiting.push(action);
    else action();
  }

  join(transport: GatedTransport): void {
    this.#transports.add(transport);
  }
}

/**
 * A wrapper's end of a connection, behind a gate that works both ways. Its own `close` is known on its own side at
 * once.
 */
export class GatedTransport implements Transport {
  readonly #inner: Transport;
  readonly #gate: Gate;
  #closeReason: string | undefined;
  #closeListener: ((reason: string) => void) | undefined;

  constructor(inner: Transport, gate: Gate) {
    this.#inner = inner;
    this.#gate = gate;
    gate.join(this);
    inner.onClose((reason) => gate.pass(() => this.#end(reason)));
  }

  get isOpen(): boolean {
    return this.#closeReason === undefined;
  }

  send(message: Message, body?: Buffer): void {
    if (this.isOpen) this.#gate.pass(() => this.#inner.send(message, body));
  }

  judgeAnswers(limit: AnswerLimit): void {
    this.#inner.judgeAnswers?.(limit);
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#inner.onFrame((frame) =>
      this.#gate.pass(() => {
        if (this.isOpen) listener(frame);
      }),
    );
  }

  onClose(listener: (reason: string) => void): void {
    this.#closeListener = listener;
    if (this.#closeReason !== undefined) listener(this.#closeReason);
  }

  close(reason: string): void {
    this.#end(reason);
    this.#gate.pass(() => this.#inner.close(reason));
  }

  /** Ends both sides at once. */
  sever(): void {
    this.#inner.close('connection reset');
    this.#end('connection reset');
  }

  #end(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#closeListener?.(reason);
  }
}
