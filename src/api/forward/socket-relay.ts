/**
 * Carries a WebSocket over a tunnel of its own, from the handshake on. Bytes pass unchanged and as fast as both sides
 * take them. When the leader goes away without a close frame, the client gets a close frame with the reason.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { NOT_TAKEN } from '../../model/plain/not-taken.js';
import { headersFor } from './client-address.js';
import { closeFrame, FrameEnds } from './frame-ends.js';
import type { Outcome } from './relay.js';

const HEAD_END = '\r\n\r\n';
const MOST_HEAD_BYTES = 64 * 1024;
const SWITCHED = /^HTTP\/1\.1 101 /;
const REFUSED = new RegExp(`\\r\\n${NOT_TAKEN}:`, 'i');
/** How long the client may take to read the last frame, and to answer it. */
const LINGER_MS = 2000;
/** The close code that makes a client connect again. */
const GOING_AWAY = 1001;
export const LEADER_GONE = 'the leader of the masters has gone: connect again';

export interface Handshake {
  readonly request: IncomingMessage;
  /** The client's connection. After the head, only `rest` was read from it. */
  readonly client: Duplex;
  readonly rest: Buffer;
}

/**
 * Carries a handshake. Resolves when the leader has answered, with `lost` when it went away before, and with
 * `not-taken` when it does not lead. In the last two cases nothing more was read from the client.
 */
export function relaySocket(tunnel: Duplex, { request, client, rest }: Handshake): Promise<Outcome> {
  return new Promise((resolve) => {
    let head = '';
    const onData = (bytes: Buffer): void => {
      head += bytes.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end < 0 && head.length < MOST_HEAD_BYTES) return;
      tunnel.off('data', onData).off('close', onLost);
      client.off('close', onGone);
      if (end >= 0 && REFUSED.test(head.slice(0, end))) {
        tunnel.destroy();
        resolve('not-taken');
        return;
      }
      const answer = Buffer.from(head, 'latin1');
      const payloadAt = end + HEAD_END.length;
      if (end >= 0 && SWITCHED.test(head)) join(tunnel, client, { answer, payloadAt });
      else joinPlain(tunnel, client, answer);
      resolve('answered');
    };
    const onLost = (): void => {
      client.off('close', onGone);
      resolve('lost');
    };
    const onGone = (): void => {
      tunnel.off('close', onLost).destroy();
      resolve('answered');
    };
    tunnel.on('data', onData).once('close', onLost);
    client.once('close', onGone);
    tunnel.write(Buffer.concat([headOf(request), rest]));
  });
}

function headOf(request: IncomingMessage): Buffer {
  const { method, url, httpVersion } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  const headers = headersFor(request, true);
  for (let index = 0; index + 1 < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return Buffer.from(lines.join('\r\n') + HEAD_END, 'latin1');
}

function join(
  tunnel: Duplex,
  client: Duplex,
  { answer, payloadAt }: { readonly answer: Buffer; readonly payloadAt: number },
): void {
  const frames = new FrameEnds();
  frames.take(answer.subarray(payloadAt));
  tunnel.on('data', (bytes: Buffer) => frames.take(bytes));
  joinPlain(tunnel, client, answer, () => {
    if (!frames.isClosed && frames.isBetween && !client.writableEnded)
      client.write(closeFrame(GOING_AWAY, LEADER_GONE));
  });
}

/** Joins the two connections. `last` may write to the client when the leader has ended. */
function joinPlain(tunnel: Duplex, client: Duplex, answer: Buffer, last: () => void = () => undefined): void {
  client.write(answer);
  tunnel.pipe(client, { end: false });
  client.pipe(tunnel);
  client.once('close', () => tunnel.destroy());
  tunnel.once('close', () => {
    if (client.destroyed) return;
    last();
    client.end();
    client.resume();
    const timer = setTimeout(() => client.destroy(), LINGER_MS).unref();
    client.once('close', () => clearTimeout(timer));
  });
}
