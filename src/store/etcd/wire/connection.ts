/**
 * A single HTTP/2 connection to an endpoint of etcd. It ends by itself when the endpoint does not accept it or answers
 * no pings. Otherwise a peer that accepts TCP and never answers would hold a call for ever.
 */
import { type ClientHttp2Session, connect } from 'node:http2';
import type { SecureContextOptions } from 'node:tls';
import type { Clock, TimerHandle } from '../../../loop/clock.js';
import { messageOf } from '../../../model/errors.js';
import { EtcdError } from '../etcd-error.js';
import { type GrpcCall, GrpcStream } from './grpc-stream.js';

const CONNECT_MS = 2000;
const PING_EVERY_MS = 1000;
const PING_ANSWER_MS = 2000;
/** The size of the receive window: so large that a big answer need not wait for window updates. */
const WINDOW_BYTES = 4 * 1024 * 1024;

export class Connection {
  readonly endpoint: string;
  /** The user's token for the calls of this connection; undefined: not requested yet. */
  token: Promise<string> | undefined;
  readonly #clock: Clock;
  readonly #session: ClientHttp2Session;
  readonly #calls = new Set<GrpcStream>();
  readonly #streams = new Set<GrpcStream>();
  #timer: TimerHandle;
  #end: EtcdError | undefined;
  #isRetired = false;

  /** `endpoint`: `http://host:port` or `https://host:port`. */
  constructor(endpoint: string, tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>, clock: Clock) {
    this.endpoint = endpoint;
    this.#clock = clock;
    this.#session = connect(endpoint, { ...tls, settings: { initialWindowSize: WINDOW_BYTES } });
    this.#session.on('error', (error) => this.destroy(describe(error)));
    this.#session.on('close', () => this.destroy('the connection ended'));
    this.#session.on('goaway', () => this.retire());
    this.#timer = clock.setTimer(CONNECT_MS, () => this.destroy(`no connection within ${CONNECT_MS} ms`));
    this.#session.once('remoteSettings', () => {
      this.#session.setLocalWindowSize(WINDOW_BYTES);
      this.#pingLater();
    });
  }

  /** True when new calls may go over the connection. */
  get isUsable(): boolean {
    return this.#end === undefined && !this.#isRetired && !this.#session.closed;
  }

  /** Makes a call with a single answer. Throws EtcdError, also when no answer comes within `deadlineMs`. */
  async call(call: GrpcCall, message: Buffer, deadlineMs: number): Promise<Buffer> {
    const headers = { ...call.headers, 'grpc-timeout': `${deadlineMs}m` };
    const stream = this.#open({ ...call, headers }, this.#calls);
    const timer = this.#clock.setTimer(deadlineMs, () =>
      stream.end(new EtcdError(`${this.endpoint}: no answer within ${deadlineMs} ms`)),
    );
    try {
      stream.send(message, { isLast: true });
      let answer: Buffer | undefined;
      for await (const received of stream.messages()) answer = received;
      if (answer === undefined) throw new EtcdError('an answer without content');
      return answer;
    } catch (error) {
      const named = this.#named(error);
      stream.end(named);
      throw named;
    } finally {
      timer.cancel();
      this.#calls.delete(stream);
    }
  }

  /** Opens a stream that the caller ends. */
  open(call: GrpcCall): GrpcStream {
    return this.#open(call, this.#streams);
  }

  /** Called when a stream that `open` returned has ended. */
  forget(stream: GrpcStream): void {
    this.#streams.delete(stream);
  }

  /**
   * Takes no new calls; calls under way keep their deadlines. Ends the streams; their callers then open new
   * ones at another member.
   */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    // End the streams in the next turn, because Node may be reading a frame now: see `GrpcStream.end`.
    setImmediate(() => {
      if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
      for (const stream of this.#streams)
        stream.end(new EtcdError(`${this.endpoint}: given up for another one`));
    });
  }

  /** Ends the connection with all its calls. Idempotent; the first reason is kept. */
  destroy(reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = new EtcdError(`${this.endpoint}: ${reason}`);
    this.#timer.cancel();
    for (const stream of [...this.#calls, ...this.#streams]) stream.end(this.#end);
    // Destroy in the next turn, because Node may be reading a frame now: see `GrpcStream.end`.
    setImmediate(() => this.#session.destroy());
  }

  #open(call: GrpcCall, among: Set<GrpcStream>): GrpcStream {
    if (this.#end !== undefined) throw this.#end;
    const stream = new GrpcStream(this.#session, call);
    among.add(stream);
    return stream;
  }

  #pingLater(): void {
    if (this.#end !== undefined) return;
    this.#timer.cancel();
    this.#timer = this.#clock.setTimer(PING_EVERY_MS, () => this.#ping());
  }

  #ping(): void {
    this.#timer = this.#clock.setTimer(PING_ANSWER_MS, () => this.destroy('it does not answer any more'));
    try {
      this.#session.ping((error) => {
        if (error === null) this.#pingLater();
      });
    } catch (error) {
      this.destroy(describe(error));
    }
  }

  /** The error with the endpoint in its text. */
  #named(error: unknown): EtcdError {
    if (!(error instanceof EtcdError)) return new EtcdError(`${this.endpoint}: ${describe(error)}`);
    return error.message.startsWith(this.endpoint)
      ? error
      : new EtcdError(`${this.endpoint}: ${error.message}`, error.code);
  }
}

/** The text of an error. Node's error has no text when every address of a host refused. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ');
  return messageOf(error);
}
