/**
 * Serves one client of an attached terminal. While the client is behind, this end requests no more output. So the
 * waiting output stays bounded here, on the node, and in the run's owner, which in the end detaches the client.
 */
import { z } from 'zod';
import { attempt } from '../../model/plain/attempt.js';
import type { AttachEndReason, Attachment } from '../../model/run/attachment.js';
import { wholeNumber } from '../http/route.js';
import { type ApiSocket, CLOSE } from '../sockets/socket.js';

const MAX_LENGTH = 1000;

const length = z.int().min(1).max(MAX_LENGTH);
export const lengthQuery = wholeNumber(1, MAX_LENGTH);

/** The text frame that a client sends when its window has a new size. */
const resizeFrame = z.object({ type: z.literal('resize'), columns: length, rows: length });

/** While more than this waits for the client, no further output is sent. */
const MAX_BUFFERED_BYTES = 512 * 1024;

const CLOSE_CODES: Readonly<Record<AttachEndReason, number>> = {
  exited: CLOSE.normal,
  left: CLOSE.normal,
  'too-slow': CLOSE.tooSlow,
  lost: CLOSE.fault,
};

/** Resolves when either side has ended. Never rejects. */
export async function serveTerminal(socket: ApiSocket, attachment: Attachment): Promise<void> {
  const close = (): void => attachment.close();
  socket.signal.addEventListener('abort', close, { once: true });
  socket.onText((text) => onText(socket, attachment, text));
  socket.onBinary((bytes) => attachment.write(bytes));
  send(socket, { type: 'attached', isTransparent: attachment.isTransparent });
  try {
    await pump(socket, attachment);
  } catch {
    socket.close(CLOSE.fault, 'unexpected fault of the server');
  }
  close();
}

async function pump(socket: ApiSocket, attachment: Attachment): Promise<void> {
  for await (const event of attachment.events()) {
    if (event.kind === 'output') socket.sendBinary(event.bytes);
    else if (event.kind === 'refused') send(socket, { type: 'refused', message: event.message });
    else {
      send(socket, { type: 'ended', reason: event.reason, message: event.message });
      socket.close(CLOSE_CODES[event.reason], event.message);
    }
    if (socket.bufferedBytes > MAX_BUFFERED_BYTES) await socket.whenDrained();
  }
}

function onText(socket: ApiSocket, attachment: Attachment, text: string): void {
  const frame = resizeFrame.safeParse(attempt(() => JSON.parse(text)));
  if (frame.success) attachment.resize({ columns: frame.data.columns, rows: frame.data.rows });
  else
    socket.close(
      CLOSE.refused,
      'a text frame must be {"type":"resize","columns":C,"rows":R}, from 1 to 1000',
    );
}

function send(socket: ApiSocket, message: object): void {
  socket.sendText(JSON.stringify(message));
}
