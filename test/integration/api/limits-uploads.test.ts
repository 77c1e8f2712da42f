/**
 * Bodies as streams: any content type, a bound on size and on pauses, none on the whole time. What is left unread
 * is thrown away.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiWorld } from '../../support/api/api-world.js';
import { bodyOf, exchange, openSocket, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';
import { until } from '../../support/until.js';

const MIB = 1024 * 1024;
let world: ApiWorld;
const sockets: Socket[] = [];

/**
 * The pause limit is longer than a loaded machine delays bytes. Tests of an upload that stands still set a short
 * one.
 */
async function start(uploadIdleMs = 60_000): Promise<void> {
  world = await new ApiWorld({
    limits: { requestMs: 300, uploadIdleMs },
    configuration: { maxUploadMB: 1 },
  }).start();
  await world.server.start();
}
async function startImpatient(): Promise<void> {
  await world.stop();
  await start(1500);
}
beforeEach(() => start());
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await world.stop();
});

const port = (): number => world.server.address?.port ?? 0;
const head = (path: string, ...lines: string[]): string =>
  [
    `POST /api/templates/g/t/files/${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${world.admin}`,
    ...lines,
    '',
    '',
  ].join('\r\n');
const CLOSE = 'Connection: close';

function upload(path: string, body: string | Buffer, contentType?: string): Promise<Response> {
  return fetch(`${world.url}/templates/g/t/files/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.admin}`,
      ...(contentType !== undefined && { 'content-type': contentType }),
    },
    body: Buffer.from(body),
  });
}
async function contentOf(path: string): Promise<Buffer> {
  return Buffer.from(await (await world.call('GET', `/templates/g/t/files/${path}`)).arrayBuffer());
}
function open(text: string): Socket {
  const socket = openSocket(port());
  socket.on('error', () => {});
  sockets.push(socket);
  socket.write(text);
  return socket;
}

describe('a body taken as a stream', () => {
  it('may be of any content type, also of one that is none, and is kept byte for byte', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 0xc3, 0x28]);
    const types = [
      undefined,
      'text/plain',
      'application/json',
      'application/zip',
      ';',
      'x',
      'a/b; c',
      'text/plain garbage',
    ];
    for (const [index, type] of types.entries()) {
      expect([type, (await upload(`f${index}`, bytes, type)).status]).toEqual([type, 201]);
      expect(await contentOf(`f${index}`)).toEqual(bytes);
    }
  });

  it('may be empty, with a length or without one', async () => {
    expect((await upload('empty', '')).status).toBe(201);
    expect(statusOf(await exchange(port(), head('none', CLOSE)))).toBe(201);
    expect(await contentOf('none')).toHaveLength(0);
  });

  it('may be as large as maxUploadMB; one byte more is 413, before it is read where the length says so', async () => {
    expect((await upload('full', Buffer.alloc(MIB))).status).toBe(201);
    const declared = await exchange(port(), head('over', CLOSE, `Content-Length: ${MIB + 1}`));
    expect([statusOf(declared), bodyOf(declared)]).toEqual([
      413,
      refusal(expect.stringContaining('maxUploadMB')),
    ]);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const text = `${head('over', 'Transfer-Encoding: chunked')}${chunk.repeat(16)}1\r\nx\r\n0\r\n\r\n`;
    const socket = open(text);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    expect((await world.call('GET', '/templates/g/t/files/over')).status).toBe(404);
  });

  it('may take longer than a JSON body, as long as bytes come', async () => {
    const socket = open(head('slow', CLOSE, 'Content-Length: 12'));
    const answer = once(socket, 'data');
    const before = performance.now();
    for (let byte = 0; byte < 12; byte++) {
      socket.write('x');
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 201 /);
    expect(performance.now() - before).toBeGreaterThan(300);
  });

  it('that stops coming is answered 408, and leaves nothing behind', async () => {
    await startImpatient();
    const socket = open(head('stuck', 'Content-Length: 12'));
    socket.write('half');
    const [answer] = await once(socket, 'data');
    expect([statusOf(String(answer)), bodyOf(String(answer))]).toEqual([
      408,
      refusal(expect.stringContaining('stopped coming')),
    ]);
    await once(socket, 'close');
    expect((await world.call('GET', '/templates/g/t/files/stuck')).status).toBe(404);
  });

  it('whose sender goes away half-way leaves nothing behind', async () => {
    const socket = open(head('gone', 'Content-Length: 1000', 'Expect: 100-continue'));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /);
    socket.write('half');
    socket.resetAndDestroy();
    await until(async () => expect((await upload('gone', 'whole')).status).toBe(201));
    expect(String(await contentOf('gone'))).toBe('whole');
  });

  it('that is not wanted is answered at once, and what still comes does not hold the connection', async () => {
    await startImpatient();
    expect((await upload('there', 'x')).status).toBe(201);
    const socket = open(head('there', `Content-Length: ${MIB}`));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 409 /);
    await once(socket, 'close');
    const unknown = open(head('x', `Content-Length: ${MIB}`).replace(world.admin, 'nobody'));
    expect(String((await once(unknown, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /);
    await once(unknown, 'close');
  });

  it('keeps its connection when it was read, or comes to its end soon', async () => {
    const socket = open(`${head('one', 'Content-Length: 3')}abc`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 201 /);
    socket.write(head('one', 'Content-Length: 3'));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 409 /);
    socket.write(`abc${head('two', 'Content-Length: 3')}abc`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 201 /);
  });
});
