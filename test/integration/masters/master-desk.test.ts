/** Masters ask each other through the cluster port, with certificates that only masters have. */

import { createPublicKey } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doorOf } from '../../../src/channel/master/leader-tunnel.js';
import { MasterCalls } from '../../../src/channel/masters/master-calls.js';
import { createInProcessPair } from '../../../src/channel/protocol/transport.js';
import { generatePrivateKey } from '../../../src/channel/trust/certificates.js';
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
  const options = { authority, silenceMs: SILENCE_MS, clock };
  calls = new MasterCalls(async (peer, inner) => (await doorOf(options, peer)).desk(inner), clock);
});
afterEach(() => world.stop());

describe('the desk of a master', () => {
  it('answers another master whether it leads or not, and knows which one asks', async () => {
    b.desk.on('who', async (question, from) => ({ question, from }));
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
      code: 'DRV_SERVICE_UNKNOWN',
    });
    await expect(
      calls.ask(b.peer, { name: 'no', content: 'x'.repeat(5_000_000) }, signal()),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/DRV_REQUEST_TOO_LARGE|DRV_CHANNEL_CLOSED/),
    });
  });

  it('streams bytes, and says when they break off', async () => {
    const part = Buffer.alloc(100_000, 7);
    b.desk.on('bytes', async function* () {
      for (let n = 0; n < 20; n++) yield part;
    });
    b.desk.on('half', async function* () {
      yield part;
      throw new Error('the disk is gone');
    });
    b.desk.on('none', () => {
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
    const broken = new MasterCalls(async () => {
      const [here, there] = createInProcessPair();
      there.onFrame(({ message }) => {
        if (message.type !== 'call') return;
        if (message.service === 'bytes') there.send({ type: 'chunk', id: message.id }, Buffer.from('half'));
        there.close('it breaks');
      });
      return here;
    }, a.clock);
    const question = { name: 'who', content: {} };
    const hungUp = { code: 'DRV_CHANNEL_CLOSED', message: expect.stringContaining('master b') };
    await expect(broken.ask(b.peer, question, signal())).rejects.toMatchObject(hungUp);
    await expect(text(broken.bytes(b.peer, { ...question, name: 'bytes' }, signal()))).rejects.toMatchObject(
      hungUp,
    );
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
      dialer.openDesk({ nodeId: 'b', credential, authority: root }, signal()),
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
