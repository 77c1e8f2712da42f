/** A transport whose frames a test can hold back and let through, as a stalled or cut network does. */
import type { Frame, Message } from '../../src/channel/messages.js';
import type { Transport } from '../../src/channel/transport.js';

/** Open: everything passes. Shut: everything waits, in order, until it is opened again. */
export class Gate {
  #isShut = false;
  #waiting: (() => void)[] = [];

  get isShut(): boolean {
    return this.#isShut;
  }

  shut(): void {
    this.#isShut = true;
  }

  /** Lets through what waits, then everything. */
  open(): void {
    this.#isShut = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const pass of waiting) pass();
  }

  pass(action: () => void): void {
    if (this.#isShut) this.#waiting.push(action);
    else action();
  }
}

/** `inner` behind a gate, both ways. `gateOf` is asked with each incoming message until it names the gate. */
export class GatedTransport implements Transport {
  readonly #inner: Transport;
  readonly #gateOf: (message: Message) => Gate | undefined;
  #gate: Gate | undefined;

  constructor(inner: Transport, gateOf: (message: Message) => Gate | undefined) {
    this.#inner = inner;
    this.#gateOf = gateOf;
  }

  get isOpen(): boolean {
    return this.#inner.isOpen;
  }

  send(message: Message, body?: Buffer): void {
    this.#pass(() => this.#inner.send(message, body));
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#inner.onFrame((frame) => {
      this.#gate ??= this.#gateOf(frame.message);
      this.#pass(() => listener(frame));
    });
  }

  onClose(listener: (reason: string) => void): void {
    this.#inner.onClose((reason) => this.#pass(() => listener(reason)));
  }

  close(reason: string): void {
    this.#inner.close(reason);
  }

  #pass(action: () => void): void {
    if (this.#gate === undefined) action();
    else this.#gate.pass(action);
  }
}
