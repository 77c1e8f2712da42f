/**
 * A WebSocket endpoint as data, the counterpart of `http/route.ts`: its callers, its input as zod schemas, and the code
 * for the open socket. Refusals come before the upgrade, as ordinary HTTP answers.
 */
import type { z } from 'zod';
import type { Access } from '../../access/access.js';
import type { MaybePromise } from '../../loop/maybe-promise.js';
import type { EndpointDescription, RouteCall } from '../http/route.js';
import type { LineStream } from './line-stream.js';
import type { Outlet } from './outlet.js';

/** The codes with which sockets are closed. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  noBinary: 1003,
  refused: 1008,
  fault: 1011,
  tooSlow: 1013,
} as const;

/**
 * An open socket. Frames are UTF-8 text, unless its endpoint says otherwise. No call throws when the socket is closed.
 */
export interface ApiSocket extends Pick<Outlet, 'signal' | 'bufferedBytes' | 'whenDrained'> {
  readonly access: Access;
  /** The client's address. */
  readonly address: string;
  sendText(text: string): void;
  sendBinary(bytes: Buffer): void;
  /** Sends whole frames that `encodeTextFrames` made. Many sockets may share a buffer. */
  sendFrames(frames: Buffer): void;
  /**
   * Sets the only listener. Earlier frames are kept, up to 64 KiB; beyond that the socket is closed with 1008. So an
   * endpoint that takes no frames must set a listener that ignores them. A binary frame closes the socket with 1003,
   * unless the endpoint takes binary frames.
   */
  onText(listener: (text: string) => void): void;
  /**
   * Accepts binary frames from now on. While the listener's promise is pending, nothing is read from the client, so the
   * client cannot send faster than the listener works. Call once, as soon as the socket is open.
   */
  onBinary(listener: (bytes: Buffer) => Promise<void>): void;
  /** Closes the socket. `reason` is cut to 123 bytes. Idempotent. */
  close(code: number, reason: string): void;
}

export type SocketCall<Params, Query> = Omit<RouteCall<Params, Query, never>, 'body' | 'stream'>;

/** A socket endpoint without its code. The API's description shows it as a GET that answers 101. */
export interface SocketDescription extends EndpointDescription {
  /** The frames of both directions, in words. */
  readonly frames: string;
  /** The answer to a plain GET: lines of this type. Absent: the answer is 426. */
  readonly lines?: { readonly contentType: string };
}

export interface SocketSpec<P, Q> extends SocketDescription {
  readonly params?: z.ZodType<P>;
  readonly query?: z.ZodType<Q>;
  /** Called before the upgrade. Returns the code to run on the open socket, or throws the error for the HTTP answer. */
  open(call: SocketCall<P, Q>): MaybePromise<(socket: ApiSocket) => void>;
  readonly lines?: LinesSpec<P, Q>;
}

/** The endpoint for a request that asks for no upgrade: an answer of lines that goes on until either side ends it. */
interface LinesSpec<P, Q> {
  readonly contentType: string;
  /** Returns the code to run on the stream of lines, or throws like `open` of the endpoint. */
  open(call: SocketCall<P, Q>): MaybePromise<(stream: LineStream) => void>;
}
