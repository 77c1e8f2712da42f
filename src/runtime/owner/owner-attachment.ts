/** The daemon's side of one attached terminal: a connection of its own to the owner that holds the run. */
import { connect, type Socket } from 'node:net';
import type { Clock } from '../../loop/clock.js';
import { DroverError, sentError } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import type { AttachEvent, Attachment, TerminalSize } from '../../model/run/attachment.js';
import { unavailable } from '../failures.js';
import { parseOwnerMessage } from './owner-messages.js';
import {
  type AttachRequest,
  encodeFrame,
  FrameReader,
  LONGEST_BODY_BYTES,
  type OwnerMessage,
} from './protocol.js';

/** How long to wait for the owner's answer; usually a view of a session begins within milliseconds. */
const ANSWER_TIMEOUT_MS = 10_000;
const MOST_UNSENT_BYTES = 1024 * 1024;

interface OwnerAttachOptions {
  readonly socketPath: string;
  /** The owner's name in messages. */
  readonly title: string;
  readonly request: AttachRequest;
  readonly clock: Clock;
}

interface Received {
  readonly message: OwnerMessage;
  readonly body: Buffer;
}

/** Attaches a terminal. Throws the owner's refusal, or DRV_RUNTIME_UNAVAILABLE. */
export async function attachToOwner(options: OwnerAttachOptions): Promise<Attachment> {
  const { socketPath, title, request, clock } = options;
  const socket = connect(socketPath);
  const timeout = clock.setTimer(ANSWER_TIMEOUT_MS, () => socket.destroy());
  const received = receive(socket);
  try {
    socket.write(encodeFrame(request));
    const first = await received.next();
    const message = first.done === true ? undefined : first.value.message;
    if (message?.type === 'attached') return new OwnerAttachment(socket, received, message.isTransparent);
    throw refusalOf(message, title);
  } catch (error) {
    socket.destroy();
    if (error instanceof DroverError) throw error;
    throw unavailable(`cannot reach ${title}: ${publicMessage(error)}`);
  } finally {
    timeout.cancel();
  }
}

class OwnerAttachment implements Attachment {
  readonly isTransparent: boolean;
  readonly #socket: Socket;
  readonly #received: AsyncGenerator<Received>;

  constructor(socket: Socket, received: AsyncGenerator<Received>, isTransparent: boolean) {
    this.#socket = socket;
    this.#received = received;
    this.isTransparent = isTransparent;
  }

  /** Yields the owner's messages. While the caller does not read, they wait in the owner, which bounds them. */
  async *events(): AsyncGenerator<AttachEvent> {
    try {
      for await (const { message, body } of this.#received) {
        if (message.type === 'output') yield { kind: 'output', bytes: body };
        else if (message.type === 'input-refused') yield { kind: 'refused', message: message.message };
        else if (message.type === 'ended') {
          yield { kind: 'ended', reason: message.reason, message: message.message };
          return;
        }
      }
    } catch {
      // The connection broke off.
    } finally {
      this.close();
    }
    yield { kind: 'ended', reason: 'lost', message: 'the connection to the instance broke; attach again' };
  }

  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += LONGEST_BODY_BYTES)
      this.#send(encodeFrame({ type: 'input' }, bytes.subarray(at, at + LONGEST_BODY_BYTES)));
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#send(encodeFrame({ type: 'resize', columns, rows }));
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Sends a frame. An owner always reads and bounds what it keeps, but a stopped owner must not fill our memory. */
  #send(frame: Buffer): void {
    if (this.#socket.writableLength > MOST_UNSENT_BYTES) this.#socket.destroy();
    else if (this.#socket.writable) this.#socket.write(frame);
  }
}

async function* receive(socket: Socket): AsyncGenerator<Received> {
  const frames = new FrameReader();
  for await (const chunk of socket)
    for (const { message, body } of frames.push(chunk)) yield { message: parseOwnerMessage(message), body };
}

function refusalOf(message: OwnerMessage | undefined, title: string): DroverError {
  if (message?.type === 'not-attached') return sentError(message, 'DRV_INTERNAL');
  if (message?.type === 'ended') return new DroverError('DRV_INSTANCE_NOT_RUNNING', message.message);
  return unavailable(`${title} does not answer`);
}
