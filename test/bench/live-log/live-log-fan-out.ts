/**
 * Fan-out alone: the lines of a log to many sockets in this process, as live logs do it and as a naive loop does it,
 * one `send` of `ws` for each line and client. The clients read and throw away, in a process of their own.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type WebSocket, WebSocketServer } from 'ws';
import { KeyAccess } from '../../../src/access/access.js';
import { LogChunk } from '../../../src/api/live-log/live-log-chunk.js';
import { OpenSocket } from '../../../src/api/sockets/open-socket.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { withoutLimits } from '../../../src/model/access/api-key.js';
import type { Row } from '../table.js';
import { percentile } from '../world.js';

const LINES = 50_000;
/** What 10,000 lines a second give in the 20 ms between two looks at the file. */
const LINES_AT_ONCE = 200;
const ROUNDS = 5;
const FORM = { isAnsi: false, isNumbered: false, isTimed: false };

interface Client {
  readonly websocket: WebSocket;
  readonly connection: Socket;
  readonly open: OpenSocket;
}

export async function benchFanOut(clients: number): Promise<Row> {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  const connected: Client[] = [];
  sockets.on('connection', (websocket: WebSocket, { socket: connection }: IncomingMessage) => {
    const grant = withoutLimits('ALL');
    const access = new KeyAccess({ label: 'bench', keyHash: '', grant, clock: new SystemClock() });
    connected.push({
      websocket,
      connection,
      open: new OpenSocket({ websocket, connection, access, address: '' }),
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const drain = fork(fileURLToPath(new URL('./drain-clients.js', import.meta.url)), [
    String(port),
    String(clients),
  ]);
  try {
    await once(drain, 'message');
    return await compare(connected);
  } finally {
    drain.kill();
    sockets.close();
    http.close();
  }
}

/** In turns, so that a machine that slows down slows both. */
async function compare(clients: readonly Client[]): Promise<Row> {
  const lines = Array.from({ length: LINES }, (_, index) => `${index} ${'x'.repeat(75)}`);
  const [drover, naive]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    naive.push(await secondsOf(clients, () => sendEach(clients, lines)));
    drover.push(await secondsOf(clients, () => sendChunks(clients, lines)));
  }
  const [ours, theirs] = [drover, naive].map((seconds) => LINES / percentile(seconds, 0.5));
  const ratio = (ours ?? 0) / (theirs ?? 1);
  return {
    figure: `fan-out of lines to ${clients.length} clients, lines/s of CPU, median of ${ROUNDS}`,
    value: `${Math.round(ours ?? 0)} (${ratio.toFixed(1)} x)`,
    baseline: `one ws.send per line and client ${Math.round(theirs ?? 0)}`,
    target: '>= 8 x',
    ok: ratio >= 8,
  };
}

/** CPU seconds of this process until the system has taken everything. */
async function secondsOf(clients: readonly Client[], send: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await send();
  await drained(clients);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function sendEach(clients: readonly Client[], lines: readonly string[]): Promise<void> {
  for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
    for (const line of lines.slice(from, from + LINES_AT_ONCE))
      for (const { websocket } of clients) websocket.send(line);
    await drained(clients);
  }
}

async function sendChunks(clients: readonly Client[], lines: readonly string[]): Promise<void> {
  for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
    const batch = {
      kind: 'lines',
      firstLine: from + 1,
      lines: lines.slice(from, from + LINES_AT_ONCE),
    } as const;
    const chunk = new LogChunk(batch);
    for (const { open } of clients) open.sendFrames(chunk.frames(chunk.first, chunk.next, FORM));
    await drained(clients);
  }
}

/** Resolves when the system has taken all bytes. There is no `drain` for fewer than the high-water mark. */
async function drained(clients: readonly Client[]): Promise<void> {
  for (const { connection } of clients)
    if (connection.writableLength > 0)
      await new Promise<void>((resolve) => connection.write('', () => resolve()));
}
