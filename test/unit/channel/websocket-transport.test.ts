/** The transport over a WebSocket: how much of it reaches the socket at once. */
import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { WebSocketTransport } from '../../../src/channel/protocol/websocket-transport.js';
import { FakeClock } from '../../support/fake-clock.js';

it('hands all messages of one turn to the socket as one piece', async () => {
  const did: string[] = [];
  const socket = { bytesRead: 0, cork: () => did.push('cork'), uncork: () => did.push('uncork') };
  const webSocket = Object.assign(new EventEmitter(), {
    send: (data: string) => did.push(data),
    bufferedAmount: 0,
    ping: () => undefined,
    close: () => undefined,
    terminate: () => undefined,
  });
  const clock = new FakeClock();
  const transport = new WebSocketTransport({
    webSocket,
    socket,
    silenceMs: 60_000,
    peer: 'node alpha',
    clock,
  });
  const beat = '{"type":"beat"}';
  transport.send({ type: 'beat' });
  transport.send({ type: 'beat' });
  await clock.settle();
  transport.send({ type: 'beat' });
  await clock.settle();
  expect(did).toEqual(['cork', beat, beat, 'uncork', 'cork', beat, 'uncork']);
});
