/** A call of gRPC on an HTTP/2 stream: messages with their length before them, and a status at the end. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { messageOf } from '../../../model/errors.js';
import { attempt } from '../../../model/plain/attempt.js';
import { EtcdError } from '../etcd-error.js';

const PREFIX_BYTES = 5;
/** The largest accepted answer. Drover asks in pages, so no answer of etcd is larger. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export interface GrpcCall {
  /** The path, `/<service>/<method>`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class GrpcStream {
  readonly #stream: ClientHttp2Stream;
  #status: { readonly code: number; readonly message: string } | undefined;

  /** Opens the stream. Throws EtcdError when the session accepts no more streams. */
  constructor(session: ClientHttp2Session, { path, headers }: GrpcCall) {
    try {
      this.#stream = session.request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
        [constants.HTTP2_HEADER_TE]: 'trailers',
        ...headers,
      });
    } catch (error) {
      throw new EtcdError(messageOf(error));
    }
    this.#stream.on('response', (received) => this.#takeStatus(received));
    this.#stream.on('trailers', (received) => this.#takeStatus(received));
    // No action here, because `messages` throws the error.
    this.#stream.on('error', () => undefined);
  }

  send(message: Buffer, { isLast = false } = {}): void {
    if (this.#stream.destroyed) return;
    const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
    frame[0] = 0;
    frame.writeUInt32BE(message.length, 1);
    message.copy(frame, PREFIX_BYTES);
    if (isLast) this.#stream.end(frame);
    else this.#stream.write(frame);
  }

  /** Ends the call in the next turn; `messages` then throws `error`. Idempotent. */
  end(error: EtcdError): void {
    // The call may come from an answer whose frame Node is still reading. A reset now can free the stream of that
    // frame, and Node would write into the freed memory (nodejs/node#64113).
    setImmediate(() => this.#stream.destroy(error));
  }

  /** Yields the answers. Ends when the status is 0. Throws EtcdError for another status, or for a missing one. */
  async *messages(): AsyncGenerator<Buffer> {
    // The iterator must not reset the stream at once when a caller leaves early: such a caller calls `end`.
    const chunks: AsyncIterable<Buffer> = this.#stream.iterator({ destroyOnReturn: false });
    let parts: Buffer[] = [];
    let have = 0;
    let needed = PREFIX_BYTES;
    try {
      for await (const chunk of chunks) {
        parts.push(chunk);
        have += chunk.length;
        if (have < needed) continue;
        let rest = parts.length === 1 ? chunk : Buffer.concat(parts);
        for (needed = neededFor(rest); rest.length >= needed; needed = neededFor(rest)) {
          // A prefix with length 0 is a message without fields.
          yield rest.subarray(PREFIX_BYTES, needed);
          rest = rest.subarray(needed);
        }
        parts = [rest];
        have = rest.length;
      }
    } catch (error) {
      if (this.#status === undefined || this.#status.code === 0)
        throw error instanceof EtcdError ? error : new EtcdError(messageOf(error));
    }
    if (this.#status?.code === 0) return;
    if (this.#status === undefined) throw new EtcdError('the connection ended before the answer');
    throw new EtcdError(this.#status.message, this.#status.code);
  }

  #takeStatus(headers: IncomingHttpHeaders): void {
    const code = headers['grpc-status'];
    const http = headers[constants.HTTP2_HEADER_STATUS];
    if (typeof code === 'string')
      this.#status = {
        code: Number(code),
        message: textOf(headers['grpc-message']) || `gRPC status ${code}`,
      };
    else if (http !== undefined && Number(http) !== constants.HTTP_STATUS_OK)
      this.end(new EtcdError(`it answers with HTTP status ${http}: no etcd with API v3 is there`));
  }
}

/** How many bytes the first message needs, as far as the received bytes tell. */
function neededFor(bytes: Buffer): number {
  if (bytes.length < PREFIX_BYTES) return PREFIX_BYTES;
  const length = bytes.readUInt32BE(1);
  if (length > MAX_MESSAGE_BYTES) throw new EtcdError(`an answer of ${length} bytes is too large`);
  return PREFIX_BYTES + length;
}

function textOf(header: string | string[] | undefined): string {
  const text = Array.isArray(header) ? header.join() : (header ?? '');
  return attempt(() => decodeURIComponent(text), text);
}
