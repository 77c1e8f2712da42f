/** What an endpoint may rely on, whatever the client does: order, bounds, and silence after the close. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { OpenSocket } from '../../../src/api/sockets/open-socket.js';
import { frame } from '../../support/api/raw-frames.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { testAccess } from '../../support/api/test-access.js';
import { until } from '../../support/until.js';

const access = testAccess('boss');
const http = createServer();
const server = new WebSocketServer({ server: http });
let client: SocketClient;
let socket: OpenSocket;

beforeEach(async () => {
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const opened = new Promise<OpenSocket>((resolve) => {
    server.once('connection', (websocket, { socket: connection }: IncomingMessage) =>
      resolve(new OpenSocket({ websocket, connection, access, address: '127.0.0.1' })),
    );
  });
  const address = http.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  client = await SocketClient.open(`http://127.0.0.1:${port}/`);
  socket = await opened;
});
afterEach(async () => {
  client.websocket.terminate();
  await client.closed;
  await new Promise((resolve) => http.close(resolve));
});

const unmasked = (text: string): Buffer => frame(text, { isMasked: false });

it('sends texts and prebuilt frames in the order they were given', async () => {
  socket.sendText('1');
  socket.sendFrames(Buffer.concat([unmasked('2'), unmasked('3'), unmasked('x'.repeat(70_000))]));
  socket.sendText('4');
  await until(() => expect(client.texts).toEqual(['1', '2', '3', 'x'.repeat(70_000), '4']));
});

it('keeps the frames that come before its listener, and hands them over in order', async () => {
  client.send('a');
  client.send('b');
  client.websocket.ping();
  await once(client.websocket, 'pong');
  const heard: string[] = [];
  socket.onText((text) => heard.push(text));
  expect(heard).toEqual(['a', 'b']);
  client.send('c');
  await until(() => expect(heard).toEqual(['a', 'b', 'c']));
});

it('closes with 1008 when 64 KiB of frames came and nobody listens', async () => {
  for (let count = 0; count < 66; count++) client.send('x'.repeat(1023));
  expect(await client.closed).toEqual({ code: 1008, reason: 'too many frames, too early' });
  expect(socket.signal.aborted).toBe(true);
});

it('hears nothing more once it was closed, also what was sent before the client knew', async () => {
  const heard: string[] = [];
  socket.onText((text) => {
    heard.push(text);
    socket.close(1000, 'enough');
  });
  client.send('first');
  client.send('second');
  expect(await client.closed).toEqual({ code: 1000, reason: 'enough' });
  expect(heard).toEqual(['first']);
});

it('cuts a reason to 123 bytes, never through a character', async () => {
  socket.close(1000, `${'x'.repeat(121)}äöü`);
  expect(await client.closed).toEqual({ code: 1000, reason: `${'x'.repeat(121)}ä` });
});

it('does nothing and throws nothing after it has closed, whoever closed it', async () => {
  client.websocket.terminate();
  await once(socket.signal, 'abort');
  socket.sendText('x');
  socket.sendFrames(unmasked('x'));
  socket.close(1000, 'again');
  socket.revoke('again');
  socket.beat();
  await socket.whenDrained();
});

it('is drained when a quarter of a mebibyte or less waits, and when it closes', async () => {
  await socket.whenDrained();
  client.websocket.pause();
  while (socket.bufferedBytes < 1024 * 1024) socket.sendText('x'.repeat(64 * 1024));
  let isDrained = false;
  const drained = socket.whenDrained().then(() => {
    isDrained = true;
  });
  await new Promise(setImmediate);
  expect(isDrained).toBe(false);
  client.websocket.resume();
  await drained;
  expect(socket.bufferedBytes).toBeLessThanOrEqual(256 * 1024);
  client.websocket.pause();
  while (socket.bufferedBytes < 1024 * 1024) socket.sendText('x'.repeat(64 * 1024));
  const closed = socket.whenDrained();
  client.websocket.terminate();
  await closed;
});

it('stays open between two beats while the client reads slowly what waits for it', async () => {
  client.websocket.pause();
  while (socket.bufferedBytes < 8 * 1024 * 1024) socket.sendText('x'.repeat(64 * 1024));
  socket.beat();
  const before = socket.bufferedBytes;
  client.websocket.resume();
  await until(() => expect(socket.bufferedBytes).toBeLessThan(before));
  client.websocket.pause();
  socket.beat();
  expect(socket.signal.aborted).toBe(false);
});

it('is given up at the second beat when the client neither sends nor reads', async () => {
  client.websocket.pause();
  while (socket.bufferedBytes < 1024 * 1024) socket.sendText('x'.repeat(64 * 1024));
  await new Promise(setImmediate);
  socket.beat();
  socket.beat();
  await until(() => expect(socket.signal.aborted).toBe(true));
});

it('does not end a client whose bytes the endpoint is still taking', async () => {
  let take: () => void = () => undefined;
  let isHeard = false;
  socket.onBinary(() => {
    isHeard = true;
    return new Promise((resolve) => {
      take = resolve;
    });
  });
  client.websocket.send(Buffer.from('typed'));
  await until(() => expect(isHeard).toBe(true));
  for (let beats = 0; beats < 3; beats++) socket.beat();
  expect(socket.signal.aborted).toBe(false);
  expect(client.websocket.readyState).toBe(client.websocket.OPEN);
  const heard: string[] = [];
  socket.onText((text) => heard.push(text));
  client.send('and then');
  take();
  await until(() => expect(heard).toEqual(['and then']));
});
