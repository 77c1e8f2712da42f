/** Clients that hold connections, drip, flood or send nonsense. The API stays up, and answers the others. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionLimit } from '../../../src/api/http/connection-limit.js';
import type { ApiLimits } from '../../../src/api/server.js';
import { AcceptedSockets } from '../../support/api/accepted-sockets.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { openSocket } from '../../support/api/raw-http.js';
import { until } from '../../support/until.js';

/** An idle machine takes a millisecond or two. An API that is blocked does not answer at all. */
const QUICK_MS = 30_000;
const PING = 'GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n';

let world: ApiWorld;
let ends: AcceptedSockets;
const sockets: Socket[] = [];

async function start(limits: Partial<ApiLimits>): Promise<void> {
  world = await new ApiWorld({ limits }).start();
  // The watch would be most of the load.
  world.answers.stop();
  await world.server.start();
  ends = new AcceptedSockets();
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
}
afterEach(async () => {
  ends.stop();
  for (const socket of sockets.splice(0)) socket.destroy();
  await world.stop();
});

async function connections(count: number): Promise<Socket[]> {
  const made = Array.from({ length: count }, () => openSocket(world.server.address?.port ?? 0));
  for (const socket of made) socket.on('error', () => {});
  sockets.push(...made);
  await Promise.all(made.map((socket) => once(socket, 'connect')));
  return made;
}

/** Sends a request on a new connection, as another client would. */
async function expectQuickAnswer(): Promise<void> {
  const before = performance.now();
  const response = await fetch(`${world.url}/ping`, { headers: { connection: 'close' } });
  expect(response.status).toBe(200);
  expect(performance.now() - before).toBeLessThan(QUICK_MS);
}
function textOf(socket: Socket): () => string {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('latin1');
}
const endOf = (socket: Socket): Promise<unknown> => once(socket.resume(), 'close');

describe('the API answers at once', () => {
  it('beside 500 connections that say nothing, which are closed when their time is over', async () => {
    await start({ headersMs: 3000 });
    const idle = await connections(500);
    const ends = idle.map(endOf);
    await expectQuickAnswer();
    await Promise.all(ends);
  });

  it('beside 500 kept connections between two requests', async () => {
    await start({ headersMs: 10_000 });
    const kept = await connections(500);
    const texts = kept.map(textOf);
    for (const socket of kept) socket.write(PING);
    await until(() => expect(texts.every((text) => text().includes('HTTP/1.1 200'))).toBe(true));
    await expectQuickAnswer();
    expect(kept.every(({ destroyed }) => !destroyed)).toBe(true);
  });

  it('beside 300 clients that drip their headers, each of which gets 408', async () => {
    await start({ headersMs: 2000 });
    const slow = await connections(300);
    const texts = slow.map(textOf);
    const ends = slow.map(endOf);
    for (const socket of slow) socket.write('GET /api/ping HTTP/1.1\r\nHost: x\r\nX-Drip: ');
    const drip = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write('x');
    }, 100);
    try {
      await expectQuickAnswer();
      await Promise.all(ends);
    } finally {
      clearInterval(drip);
    }
    expect(texts.filter((text) => text().startsWith('HTTP/1.1 408')).length).toBe(300);
  });

  it('beside 10,000 requests in flight, and answers each of them', async () => {
    await start({ headersMs: 10_000 });
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.hold = () => held;
    const request = [
      'PATCH /api/instances/aaaaaa/lifecycle?target=stop HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${world.admin}`,
      '',
      '',
    ].join('\r\n');
    const busy = await connections(100);
    const texts = busy.map(textOf);
    for (const socket of busy) socket.write(request.repeat(100));
    await expectQuickAnswer();
    expect(texts.every((text) => text() === '')).toBe(true);
    release();
    await until(() => expect(world.lifecycles).toHaveLength(10_000));
    const answers = (text: string): number => text.split('HTTP/1.1 200').length - 1;
    await until(() => expect(texts.every((text) => answers(text()) === 100)).toBe(true));
    await expectQuickAnswer();
  });

  it('beside garbage: each of 300 clients gets 400 or nothing, and is closed', async () => {
    await start({ headersMs: 3000 });
    const noise = noiseOf(7);
    const broken = await connections(300);
    const texts = broken.map(textOf);
    const ends = broken.map(endOf);
    for (const socket of broken) socket.end(noise(200));
    await expectQuickAnswer();
    await Promise.all(ends);
    for (const text of texts)
      expect(text()).toMatch(/^(?:HTTP\/1\.1 4\d\d [\s\S]*\{"error":"[^"]+","code":"DRV_[A-Z_]+"\})?$/);
    expect(world.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it('beside clients that send requests and never read an answer, which are closed in the end', async () => {
    await start({ silenceMs: 1000 });
    const deaf = await connections(50);
    for (const socket of deaf) socket.pause().write(PING.repeat(40));
    await expectQuickAnswer();
    const [stuck] = await connections(1);
    if (stuck === undefined) throw new Error('no connection');
    // Until there are more answers than the kernel keeps for a client that does not read.
    const end = await until(() => ends.of(stuck.pause()));
    while (end.writableLength === 0 && !end.destroyed) {
      stuck.write(PING.repeat(500));
      await new Promise(setImmediate);
    }
    await until(() => expect(end.destroyed).toBe(true));
    await expectQuickAnswer();
  });
});

describe('connections', () => {
  beforeEach(() => start({ headersMs: 10_000 }));

  it('are bounded by what the process may open, 16,384 at most', () => {
    const limits = (files: string): string =>
      `Limit  Soft  Hard  Units\nMax open files            ${files}  4096  files\n`;
    expect(['20000', '1024', '1048576', 'unlimited'].map((files) => connectionLimit(limits(files)))).toEqual([
      10_000, 512, 16_384, 16_384,
    ]);
  });
});

/** Random bytes: the same for the same seed. */
function noiseOf(seed: number): (length: number) => Buffer {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 24;
  };
  return (length) => Buffer.from(Array.from({ length }, next));
}
