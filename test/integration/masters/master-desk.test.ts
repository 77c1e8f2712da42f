/** Masters ask each other through the cluster port, with certificates that only masters have. */

import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLeaderTunnel } from '../../../src/channel/master/leader-tunnel.js';
import { MasterCalls } from '../../../src/channel/masters/master-calls.js';
import { generatePrivateKey } from '../../../src/channel/trust/certificates.js';
import { DESK_PATH } from '../../../src/channel/trust/join-messages.js';
import { MasterDialer } from '../../../src/channel/wrapper/master-dialer.js';
import { DroverError } from '../../../src/model/errors.js';
import { MastersWorld, type TestMaster } from '../../support/masters/masters-world.js';

const SILENCE_MS = 6000;

let world: MastersWorld;
let a: TestMaster;
let b: TestMaster;
let calls: MasterCalls;
const signal = (): AbortSignal => AbortSignal.timeout(120_000);

beforeEach(async () => {
  world = new MastersWorld();
  [a, b] = [await world.add('a'), await world.add('b')];
  world.election.lead(a.peer);
  const { authority, clock } = a;
  calls = new MasterCalls({
    dial: (peer, inner) =>
      openLeaderTunnel({ authority, silenceMs: SILENCE_MS, clock, path: DESK_PATH }, peer, inner),
    clock,
  });
});
afterEach(() => world.stop());

describe('the desk of a master', () => {
  it('answers another master whether it leads or not, and knows which one asks', async () => {
    b.desk.on('who', (question, from) => ({ question, from }));
    expect(await calls.ask(b.peer, { name: 'who', content: { x: 1 } }, signal())).toEqual({
      question: { x: 1 },
      from: 'a',
    });
  });

  it('passes on what it throws, with its code', async () => {
    b.desk.on('no', () => {
      throw new DroverError('DRV_STORE_CONFLICT', 'somebody was faster');
    });
    b.desk.on('fault', () => {
      throw new TypeError('at /srv/drover/x');
    });
    await expect(calls.ask(b.peer, { name: 'no', content: {} }, signal())).rejects.toMatchObject({
      code: 'DRV_STORE_CONFLICT',
      message: 'somebody was faster',
    });
    await expect(calls.ask(b.peer, { name: 'fault', content: {} }, signal())).rejects.toMatchObject({
      code: 'DRV_INTERNAL',
    });
    await expect(calls.ask(b.peer, { name: 'unknown', content: {} }, signal())).rejects.toMatchObject({
      code: 'DRV_NOT_IMPLEMENTED',
    });
    await expect(
      calls.ask(b.peer, { name: 'no', content: 'x'.repeat(5_000_000) }, signal()),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/DRV_REQUEST_TOO_LARGE|DRV_CHANNEL_CLOSED/),
    });
  });

  it('streams bytes, and says when they break off', async () => {
    const part = Buffer.alloc(100_000, 7);
    b.desk.onBytes('bytes', async function* () {
      for (let n = 0; n < 20; n++) yield part;
    });
    b.desk.onBytes('half', async function* () {
      yield part;
      throw new Error('the disk is gone');
    });
    b.desk.onBytes('none', () => {
      throw new DroverError('DRV_TEMPLATE_UNKNOWN', 'no such tree');
    });
    const read = async (name: string): Promise<number> => {
      let bytes = 0;
      for await (const piece of calls.bytes(b.peer, { name, content: {} }, signal())) bytes += piece.length;
      return bytes;
    };
    expect(await read('bytes')).toBe(2_000_000);
    await expect(read('half')).rejects.toThrow();
    await expect(read('none')).rejects.toMatchObject({ code: 'DRV_TEMPLATE_UNKNOWN' });
  });

  it('has hung up when an answer breaks off, in its middle too', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half":', () => socket.destroy()),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const broken = new MasterCalls({ dial: async () => connect(port, '127.0.0.1'), clock: a.clock });
    const question = { name: 'who', content: {} };
    const hungUp = { code: 'DRV_CHANNEL_CLOSED', message: expect.stringContaining('master b') };
    await expect(broken.ask(b.peer, question, signal())).rejects.toMatchObject(hungUp);
    await expect(text(broken.bytes(b.peer, question, signal()))).rejects.toMatchObject(hungUp);
    server.close();
  });

  it('is closed to nodes that are no masters', async () => {
    const { authority, clock } = b;
    const key = generatePrivateKey();
    const { certificate } = await authority.issueClient('node-x', createPublicKey(key));
    const { certificate: root } = await authority.ensure();
    const [host = '', port] = b.peer.clusterAddress.split(':');
    const dialer = new MasterDialer({ host, port: Number(port), silenceMs: SILENCE_MS, clock });
    const credential = { key, certificate: certificate + root.toString() };
    await expect(
      dialer.tunnel({ nodeId: 'b', credential, path: DESK_PATH }, root, signal()),
    ).rejects.toMatchObject({ code: 'DRV_JOIN_REFUSED' });
  });

  it('is not reached when the master is away', async () => {
    const { peer } = b;
    await b.stop();
    await expect(calls.ask(peer, { name: 'who', content: {} }, signal())).rejects.toMatchObject({
      code: 'DRV_CHANNEL_CLOSED',
    });
  });
});
