/** The channel over TLS sockets: what it takes from a peer, how it notices one that is gone, and what goes before what. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { CallPeer } from '../../../src/channel/protocol/calls.js';
import type { Message } from '../../../src/channel/protocol/messages.js';
import type { Transport } from '../../../src/channel/protocol/transport.js';
import { parseJoinToken } from '../../../src/channel/trust/join-token.js';
import { Renewal } from '../../../src/channel/trust/renewal.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { openSocket } from '../../support/api/raw-http.js';
import { ClusterWorld } from '../../support/cluster/cluster-world.js';
import { TcpProxy } from '../../support/cluster/tcp-proxy.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

const never = new AbortController().signal;
const DAY_MS = 86_400_000;

/** TLS to the port, without a certificate unless `credential` gives one. */
async function dial(port: number, credential: { key?: string; cert?: string } = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...credential });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

/** Everything that comes back until the other side closes. */
async function exchange(socket: TLSSocket, text: string): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const closed = once(socket, 'close');
  socket.write(text);
  await closed;
  return Buffer.concat(chunks).toString();
}

describe('the cluster server', () => {
  let clock: FakeClock;
  let world: ClusterWorld;

  beforeEach(async () => {
    clock = new FakeClock();
    world = new ClusterWorld(clock);
    await world.start();
  });

  afterEach(() => world.stop());

  const credentialOf = async (nodeId: string) => {
    const { files, membership } = await world.member(nodeId, { token: await world.token() });
    (await membership.connect(never)).close('done');
    const { key, certificate } = JSON.parse(files.member.text ?? '');
    return { key, cert: certificate };
  };

  const open = async (nodeId: string): Promise<{ webSocket: WebSocket; closed: Promise<unknown[]> }> => {
    const socket = await dial(world.port, await credentialOf(nodeId));
    const webSocket = new WebSocket('ws://master/channel', { createConnection: () => socket });
    webSocket.on('error', () => undefined);
    await once(webSocket, 'open');
    return { webSocket, closed: once(webSocket, 'close') };
  };

  it.each([
    [
      'a request for something else',
      'GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n',
      /^HTTP\/1.1 400 .*only nodes talk here/s,
    ],
    [
      'a join that is no JSON',
      'POST /join HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n{x}',
      /^HTTP\/1.1 403 .*the join request is malformed/s,
    ],
    [
      'a join of other fields',
      'POST /join HTTP/1.1\r\nHost: x\r\nContent-Length: 16\r\n\r\n{"protocol":"1"}',
      /^HTTP\/1.1 403 .*the join request is malformed \(protocol\)/s,
    ],
    [
      'a join that is too long',
      `POST /join HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
      /^HTTP\/1.1 413 .*65536 bytes at most/s,
    ],
    [
      'a channel without a certificate',
      'GET /channel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      /^HTTP\/1.1 403 .*a node without a certificate must join first/s,
    ],
    ['no HTTP at all', '\x00\x01\x02\r\n\r\n', /^$/],
  ])('answers %s inside TLS, and hangs up', async (_what, text, answer) => {
    expect(await exchange(await dial(world.port), text)).toMatch(answer);
  });

  it('closes on what begins as TLS and is none', async () => {
    const socket = openSocket(world.port).resume();
    socket.on('error', () => undefined);
    socket.write(Buffer.concat([Buffer.from([0x16, 3, 1, 0, 5]), Buffer.from('hello there, not TLS')]));
    await once(socket, 'close');
  });

  const post = async (path: string, body: object): Promise<string> => {
    const text = JSON.stringify(body);
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${text.length}\r\n\r\n`;
    return exchange(await dial(world.port), head + text);
  };

  it.each(['/join', '/join-check'])(
    'repeats nothing of a stranger that asks for %s, and says it once, however often and with what it knocks',
    async (path) => {
      const tokenId = 'abcdefabcdef';
      for (let protocol = 0; protocol < 20; protocol++) {
        const nodeId = `stranger-${protocol}`;
        const answer = await post(path, { protocol, nodeId, clusterName: nodeId, tokenId, secret: 'x' });
        expect(answer).toMatch(/^HTTP\/1.1 403 .*this master does not know the join token/s);
        expect(answer).not.toContain(nodeId);
        await post(path, { protocol: nodeId });
      }
      expect(world.audit.map(({ subject, result }) => [subject, result])).toEqual([
        [null, 'failed'],
        [null, 'failed'],
      ]);
      expect(world.said.filter((line) => line.startsWith('refused'))).toEqual([
        expect.stringContaining('does not know the join token'),
        expect.stringContaining('the join request is malformed (protocol)'),
      ]);
      expect(world.said.join('\n')).not.toContain('stranger');
    },
  );

  it('tells the holder of a good token that the versions differ', async () => {
    const { id: tokenId, secret } = parseJoinToken(await world.token());
    expect(await post('/join', { protocol: 99, tokenId, secret, of: 'the future' })).toMatch(
      /this master speaks protocol 1, the node speaks 99: run the same Drover version on both/,
    );
  });

  it('answers one request of a connection, however many are sent in one breath', async () => {
    const request = 'POST /join HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
    const answer = await exchange(await dial(world.port), request.repeat(50));
    expect(answer.match(/^HTTP\/1.1 403/gm)).toHaveLength(1);
    expect(world.audit).toHaveLength(1);
  });

  it.each<[string, string | Buffer, string]>([
    ['text that is no JSON', '{', 'malformed message: '],
    ['a message that there is not', '{"type":"give-me-all"}', 'malformed message: '],
    ['a binary frame that lies about its length', Buffer.from([0, 0, 1, 0, 1]), 'it is shorter than it says'],
    ['a message before hello', '{"type":"beat"}', 'the first message must be hello'],
  ])('ends the connection of a node that sends %s', async (_what, data, reason) => {
    const { webSocket, closed } = await open('alpha');
    webSocket.send(data);
    const [, said] = await closed;
    expect(String(said)).toContain(reason);
  });

  it('ends the connection of a node that sends a message of more than 16 MiB', async () => {
    const { webSocket, closed } = await open('alpha');
    webSocket.send(Buffer.alloc(17 * 1024 * 1024), () => undefined);
    expect((await closed)[0]).toBeGreaterThan(1000);
  });

  it('ends the connection of a node that says nothing', async () => {
    const { webSocket } = await open('alpha');
    await until(async () => {
      await clock.advance(1000);
      expect(webSocket.readyState).toBe(WebSocket.CLOSED);
    });
  });

  it('hangs up until the state of the master is there', async () => {
    const early = new ClusterWorld(clock);
    await early.server.start();
    const { membership } = await early.member('alpha', { token: await early.token() });
    await expect(membership.connect(never)).rejects.toMatchObject({ code: 'DRV_CHANNEL_CLOSED' });
    await early.plane.start();
    early.server.open();
    (await membership.connect(never)).close('done');
    await early.stop();
  });

  it('tells a node that something else answers at the address of its master', async () => {
    const token = await world.token();
    const other = createHttpServer((_request, response) => response.end('hello'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { membership } = await world.member('alpha', { token, port });
    await expect(membership.connect(never)).rejects.toMatchObject({
      code: 'DRV_CHANNEL_CLOSED',
      message: expect.stringMatching(/cannot be used: it (does not speak TLS|hung up)/),
    });
    other.close();
  });

  it('and the node notice on both sides that the other is gone without a word', async () => {
    const proxy = await TcpProxy.start({ port: world.port });
    try {
      await world.node('alpha', { token: await world.token(), port: proxy.port });
      await until(() => expect(world.isConnected('alpha')).toBe(true));
      proxy.goDeaf();
      await until(async () => {
        await clock.advance(1000);
        expect(world.isConnected('alpha')).toBe(false);
        expect(world.said.join('\n')).toContain('nothing was heard of node alpha for 6 s');
        expect(world.said.join('\n')).toContain('nothing was heard of the master for 6 s');
      });
      proxy.hear();
      proxy.cut();
      await until(async () => {
        await clock.advance(250);
        expect(world.isConnected('alpha')).toBe(true);
      });
    } finally {
      await proxy.stop();
    }
  });

  it('renews the certificate of a node over the channel when two thirds of its life are over', async () => {
    const { node, files } = await world.node('alpha', { token: await world.token() });
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    const before = files.member.text;
    const renewalClock = new FakeClock();
    const renewal = new Renewal({
      members: world.members,
      connected: () => world.plane.master.prefetching.connected(),
      callsOf: (nodeId) => world.plane.master.callsOf(nodeId),
      renewServer: () => world.server.renewServer(),
      clock: renewalClock,
      logger: pino({ level: 'silent' }),
    });
    renewal.start();
    for (const moved of [clock, renewalClock]) moved.jumpWallClock(240 * DAY_MS);
    await renewalClock.advance(10_000);
    // It looks again in an hour: this look is over.
    await until(() => expect(renewalClock.pending).toBe(1));
    expect(files.member.text).toBe(before);
    for (const moved of [clock, renewalClock]) moved.jumpWallClock(10 * DAY_MS);
    await renewalClock.advance(3_600_000);
    const member = await until(async () => {
      const record = await world.members.get('alpha');
      expect(record?.issuedAt).toBe(clock.now());
      return record;
    });
    expect(files.member.text).not.toBe(before);
    await renewal.stop();
    // The old one is good until the new one is shown, and not any more.
    await node.wrapper.stop();
    await until(() => expect(world.isConnected('alpha')).toBe(false));
    await world.member('alpha', { files });
    await world.plane.replaceWrapper(node);
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    expect(await world.members.get('alpha')).toMatchObject({ key: member?.nextKey, nextKey: null });
    files.member.text = before;
    const { membership } = await world.member('alpha', { files });
    await expect(membership.connect(never)).rejects.toMatchObject({
      code: 'DRV_JOIN_REFUSED',
      message: expect.stringMatching(/^this certificate of node alpha was replaced by a newer one/),
    });
  });

  it('gives itself a new certificate in good time, without ending connections', async () => {
    const { membership } = await world.member('alpha', { token: await world.token() });
    const transport = await membership.connect(never);
    const before = world.files.server.text;
    clock.jumpWallClock(400 * DAY_MS);
    await world.server.renewServer();
    expect(world.files.server.text).toBe(before);
    clock.jumpWallClock(100 * DAY_MS);
    await world.server.renewServer();
    expect(world.files.server.text).not.toBe(before);
    expect(transport.isOpen).toBe(true);
    // Still no older TLS than before.
    const old = connect({
      host: '127.0.0.1',
      port: world.port,
      maxVersion: 'TLSv1.2',
      rejectUnauthorized: false,
    });
    await expect(once(old, 'secureConnect')).rejects.toThrow(/protocol.version/i);
    const { membership: other } = await world.member('beta', { token: await world.token() });
    (await other.connect(never)).close('done');
    transport.close('done');
  });
});

describe('a slow link', () => {
  const BYTES_PER_SECOND = 256 * 1024;
  const STREAMS = 6;
  const BEATS = 12;

  it('carries beats in time while streams fill it, and a stream that nobody reads holds nothing up', async () => {
    const world = new ClusterWorld(new SystemClock());
    await world.start();
    const ends: { master?: Transport } = {};
    world.plane.master.accept = (transport) => {
      ends.master = transport;
    };
    const proxy = await TcpProxy.start({ port: world.port, bytesPerSecond: BYTES_PER_SECOND });
    try {
      const { membership } = await world.member('alpha', { token: await world.token(), port: proxy.port });
      const node = await membership.connect(never);
      const master = await until(() => ends.master ?? expect.fail('the master took no connection'));
      const endless = async function* (): AsyncGenerator<Buffer> {
        for (;;) yield Buffer.alloc(32 * 1024);
      };
      const served = new CallPeer(node, { endless: () => endless() });
      node.onFrame((frame) => served.handle(frame));
      const calls = new CallPeer(master, {});
      // What the link carried from the sending of each beat to its arrival: not a time, of which a busy machine takes more.
      const ahead: number[] = [];
      const receivedBefore: number[] = [];
      let received = 0;
      master.onFrame((frame) => {
        received += frame.body?.length ?? 0;
        if (!calls.handle(frame)) ahead.push(received - (receivedBefore[ahead.length] ?? 0));
      });
      let readBytes = 0;
      const reading = new AbortController();
      const readers = Array.from({ length: STREAMS }, async (_, index) => {
        for await (const bytes of calls.stream('endless', {}, reading.signal)) {
          readBytes += bytes.length;
          // One reader never comes back for more.
          if (index === 0 && !reading.signal.aborted) await once(reading.signal, 'abort');
        }
      });
      const beat: Message = { type: 'beat' };
      for (let count = 0; count < BEATS; count++) {
        receivedBefore.push(received);
        node.send(beat);
        const bytesBefore = readBytes;
        // The stream goes on, however many beats pass it.
        await until(() => expect(readBytes).toBeGreaterThan(bytesBefore));
      }
      await until(() => expect(ahead).toHaveLength(BEATS));
      // All the windows together would fill the link for twelve seconds.
      expect(Math.max(...ahead)).toBeLessThan(8 * BYTES_PER_SECOND);
      reading.abort();
      await Promise.allSettled(readers);
    } finally {
      await world.stop();
      await proxy.stop();
    }
  });
});
