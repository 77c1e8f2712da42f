/**
 * A WebSocket endpoint as data, the counterpart of `route.ts`: who may open it, what the request must be, and what
 * runs on the open socket. Everything that may be refused is refused before the upgrade, as an ordinary HTTP answer.
 */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { MaybePromise } from '../../loop/maybe-promise.js';
import type { ErrorCode } from '../../model/errors.js';
import type { Actor } from '../access/auth.js';
import type { Scope } from '../http/route.js';

/** An open socket. Frames are UTF-8 text; nothing here throws once the socket is closed. */
export interface ApiSocket {
  readonly actor: Actor;
  /** Where it came from. */
  readonly address: string;
  /** Aborts when the socket is closed, whoever closes it; nothing is heard or sent from then on. */
  readonly signal: AbortSignal;
  /** Bytes handed over that the kernel has not taken yet. */
  readonly bufferedBytes: number;
  sendText(text: string): void;
  /** Whole prebuilt frames, unmasked, as `encodeTextFrames` makes them: one buffer for many sockets. */
  sendFrames(frames: Buffer): void;
  /** Resolves when `bufferedBytes` has fallen to a quarter of a mebibyte or less, or the socket has closed. */
  whenDrained(): Promise<void>;
  /**
   * Set once; 64 KiB of frames that come before are kept, then the socket is closed with 1008: an endpoint that takes
   * no frames sets a listener that ignores them. A binary frame closes the socket with 1003.
   */
  onText(listener: (text: string) => void): void;
  /** Sends a close frame; `reason` is cut to 123 bytes. Idempotent. */
  close(code: number, reason: string): void;
}

export interface SocketCall<Params, Query> {
  readonly params: Params;
  readonly query: Query;
  readonly request: FastifyRequest;
}

/** What is known of a socket endpoint without opening it; OpenAPI shows it as a GET that answers 101. */
export interface SocketDescription {
  /** Under `/api`, parameters as `:id`. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  /** What the frames are, in both directions. */
  readonly frames: string;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  /** What it may refuse with before the upgrade, beside what every endpoint may. */
  readonly errors?: readonly ErrorCode[];
}

export interface SocketSpec<P, Q> extends SocketDescription {
  readonly params: z.ZodType<P>;
  readonly query: z.ZodType<Q>;
  /** Called before the upgrade: throws what the HTTP answer should say, else returns what runs on the open socket. */
  open(call: SocketCall<P, Q>): MaybePromise<(socket: ApiSocket) => void>;
}
