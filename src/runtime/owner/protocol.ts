/**
 * What daemon and owner say to each other over the Unix socket: length-prefixed JSON frames with an optional binary
 * body. Both sides import it. The owner's memory counts, so only types are imported here.
 * daemon -> owner: hello, then requests with an id. owner -> daemon: welcome (with all it holds) or refused, then
 * one done or failed per request, and exits as they happen. A new daemon's hello replaces the old daemon.
 * A connection that begins with attach instead is one attached terminal: output goes one way, input and sizes the other,
 * and its end detaches. So a terminal that is not read never stands in the way of a start or an exit.
 */

import type { AttachEndReason, TerminalSize } from '../../model/run/attachment.js';
import type { LogPlace, OutputSpan } from '../../model/run/past-exit.js';

/** Raised when a message changes its meaning. Owner and daemon with the same number may be of different versions. */
export const OWNER_PROTOCOL = 1;

/** Room for the largest environment that execve takes, escaped as JSON. */
const LONGEST_JSON_BYTES = 8 * 1024 * 1024;
export const LONGEST_BODY_BYTES = 64 * 1024;
const HEADER_BYTES = 8;

export interface OwnerRun {
  readonly instanceId: string;
  readonly run: number;
}

export interface OwnerExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Unix milliseconds. */
  readonly at: number;
  /** Clock ticks since boot, the unit of process start times; 0: the run ended with an earlier boot. */
  readonly ticks: number;
  /** Where the output stands in the log. Earlier owners omit it; absent too where no log could be opened. */
  readonly output?: OutputSpan | undefined;
}

export interface OwnerProcess {
  /** 0: unknown, because the session was lost while it began; only with an exit. */
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat; 0 when the process ended before it could be read, or with another boot. */
  readonly startTime: number;
  /** The process that leads the session and group, where it is another one. */
  readonly session?: { readonly pid: number; readonly startTime: number } | undefined;
}

export interface OwnerHeld extends OwnerRun, OwnerProcess {
  readonly exit: OwnerExit | null;
  /** Where its output begins in the log. Earlier owners omit it; absent too where no log could be opened. */
  readonly outputFrom?: LogPlace | undefined;
}

export interface StartRequest extends OwnerRun {
  readonly type: 'start';
  readonly id: number;
  readonly command: string;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Directories of control groups to join. Owners older than this field ignore it. */
  readonly controlGroups?: readonly string[];
  readonly log: { readonly directory: string; readonly segmentBytes: number; readonly segments: number };
}

/** Owners that do not say `attaches` in their welcome would end the connection without a word. */
export interface AttachRequest extends OwnerRun, TerminalSize {
  readonly type: 'attach';
  readonly rootId: string;
}

export type OwnerRequest =
  | { readonly type: 'hello'; readonly protocol: number; readonly rootId: string }
  | StartRequest
  /** The frame's body goes to standard input. */
  | ({ readonly type: 'write'; readonly id: number } & OwnerRun)
  | ({ readonly type: 'acknowledge'; readonly id: number } & OwnerRun)
  | AttachRequest
  /** On the connection of an attached terminal: the frame's body is typed. */
  | { readonly type: 'input' }
  | ({ readonly type: 'resize' } & TerminalSize);

export type OwnerMessage =
  | {
      readonly type: 'welcome';
      readonly protocol: number;
      readonly pid: number;
      readonly held: readonly OwnerHeld[];
      /** It knows the request attach. Earlier owners omit it. */
      readonly attaches?: boolean | undefined;
    }
  | { readonly type: 'refused'; readonly protocol: number; readonly pid: number; readonly reason: string }
  /** Another daemon took over; this connection ends. */
  | { readonly type: 'replaced' }
  /** `process` is the answer to a start. */
  | { readonly type: 'done'; readonly id: number; readonly process?: OwnerProcess }
  | { readonly type: 'failed'; readonly id: number; readonly code: string; readonly message: string }
  | ({ readonly type: 'exit'; readonly exit: OwnerExit } & OwnerRun)
  /** The answer to attach; or refusing, then the connection ends. */
  | { readonly type: 'attached'; readonly isTransparent: boolean }
  | { readonly type: 'not-attached'; readonly code: string; readonly message: string }
  /** The frame's body is output. */
  | { readonly type: 'output' }
  | { readonly type: 'input-refused'; readonly message: string }
  | { readonly type: 'ended'; readonly reason: AttachEndReason; readonly message: string };

export interface OwnerFrame {
  /** Parsed JSON, not yet checked. */
  readonly message: unknown;
  readonly body: Buffer;
}

const NO_BODY = Buffer.alloc(0);

/** Encodes a message. Throws RangeError when it is larger than the other side takes. */
export function encodeFrame(message: OwnerRequest | OwnerMessage, body: Uint8Array = NO_BODY): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  if (json.length > LONGEST_JSON_BYTES)
    throw new RangeError(`${json.length} bytes are too long for a message`);
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(json.length, 0);
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, json, body]);
}

/** Cuts a byte stream into frames; holds at most one incomplete frame. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = HEADER_BYTES;

  /** The frames that `chunk` completes. Throws RangeError or SyntaxError for bytes that no peer of ours sends. */
  push(chunk: Buffer): OwnerFrame[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const frames: OwnerFrame[] = [];
    while (this.#length >= this.#needed) {
      const bytes = this.#chunks.length === 1 ? (this.#chunks[0] ?? NO_BODY) : Buffer.concat(this.#chunks);
      const jsonEnd = HEADER_BYTES + bytes.readUInt32BE(0);
      const end = jsonEnd + bytes.readUInt32BE(4);
      if (jsonEnd > HEADER_BYTES + LONGEST_JSON_BYTES || end - jsonEnd > LONGEST_BODY_BYTES)
        throw new RangeError('a frame is longer than the protocol allows');
      this.#needed = end;
      this.#chunks = [bytes];
      if (bytes.length < end) break;
      frames.push({
        message: JSON.parse(bytes.toString('utf8', HEADER_BYTES, jsonEnd)),
        body: bytes.subarray(jsonEnd, end),
      });
      this.#chunks = [bytes.subarray(end)];
      this.#length = bytes.length - end;
      this.#needed = HEADER_BYTES;
    }
    return frames;
  }
}
