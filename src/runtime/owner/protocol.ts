/**
 * The protocol of daemon and owner over the Unix socket: length-prefixed JSON frames with an optional binary body. Both
 * sides import this file. It imports types only, because the owner's memory counts.
 *
 * Daemon to owner: hello, then requests with an id. Owner to daemon: welcome with all held runs, or refused; then one
 * done or failed per request, and exits as they happen. A new daemon's hello replaces the old daemon.
 *
 * A connection that begins with attach is one attached terminal: output goes one way, input and sizes the other way,
 * and its end detaches. So a terminal that is not read never delays a start or an exit.
 */

import type { z } from 'zod';
import type { TerminalSize } from '../../model/run/attachment.js';
import type { exitSchema, heldSchema, messageSchema, processSchema } from './owner-messages.js';

/**
 * The version of the protocol, raised when a message changes its meaning. Owner and daemon of different versions of
 * Drover may share a number.
 */
export const OWNER_PROTOCOL = 1;

/** Room for the largest environment that execve takes, escaped as JSON. */
const LONGEST_JSON_BYTES = 8 * 1024 * 1024;
export const LONGEST_BODY_BYTES = 64 * 1024;
const HEADER_BYTES = 8;

export interface OwnerRun {
  readonly instanceId: string;
  readonly run: number;
}

/** The types of the messages that an owner sends; owner-messages.ts describes their fields. */
export type OwnerExit = Readonly<z.output<typeof exitSchema>>;
export type OwnerProcess = Readonly<z.output<typeof processSchema>>;
export type OwnerHeld = Readonly<z.output<typeof heldSchema>>;
export type OwnerMessage = Readonly<z.output<typeof messageSchema>>;

export interface StartRequest extends OwnerRun {
  readonly type: 'start';
  readonly id: number;
  readonly command: string;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The values that are covered in the log. Absent: none. */
  readonly hidden?: readonly string[];
  /** Directories of control groups to join. */
  readonly controlGroups?: readonly string[];
  readonly log: { readonly directory: string; readonly segmentBytes: number; readonly segments: number };
}

/** A request for a terminal. */
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
  /** Sent on the connection of an attached terminal; the frame's body is typed input. */
  | { readonly type: 'input' }
  | ({ readonly type: 'resize' } & TerminalSize);

interface OwnerFrame {
  /** The parsed JSON, not checked yet. */
  readonly message: unknown;
  readonly body: Buffer;
}

const NO_BODY = Buffer.alloc(0);

/** Encodes a message. Throws RangeError when it is longer than the receiver accepts. */
export function encodeFrame(message: OwnerRequest | OwnerMessage, body: Uint8Array = NO_BODY): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  if (json.length > LONGEST_JSON_BYTES)
    throw new RangeError(`${json.length} bytes are too long for a message`);
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(json.length, 0);
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, json, body]);
}

/** Cuts a byte stream into frames. Keeps at most one incomplete frame. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = HEADER_BYTES;

  /**
   * Returns the frames that `chunk` completes. Throws RangeError or SyntaxError for bytes that no owner or daemon
   * sends.
   */
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
