/** The looks at a real log and at real sockets by which a process counts as ready. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followLog } from '../../../src/logs/follow.js';
import { lineAt, nextLine } from '../../../src/logs/log-range.js';
import { LogWatches } from '../../../src/logs/log-watches.js';
import { SegmentCounts } from '../../../src/logs/segment-counts.js';
import { SegmentWriter } from '../../../src/logs/segment-writer.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { localAddresses, tryAt } from '../../../src/runtime/readiness/port-check.js';
import { findLine } from '../../../src/runtime/readiness/readiness-check.js';
import { until } from '../../support/until.js';

const LOOPBACK = ['127.0.0.1', '::1'];
const NEVER = new AbortController().signal;

describe('the look at a port', () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers.splice(0))
      if (server.listening) await new Promise((resolve) => server.close(resolve));
  });

  async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }
  const answering = (status: number): Server =>
    createHttpServer((_request, response) => response.writeHead(status).end('x'.repeat(1_000_000)));

  it('holds when one of the addresses accepts, and lets go of the connection', async () => {
    const port = await listen(createServer());
    expect(await tryAt({ port }, LOOPBACK, NEVER)).toBeNull();
    await until(() => expect(sockets.size).toBe(0));
  });

  it.each([undefined, '/'])('resets no connection of a program that answers (path %s)', async (path) => {
    const errors: Error[] = [];
    let closed = 0;
    const server = createServer((socket) => {
      socket.on('error', (error) => errors.push(error));
      socket.on('close', () => closed++);
      socket.resume();
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`);
    });
    const port = await listen(server);
    for (let count = 1; count <= 200; count++) {
      expect(await tryAt({ port, path }, LOOPBACK, NEVER)).toBeNull();
      await until(() => expect(closed).toBe(count));
    }
    expect(errors).toEqual([]);
  });

  it.each([undefined, '/'])(
    'leaves a program that sends much, or little without end (path %s)',
    async (path) => {
      const much = (socket: Socket): void => {
        while (socket.writable && socket.write('x'.repeat(65_536)));
        socket.once('drain', () => much(socket));
      };
      const little = (socket: Socket): void => {
        const timer = setInterval(() => socket.write('x'), 10);
        socket.on('close', () => clearInterval(timer));
      };
      for (const send of [much, little]) {
        const server = createServer({ allowHalfOpen: true }, (socket) => {
          socket.resume();
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          send(socket);
        });
        const port = await listen(server);
        expect(await tryAt({ port, path }, LOOPBACK, NEVER)).toBeNull();
        await until(() => expect(sockets.size).toBe(0));
      }
    },
  );

  it('says that nobody listens', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await tryAt({ port }, LOOPBACK, NEVER)).toBe('the connection is refused');
    expect(await tryAt({ port, path: '/' }, LOOPBACK, NEVER)).toBe('the connection is refused');
  });

  it.each([200, 204, 301, 399])('holds with the answer %i, however long its body is', async (status) => {
    const port = await listen(answering(status));
    expect(await tryAt({ port, path: '/' }, LOOPBACK, NEVER)).toBeNull();
    await until(() => expect(sockets.size).toBe(0));
  });

  it.each([404, 500, 503])('says that the answer is %i', async (status) => {
    const port = await listen(answering(status));
    expect(await tryAt({ port, path: '/' }, LOOPBACK, NEVER)).toBe(`it answers with status ${status}`);
  });

  it('says that what answers speaks no HTTP', async () => {
    const port = await listen(createServer((socket) => socket.end('220 mail ready\r\n')));
    expect(await tryAt({ port, path: '/' }, LOOPBACK, NEVER)).toBe('what it answers is not HTTP');
  });

  it('gives up on what never answers, and lets go of it', async () => {
    const late = new AbortController();
    const port = await listen(createServer(() => late.abort()));
    expect(await tryAt({ port, path: '/' }, LOOPBACK, late.signal)).toBe('there is no answer');
    await until(() => expect(sockets.size).toBe(0));
  });

  it('goes to loopback, and beyond it only to an address of this machine', () => {
    expect(localAddresses('mc.example.com')).toEqual(LOOPBACK);
    expect(localAddresses('192.0.2.17')).toEqual(LOOPBACK);
    expect(localAddresses('127.0.0.1')).toEqual(LOOPBACK);
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal }) => !internal);
    for (const { address } of own) expect(localAddresses(address)).toEqual([...LOOPBACK, address]);
  });
});

describe('the look at a log', () => {
  let root: string;
  let directory: string;
  let writer: SegmentWriter;
  const counts = new SegmentCounts();
  const clock = new SystemClock();

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-ready-'));
    directory = join(root, 'abc123');
    writer = new SegmentWriter(directory, { segmentBytes: 4096, segments: 3 });
  });

  afterEach(() => {
    writer.close();
    rmSync(root, { recursive: true, force: true });
  });

  const find = (pattern: string, from: number, signal: AbortSignal): Promise<boolean> => {
    const options = { counts, watches: new LogWatches(), signal };
    return findLine(pattern, followLog(directory, { since: from }, options), { clock, signal });
  };

  it('finds a line that is written later, in a directory that is made later', async () => {
    const found = find('Done (*)!', 1, NEVER);
    writer.write(Buffer.from('loading\nDone (1.2'));
    writer.write(Buffer.from(' s)! Type help\n'));
    expect(await found).toBe(true);
  });

  it('finds what was written while nobody looked, over rotations, and not what earlier runs wrote', async () => {
    writer.write(Buffer.from('Done\nbye'));
    const from = await nextLine(directory, counts);
    writer.endLine();
    writer.write(Buffer.from('again\n'));
    const early = new AbortController();
    const found = find('Done', from, early.signal);
    writer.write(Buffer.from(`${'loading, please wait\n'.repeat(1000)}Done\n`));
    expect(await found).toBe(true);
    const none = new AbortController();
    const after = await nextLine(directory, counts);
    const notFound = find('Done', after, none.signal);
    none.abort();
    expect(await notFound).toBe(false);
  });

  it('knows where the next run begins, with and without an unfinished line, and with no log at all', async () => {
    expect(await nextLine(directory, counts)).toBe(1);
    writer.write(Buffer.from('one\ntwo\n'));
    expect(await nextLine(directory, counts)).toBe(3);
    writer.write(Buffer.from('three'));
    expect(await nextLine(directory, counts)).toBe(4);
    writer.endLine();
    expect(await nextLine(directory, counts)).toBe(4);
    writer.write(Buffer.from('four and more\n'.repeat(1000)));
    expect(await nextLine(directory, counts)).toBe(1004);
  });

  it('knows which line begins at a place, over rotations', async () => {
    writer.write(Buffer.from('one\ntwo\n'));
    const place = writer.position ?? expect.fail('the log is not open');
    expect(await lineAt(directory, place)).toBe(3);
    writer.write(Buffer.from('and more\n'.repeat(20)));
    expect(await lineAt(directory, place)).toBe(3);
    for (let line = 23; line <= 1000; line++) writer.write(Buffer.from('and more\n'));
    const later = writer.position ?? expect.fail('the log is not open');
    expect(later.segment).toBeGreaterThan(1);
    expect(await lineAt(directory, later)).toBe(1001);
    expect(await lineAt(directory, { segment: 500_000, offset: 7 })).toBe(500_000);
  });
});
