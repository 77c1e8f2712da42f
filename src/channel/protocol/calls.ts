/**
 * Calls over one connection, in both directions: a question with one answer, or with a stream of bytes under flow
 * control. A slow reader stops its own stream, never the connection. Calls change no state and end with the connection.
 */
import { Bell } from '../../loop/bell.js';
import { channelClosed, DroverError, isErrorCode } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import { cutToBytes } from '../../model/words.js';
import { type AnswerLimit, MOST_ANSWER_BYTES } from './frame-codec.js';
import { BOUNDS, type Frame, type MessageOf } from './messages.js';
import type { Transport } from './transport.js';

/** How many bytes of one stream may be under way before the reader has taken them. */
const WINDOW_BYTES = 512 * 1024;
/**
 * How many pieces may wait for the reader, because each piece takes memory. A window full of short log lines fits,
 * even when each line is a piece of its own.
 */
const MOST_PIECES = 32_768;
/** The limit for open calls: a node may hold hundreds of instances, and each followed log takes one call. */
const MAX_OPEN_CALLS = 1024;
/** How many cancelled calls are remembered by number. */
const MOST_CANCELLED = 4096;
/** The limit for an error's message, which may quote parts of the question. */
const MOST_FAILURE_BYTES = BOUNDS.sentenceBytes;

interface CallContext {
  readonly body: Buffer | undefined;
  /** Aborts when the caller cancels or the connection ends. */
  readonly signal: AbortSignal;
}

/** Answers a call with a JSON value, or with a stream of bytes. Parameters come from the other side: parse them. */
export type Service = (parameters: unknown, context: CallContext) => Promise<unknown> | AsyncIterable<Buffer>;
/** The calls that a side of the connection answers, by name. */
export type Services = Readonly<Record<string, Service>>;

/** What goes with a call beside its parameters. */
interface CallOptions {
  readonly body?: Buffer;
  readonly signal?: AbortSignal;
  /** How many bytes of JSON the answer may have: a longer one ends the connection. Default: half a MiB. */
  readonly mostBytes?: number;
}

interface Pending {
  readonly mostBytes: number;
  onValue(value: unknown): void;
  onChunk(bytes: Buffer): void;
  onEnd(): void;
  onFailure(error: DroverError): void;
}

interface Serving {
  readonly controller: AbortController;
  readonly credited: Bell;
  credit: number;
}

export class CallPeer {
  readonly #transport: Transport;
  readonly #services: ReadonlyMap<string, Service>;
  readonly #mostServed: number;
  readonly #pending = new Map<number, Pending>();
  readonly #serving = new Map<number, Serving>();
  /** Cancelled calls, whose answers may still be on their way. */
  readonly #cancelled = new Set<number>();
  /** The newest id that is no longer remembered. An answer to a call up to it counts as an answer to a cancelled call. */
  #forgottenId = 0;
  #nextId = 1;

