/** Frames made here, read by the parser of `ws`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { encodeTextFrames } from '../../../src/api/sockets/text-frames.js';

const closes: (() => void)[] = [];
afterEach(() => {
  for (const close of closes.splice(0)) close();
});

/** What a client of `ws` gets when `frames` are written to its connection. */
async function received(frames: Buffer, count: number): Promise<string[]> {
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  http.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, () => socket.write(frames));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  closes.push(() => {
    client.terminate();
    http.close();
  });
  const texts: string[] = [];
  await new Promise<void>((resolve, reject) => {
    client.on('error', reject);
    client.on('close', () => reject(new Error('the client refused the frames')));
    client.on('message', (data, isBinary) => {
      texts.push(isBinary ? '<binary>' : data.toString());
      if (texts.length === count) resolve();
    });
  });
  return texts;
}

it('arrive as the texts that they were made of, at every border of the lengths', async () => {
  const sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 65_537, 1_000_000];
  const texts = sizes.map((size) => 'x'.repeat(size));
  expect(await received(encodeTextFrames(texts), texts.length)).toEqual(texts);
});

it('carry every kind of text, counted in bytes', async () => {
  const texts = [
    'grüße',
    '💥'.repeat(40),
    'é'.repeat(63),
    '\x1b[31mred\x1b[0m',
    '\u0000',
    '日本語'.repeat(30_000),
  ];
  expect(await received(encodeTextFrames(texts), texts.length)).toEqual(texts);
});

it('show half a surrogate pair as the replacement character', async () => {
  const texts = ['a\ud83d', '\udca5b', 'end'];
  expect(await received(encodeTextFrames(texts), 3)).toEqual(['a\ufffd', '\ufffdb', 'end']);
});

it('are nothing for no texts', () => {
  expect(encodeTextFrames([])).toHaveLength(0);
});
