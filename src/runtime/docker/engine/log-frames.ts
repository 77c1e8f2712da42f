/**
 * Splits an engine's log into messages. A frame has a head of eight bytes (stream, length) and one message, which
 * begins with its instant. Messages that were cut between two reads are joined.
 */

const HEAD_BYTES = 8;
/** Engines cut messages at 16 KiB: a larger length is a fault. */
const LONGEST_MESSAGE_BYTES = 4 * 1024 * 1024;
const SYSTEM_ERROR = 3;
const SPACE = 0x20;
const LONGEST_INSTANT = 40;

export interface LogMessage {
  /** 1: standard output, 2: standard error. */
  readonly stream: number;
  /** Instant of the first byte, as the engine writes it. All pieces of one long line share it. */
  readonly at: string;
  readonly payload: Buffer;
}

export class LogFrames {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that `chunk` completes, in order. Throws when the bytes are no log of frames. */
  *push(chunk: Buffer): Generator<LogMessage> {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const end = endOfFrame(bytes);
      if (end === undefined || end > bytes.length) break;
      const stream = bytes[0] ?? 0;
      const body = bytes.subarray(HEAD_BYTES, end);
      bytes = bytes.subarray(end);
      if (stream === SYSTEM_ERROR)
        throw new Error(`the container engine cannot read the log: ${body.toString()}`);
      yield toMessage(stream, body);
    }
    this.#rest = bytes;
  }
}

function endOfFrame(bytes: Buffer): number | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const length = bytes.readUInt32BE(4);
  if ((bytes[0] ?? 0) > SYSTEM_ERROR || length > LONGEST_MESSAGE_BYTES)
    throw new Error('the container engine sent something that is no log');
  return HEAD_BYTES + length;
}

function toMessage(stream: number, body: Buffer): LogMessage {
  const border = body.subarray(0, LONGEST_INSTANT).indexOf(SPACE);
  if (border < 0) throw new Error('the container engine sent a log without instants');
  return { stream, at: body.toString('latin1', 0, border), payload: body.subarray(border + 1) };
}
