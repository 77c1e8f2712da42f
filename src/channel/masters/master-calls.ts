/** Asks another master of the cluster a question (`MasterDesk`), each on a connection of its own. */
import type { MasterPeer } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';
import { withDeadline } from '../../loop/deadline.js';
import { channelClosed, type DroverError, requestTooLarge } from '../../model/errors.js';
import { CallPeer } from '../protocol/calls.js';
import { MOST_LONG_ANSWER_BYTES, MOST_QUESTION_BYTES } from '../protocol/frame-codec.js';
import type { Transport } from '../protocol/transport.js';

const ANSWER_MS = 10_000;
/** The longest pause between two pieces of a stream. */
const SILENCE_MS = 30_000;

interface Question {
  /** The name under which the other master's desk answers the question. */
  readonly name: string;
  /** The value that is sent as JSON. */
  readonly content: unknown;
  /** How long the answer may take. Default: 10 s. */
  readonly limitMs?: number;
}

/** Opens a connection to the desk of a master. Throws DroverErrors. */
export type DeskDial = (peer: MasterPeer, signal: AbortSignal) => Promise<Transport>;

export class MasterCalls {
  readonly #dial: DeskDial;
  readonly #clock: Clock;

  constructor(dial: DeskDial, clock: Clock) {
    this.#dial = dial;
    this.#clock = clock;
  }

  /**
   * Asks a question. Throws the error that the other master answers with, DRV_CHANNEL_CLOSED when it does not answer in
   * time, and DRV_REQUEST_TOO_LARGE.
   */
  async ask(
    peer: MasterPeer,
    { name, content, limitMs = ANSWER_MS }: Question,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (Buffer.byteLength(JSON.stringify(content)) > MOST_QUESTION_BYTES)
      throw requestTooLarge(`the question ${name} is too long for another master`);
    return this.#within(peer, limitMs, signal, async (inner) => {
      const transport = await this.#dial(peer, inner);
      try {
        return await callsOver(transport, peer).call(name, content, {
          signal: inner,
          mostBytes: MOST_LONG_ANSWER_BYTES,
        });
      } finally {
        transport.close('the question is answered');
      }
    });
  }

  /** The bytes of an answer. Throws as `ask`. A connection that brings nothing for 30 s counts as closed. */
  async *bytes(peer: MasterPeer, { name, content }: Question, signal: AbortSignal): AsyncGenerator<Buffer> {
    const transport = await this.#dial(peer, signal);
    try {
      const pieces = callsOver(transport, peer).stream(name, content, signal);
      for (;;) {
        const piece = await this.#within(peer, SILENCE_MS, signal, () => pieces.next());
        if (piece.done === true) return;
        yield piece.value;
      }
    } finally {
      transport.close('the answer is read');
    }
  }

  #within<T>(
    { nodeId }: MasterPeer,
    limitMs: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const expired = (): DroverError => channelClosed(`master ${nodeId} did not answer in time`);
    return withDeadline({ clock: this.#clock, limitMs, signal, expired }, work);
  }
}

function callsOver(transport: Transport, { nodeId }: MasterPeer): CallPeer {
  const calls = new CallPeer(transport, {});
  transport.onFrame((frame) => void calls.handle(frame));
  transport.onClose((reason) => calls.close(`master ${nodeId} hung up: ${reason}`));
  return calls;
}
