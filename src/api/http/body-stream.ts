/**
 * A request's body as a stream, for routes that never hold it whole. Its size and its pauses are limited, but not its
 * time: an upload may last as long as bytes come.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { DroverError, invalidRequest, requestTooLarge } from '../../model/errors.js';

const MIB = 1024 * 1024;

declare module 'fastify' {
  interface FastifyInstance {
    readonly uploadLimits: UploadLimits;
  }
}

interface UploadLimits {
  readonly maxBytes: number;
  /** The longest pause between bytes while the reader waits for them. */
  readonly idleMs: number;
}

/**
 * Reads `request` at the pace of its reader. Fails with DRV_REQUEST_TOO_LARGE on the first byte over the limit, with
 * DRV_REQUEST_TIMEOUT when the sender pauses for too long, and with DRV_REQUEST_INVALID when the body ends early. Bytes
 * after its end are thrown away.
 */
export class BodyStream extends Readable {
  readonly #request: IncomingMessage;
  readonly #limits: UploadLimits;
  #bytes = 0;
  #idle: NodeJS.Timeout | undefined;

  /** Throws DRV_REQUEST_TOO_LARGE when Content-Length is over the limit. */
  constructor(request: IncomingMessage, limits: UploadLimits) {
    super();
    if (Number(request.headers['content-length'] ?? 0) > limits.maxBytes) throw tooLarge(limits);
    this.#request = request;
    this.#limits = limits;
    request.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onGone);
    request.on('close', this.#onGone).pause();
    // This listener keeps an error from being uncaught when there is no reader. A reader still gets the error.
    this.on('error', () => {});
  }

  override _read(): void {
    this.#idle ??= setTimeout(() => this.#onIdle(), this.#limits.idleMs).unref();
    this.#request.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#idle);
    const request = this.#request;
    request.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onGone);
    request.off('close', this.#onGone);
    // Read the rest of the body and throw it away: a client may read the answer only after it has sent everything.
    request.on('error', () => {}).resume();
    done(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.maxBytes) {
      this.destroy(tooLarge(this.#limits));
      return;
    }
    if (this.push(chunk)) {
      this.#idle?.refresh();
      return;
    }
    // Stop the timer of the pause: the reader has enough for now, and does not wait for the sender.
    clearTimeout(this.#idle);
    this.#idle = undefined;
    this.#request.pause();
  };

  readonly #onEnd = (): void => {
    clearTimeout(this.#idle);
    this.push(null);
  };

  readonly #onGone = (): void => {
    if (this.#request.complete) return;
    this.destroy(invalidRequest('the body ended before it was complete'));
  };

  #onIdle(): void {
    const seconds = this.#limits.idleMs / 1000;
    this.destroy(
      new DroverError(
        'DRV_REQUEST_TIMEOUT',
        `the body stopped coming: no byte for ${seconds} s; send it again`,
      ),
    );
  }
}

function tooLarge({ maxBytes }: UploadLimits): DroverError {
  return requestTooLarge(
    `the body is larger than this server takes (${Math.floor(maxBytes / MIB)} MB: maxUploadMB in config.json)`,
  );
}