  /** `mostServed`: how many calls of the other side are answered at once. Default 1024. */
  constructor(transport: Transport, services: Services, mostServed = MAX_OPEN_CALLS) {
    this.#transport = transport;
    // A map has no inherited names, which the other side could ask for.
    this.#services = new Map(Object.entries(services));
    this.#mostServed = mostServed;
    transport.judgeAnswers?.((id) => this.#limitOf(id));
  }

  /**
   * Asks for one value. Rejects with the other side's error, with DRV_CHANNEL_CLOSED, or with DRV_CHANNEL_CALL_FAILED
   * when cancelled.
   */
  async call(
    service: string,
    parameters: unknown,
    { body, signal, mostBytes = MOST_ANSWER_BYTES }: CallOptions = {},
  ): Promise<unknown> {
    if (signal?.aborted === true) throw cancelled(service);
    let onAbort = (): void => undefined;
    const answer = new Promise<unknown>((resolve, reject) => {
      const id = this.#open(service, parameters, body, {
        mostBytes,
        onValue: resolve,
        onChunk: () =>
          this.#cancel(id, new DroverError('DRV_CHANNEL_CALL_FAILED', `${service} answered with a stream`)),
        onEnd: () => reject(new DroverError('DRV_CHANNEL_CALL_FAILED', `${service} gave no answer`)),
        onFailure: reject,
      });
      onAbort = () => this.#cancel(id, cancelled(service));
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    return answer.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  /** Asks for a stream. Leaving the loop early cancels the stream on the other side. */
  async *stream(service: string, parameters: unknown, signal?: AbortSignal): AsyncGenerator<Buffer> {
    if (signal?.aborted === true) throw cancelled(service);
    const queue: Buffer[] = [];
    let ended = false;
    let failure: DroverError | undefined;
    const news = new Bell();
    /** The bytes that have come and are not credited yet. The sender may send while they are below the window. */
    let underWay = 0;
    const onFailure = (error: DroverError): void => {
      failure = error;
      news.ring();
    };
    const id = this.#open(service, parameters, undefined, {
      mostBytes: MOST_ANSWER_BYTES,
      onValue: () =>
        onFailure(new DroverError('DRV_CHANNEL_CALL_FAILED', `${service} answered without a stream`)),
      onChunk: (bytes) => {
        if (underWay >= WINDOW_BYTES || queue.length >= MOST_PIECES) {
          this.#transport.close(`${service} sent more than it was allowed to`);
          return;
        }
        underWay += bytes.length;
        queue.push(bytes);
        news.ring();
      },
      onEnd: () => {
        ended = true;
        news.ring();
      },
      onFailure,
    });
    const onAbort = (): void => this.#cancel(id, cancelled(service));
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        const bytes = queue.shift();
        if (bytes !== undefined) {
          yield bytes;
          underWay -= bytes.length;
          this.#transport.send({ type: 'credit', id, bytes: bytes.length });
        } else if (failure !== undefined) throw failure;
        else if (ended) return;
        else await news.wait();
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#cancel(id, cancelled(service));
    }
  }

  /** Takes a frame that belongs to a call. Answers false for any other frame. */
  handle(frame: Frame): boolean {
    const { message } = frame;
    switch (message.type) {
      case 'call':
        this.#serve(message, frame.body);
        return true;
      case 'result':
        this.#answered(message.id)?.onValue(message.value);
        return true;
      case 'failure': {
        const code = isErrorCode(message.code) ? message.code : 'DRV_CHANNEL_CALL_FAILED';
        this.#answered(message.id)?.onFailure(new DroverError(code, message.message));
        return true;
      }
      case 'chunk':
        if (frame.body !== undefined) this.#pending.get(message.id)?.onChunk(frame.body);
        return true;
      case 'end':
        this.#answered(message.id)?.onEnd();
        return true;
      case 'cancel':
        this.#serving.get(message.id)?.controller.abort();
        return true;
      case 'credit':
        this.#addCredit(message.id, message.bytes);
        return true;
      default:
        return false;
    }
  }

  /** Fails every call under way, because the connection has ended. */
  close(reason: string): void {
    const error = channelClosed(`the connection to the other node ended: ${reason}`);
    for (const id of [...this.#pending.keys()]) this.#take(id)?.onFailure(error);
    for (const serving of this.#serving.values()) serving.controller.abort();
    this.#serving.clear();
  }

  #open(service: string, parameters: unknown, body: Buffer | undefined, pending: Pending): number {
    const id = this.#nextId++;
    if (!this.#transport.isOpen) {
      queueMicrotask(() => pending.onFailure(channelClosed('the connection is closed')));
      return id;
    }
    this.#pending.set(id, pending);
    this.#transport.send({ type: 'call', id, service, parameters }, body);
    return id;
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  /** The call that ends with an answer. An answer that was not asked for ends the connection. */
  #answered(id: number): Pending | undefined {
    if (this.#limitOf(id) === undefined) this.#transport.close('it answered a call that was not made');
    return this.#take(id);
  }

  #limitOf(id: number): ReturnType<AnswerLimit> {
    const isCancelled = this.#cancelled.has(id) || id <= this.#forgottenId;
    return this.#pending.get(id)?.mostBytes ?? (isCancelled ? 'cancelled' : undefined);
  }

  #cancel(id: number, error: DroverError): void {
    const pending = this.#take(id);
    if (pending === undefined) return;
    this.#cancelled.add(id);
    for (const oldest of this.#cancelled) {
      if (this.#cancelled.size <= MOST_CANCELLED) break;
      this.#cancelled.delete(oldest);
      this.#forgottenId = Math.max(this.#forgottenId, oldest);
    }
    this.#transport.send({ type: 'cancel', id });
    pending.onFailure(error);
  }

  #serve(message: MessageOf<'call'>, body: Buffer | undefined): void {
    const { id } = message;
    const service = this.#services.get(message.service);
    if (service === undefined || this.#serving.size >= this.#mostServed || this.#serving.has(id)) {
      this.#fail(
        id,
        service === undefined
          ? new DroverError('DRV_SERVICE_UNKNOWN', `no service ${message.service}`)
          : new DroverError('DRV_CHANNEL_CALL_FAILED', `more than ${this.#mostServed} calls at once`),
      );
      return;
    }
    const serving = { controller: new AbortController(), credited: new Bell(), credit: WINDOW_BYTES };
    this.#serving.set(id, serving);
    this.#answer(id, service, message.parameters, body, serving)
      .catch((error: unknown) => this.#fail(id, error))
      .finally(() => this.#serving.delete(id));
  }

  async #answer(
    id: number,
    service: Service,
    parameters: unknown,
    body: Buffer | undefined,
    serving: Serving,
  ): Promise<void> {
    const answer = service(parameters, { body, signal: serving.controller.signal });
    if (answer instanceof Promise) {
      this.#transport.send({ type: 'result', id, value: (await answer) ?? null });
      return;
    }
    for await (const bytes of answer) {
      const { signal } = serving.controller;
      while (serving.credit <= 0 && !signal.aborted) await serving.credited.wait(signal);
      if (signal.aborted) return;
      serving.credit -= bytes.length;
      this.#transport.send({ type: 'chunk', id }, bytes);
    }
    this.#transport.send({ type: 'end', id });
  }

  #addCredit(id: number, bytes: number): void {
    const serving = this.#serving.get(id);
    if (serving === undefined) return;
    if (serving.credit + bytes > WINDOW_BYTES) {
      this.#transport.close('it says to have read more than it was sent');
      return;
    }
    serving.credit += bytes;
    serving.credited.ring();
  }

  #fail(id: number, error: unknown): void {
    const code = error instanceof DroverError ? error.code : 'DRV_INTERNAL';
    const message = cutToBytes(publicMessage(error), MOST_FAILURE_BYTES);
    this.#transport.send({ type: 'failure', id, code, message });
  }
}

function cancelled(service: string): DroverError {
  return new DroverError('DRV_CHANNEL_CALL_FAILED', `${service} was cancelled`);
}
