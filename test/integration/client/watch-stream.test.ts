/** The change stream of the client against a WebSocket server that plays the master: cuts, silence, positions, pace. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { HttpConnection } from '../../../src/client/connection/http-connection.js';
import { type StreamMessage, WatchStream } from '../../../src/client/connection/watch-stream.js';
import { EXIT } from '../../../src/command-tree/runs/client-error.js';
import { listening } from '../../support/client/tls-servers.js';
import { until } from '../../support/until.js';

let server: Server;
let sockets: WebSocketServer;
let connection: HttpConnection;
let ending: AbortController;
/** What each client has asked for, by connection. */
let asked: unknown[][];
let masters: WebSocket[];
let said: string[];

beforeEach(async () => {
  [asked, masters, said] = [[], [], []];
  ending = new AbortController();
  server = createServer();
  sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    const questions: unknown[] = [];
    asked.push(questions);
    masters.push(socket);
    socket.on('message', (data) => questions.push(JSON.parse(data.toString())));
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  const key = { kind: 'text', key: 'drv_0123456789', from: 'it' } as const;
  const target = { name: 'prod', kind: 'context', url, key, trust: { kind: 'system' } } as const;
  connection = new HttpConnection(target, { version: '0.1.0' });
});
afterEach(async () => {
  ending.abort();
  for (const client of sockets.clients) client.terminate();
  server.close();
  await once(server, 'close');
});

function open(silenceMs?: number): {
  readonly watch: WatchStream;
  readonly messages: AsyncGenerator<StreamMessage>;
} {
  const watch = new WatchStream(connection, (line) => said.push(line), silenceMs);
  return { watch, messages: watch.messages(ending.signal) };
}

const types = async (messages: AsyncGenerator<StreamMessage>, count: number): Promise<string[]> => {
  const found: string[] = [];
  while (found.length < count) {
    const { value } = await messages.next();
    if (value !== undefined) found.push(value.type);
  }
  return found;
};
const snapshot = (revision: number, last: boolean) => ({
  type: 'snapshot',
  topic: 'nodes',
  epoch: 'e1',
  revision,
  first: true,
  last,
  put: [],
});

it('goes on in each topic where its reader was, but not within half a snapshot', async () => {
  const { watch, messages } = open();
  watch.subscribe('nodes', () => ({ filter: { node: ['n1'] } }));
  const first = types(messages, 2);
  await until(() => expect(asked[0]).toEqual([{ subscribe: 'nodes', filter: { node: ['n1'] } }]));
  masters[0]?.send(JSON.stringify([snapshot(5, false), { type: 'novelty' }]));
  expect(await first).toEqual(['open', 'snapshot']);
  masters[0]?.terminate();
  const second = types(messages, 3);
  await until(() => expect(asked[1]).toEqual([{ subscribe: 'nodes', filter: { node: ['n1'] } }]));
  const changes = { type: 'changes', topic: 'nodes', epoch: 'e1', revision: 9, put: [], gone: [] };
  masters[1]?.send(JSON.stringify([snapshot(8, true), changes]));
  expect(await second).toEqual(['open', 'snapshot', 'changes']);
  masters[1]?.terminate();
  void messages.next();
  await until(() => expect(asked).toHaveLength(3));
  void messages.next();
  const resume = { epoch: 'e1', revision: 9 };
  await until(() => expect(asked[2]).toEqual([{ subscribe: 'nodes', filter: { node: ['n1'] }, resume }]));
});

it('takes a master that says nothing for lost', async () => {
  const { messages } = open(100);
  expect(await types(messages, 1)).toEqual(['open']);
  expect(await types(messages, 1)).toEqual(['open']);
  expect(said).toEqual([
    'the connection to prod was lost (nothing was heard for 0.1 s): trying again',
    expect.stringMatching(/^connected to prod again after /),
  ]);
});

it('stands still with its reader, and shows life meanwhile', async () => {
  const { messages } = open(2000);
  expect(await types(messages, 1)).toEqual(['open']);
  await until(() => expect(masters).toHaveLength(1));
  let pings = 0;
  masters[0]?.on('ping', () => pings++);
  const next = types(messages, 1);
  masters[0]?.send(JSON.stringify([{ type: 'note', topic: 'log:a', text: '1' }]));
  await next;
  const frame = JSON.stringify([{ type: 'note', topic: 'log:a', text: 'x'.repeat(256 * 1024) }]);
  for (let count = 0; count < 160; count++) masters[0]?.send(frame);
  await until(() => expect(pings).toBeGreaterThan(0));
  expect(masters[0]?.bufferedAmount).toBeGreaterThan(16 * 1024 * 1024);
  expect(await types(messages, 160)).toEqual(Array(160).fill('note'));
  expect(said).toEqual([]);
});

it('fails at once when the first connection does, and later when the master refuses', async () => {
  const { messages } = open();
  expect(await types(messages, 1)).toEqual(['open']);
  sockets.removeAllListeners();
  server.removeAllListeners('upgrade');
  server.on('upgrade', (_request, socket) => {
    const body = '{"error":"key ops was revoked"}';
    socket.end(
      `HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
  });
  const refused = types(messages, 1);
  refused.catch(() => undefined);
  masters[0]?.terminate();
  await expect(refused).rejects.toMatchObject({ exitCode: EXIT.denied });
  server.removeAllListeners('upgrade');
  server.on('upgrade', (_request, socket) =>
    socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
  );
  await expect(types(open().messages, 1)).rejects.toMatchObject({
    exitCode: EXIT.failed,
    message:
      'prod does not have the change stream, which this command needs: its Drover is older than this client',
  });
});

it('takes no other talk for the change stream', async () => {
  const { messages } = open();
  expect(await types(messages, 1)).toEqual(['open']);
  await until(() => expect(masters).toHaveLength(1));
  masters[0]?.send('hello');
  await expect(types(messages, 1)).rejects.toMatchObject({ exitCode: EXIT.failed });
});

it('ends at once when it is told to, also while the master does not answer', async () => {
  server.removeAllListeners('upgrade');
  const asking = once(server, 'upgrade');
  const first = open().messages.next();
  const [{ socket }] = (await asking) as [IncomingMessage];
  try {
    ending.abort();
    expect(await first).toEqual({ done: true, value: undefined });
  } finally {
    socket.destroy();
  }
});
