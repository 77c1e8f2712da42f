/**
 * The messages of an engine's log, a place in that log, and the search for that place. Engines number no messages: a
 * message is known by its stream and instant. Pieces of one long line share their instant, so they are counted.
 */
import { z } from 'zod';

const NEWLINE = 0x0a;
const NS_PER_S = 1_000_000_000n;
/** Messages of the two streams may be out of order by up to this time. */
const SLACK_NS = 2n * NS_PER_S;

export const engineCursorSchema = z.object({
  /**
   * The start of the next request for the log, Unix seconds with a fraction: early enough to include the cursor's
   * message again.
   */
  since: z.string(),
  /** The stream of the last copied message. */
  stream: z.int(),
  at: z.string(),
  /** The message's number among the messages of its stream and instant, counted from 1. */
  seen: z.int(),
  /**
   * The latest instant of all messages up to the cursor. It may be later than `at`: all pieces of a long line carry
   * the instant of the line's first byte.
   */
  latest: z.string(),
});
export type EngineCursor = Readonly<z.output<typeof engineCursorSchema>>;

interface Seen {
  readonly at: string;
  readonly count: number;
  /** True while the line is unfinished: its next piece has the same instant. */
  readonly isOpen: boolean;
}

/** Follows a log from its beginning, or from the `since` of a cursor, and knows the place of the last message. */
export class CursorTracker {
  readonly #streams = new Map<number, Seen>();
  #last: number | undefined;

  note({ stream, at, payload }: LogMessage): void {
    const before = this.#streams.get(stream);
    const count = before?.at === at ? before.count + 1 : 1;
    this.#streams.set(stream, { at, count, isOpen: payload.at(-1) !== NEWLINE });
    this.#last = stream;
  }

  /** The place after the last message; undefined: there was no message. */
  cursor(): EngineCursor | undefined {
    const stream = this.#last;
    const seen = stream === undefined ? undefined : this.#streams.get(stream);
    if (stream === undefined || seen === undefined) return undefined;
    const streams = [...this.#streams.values()];
    const first = [seen, ...streams.filter(({ isOpen }) => isOpen)].reduce(earlier).at;
    const latest = streams.reduce(later).at;
    const since = toUnixSeconds(nanosecondsOf(first) - SLACK_NS);
    return { since, stream, at: seen.at, seen: seen.count, latest };
  }
}

function earlier(a: Seen, b: Seen): Seen {
  return nanosecondsOf(b.at) < nanosecondsOf(a.at) ? b : a;
}

function later(a: Seen, b: Seen): Seen {
  return nanosecondsOf(b.at) > nanosecondsOf(a.at) ? b : a;
}

/** Tells messages up to a cursor from messages after it. */
export class CursorAlignment {
  readonly #cursor: EngineCursor | undefined;
  readonly #at: bigint;
  readonly #latest: bigint;
  #count = 0;
  #isPast: boolean;
  #isGap = false;

  constructor(cursor: EngineCursor | undefined) {
    this.#cursor = cursor;
    this.#at = cursor === undefined ? 0n : nanosecondsOf(cursor.at);
    this.#latest = cursor === undefined ? 0n : nanosecondsOf(cursor.latest);
    this.#isPast = cursor === undefined;
  }

  /** True when the cursor's message was no longer in the log, so some output may be missing. */
  get isGap(): boolean {
    return this.#isGap;
  }

  /** True when the cursor was found or passed. */
  get isPast(): boolean {
    return this.#isPast;
  }

  /** True for a message that was copied before. Call it for each message, in order. */
  isOld(message: LogMessage): boolean {
    const cursor = this.#cursor;
    if (this.#isPast || cursor === undefined) return false;
    if (message.stream === cursor.stream && message.at === cursor.at) {
      this.#count++;
      this.#isPast = this.#count === cursor.seen;
      return true;
    }
    // Within a stream instants never decrease; across the streams the order may differ by SLACK_NS.
    const last = message.stream === cursor.stream ? this.#at : this.#latest + SLACK_NS;
    if (nanosecondsOf(message.at) <= last) return true;
    this.#isPast = true;
    this.#isGap = true;
    return false;
  }
}

/** Nanoseconds since 1970; 0 for text that is no instant. JavaScript dates hold only milliseconds. */
export function nanosecondsOf(at: string): bigint {
  const parts = /^([^.]+?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(at);
  const ms = parts === null ? Number.NaN : Date.parse(`${parts[1]}${parts[3]}`);
  return Number.isNaN(ms) ? 0n : BigInt(ms) * 1_000_000n + BigInt((parts?.[2] ?? '').padEnd(9, '0'));
}

function toUnixSeconds(nanoseconds: bigint): string {
  const positive = nanoseconds < 0n ? 0n : nanoseconds;
  return `${positive / NS_PER_S}.${String(positive % NS_PER_S).padStart(9, '0')}`;
}

/*
 * A frame of an engine's log has a head of eight bytes (stream, length) and one message, which begins with its instant.
 */

const HEAD_BYTES = 8;
/** Far above the 16 KiB at which engines cut a message: a length above this limit means that the bytes are no log. */
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

/** Splits a log into its messages. Joins messages that were cut between two reads. */
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
