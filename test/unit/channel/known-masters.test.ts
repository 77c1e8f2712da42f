/** What a node knows of the masters: whom it asks first, whom it takes for the leader, and what it keeps. */
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { MessageOf } from '../../../src/channel/protocol/messages.js';
import { KnownMasters, mastersServices } from '../../../src/channel/wrapper/known-masters.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { MemoryFile } from '../../support/cluster/cluster-files.js';

const CONTACT = { host: '10.0.0.1', port: 6000 };
const MASTERS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((host, index) => ({
  nodeId: `m${index + 1}`,
  clusterAddress: `${host}:6000`,
}));

async function known(
  file = new MemoryFile('data/cluster/masters.json'),
  older?: { isAccepted: boolean },
  logger: Logger = pino({ level: 'silent' }),
) {
  const masters = new KnownMasters({
    contact: CONTACT,
    file,
    logger,
    ...(older !== undefined && { older }),
  });
  await masters.open();
  return { masters, file };
}

function welcome(nodeId: string, epoch?: number): MessageOf<'welcome'> {
  const address =
    MASTERS.find((master) => master.nodeId === nodeId)?.clusterAddress.split(':')[0] ?? '10.0.0.1';
  return {
    type: 'welcome',
    protocol: 1,
    master: { nodeId, address, port: 6000, apiPort: 7000 },
    ...(epoch !== undefined && { epoch, masters: MASTERS }),
  };
}

const hosts = (masters: KnownMasters): string[] => masters.candidates().map(({ host }) => host);

describe('a node of several masters', () => {
  it('keeps what it could not write before, when there is room, and says once that it could not', async () => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line) => lines.push(JSON.parse(line).msg) });
    const { masters, file } = await known(undefined, undefined, logger);
    file.write = async () => Promise.reject(new Error('the disk is full'));
    for (let round = 0; round < 3; round++) {
      masters.learn(MASTERS);
      await masters.written();
    }
    expect(lines).toEqual(['what is known of the masters was not kept: the disk is full; trying again']);
    const { write } = MemoryFile.prototype;
    file.write = write.bind(file);
    masters.learn(MASTERS);
    await masters.written();
    expect(file.text).toContain('10.0.0.3:6000');
  });

  it('asks the master of config.json first, and all others when it was told of them', async () => {
    const { masters } = await known();
    expect(hosts(masters)).toEqual(['10.0.0.1']);
    expect(masters.welcomed(welcome('m1', 5))).toBeUndefined();
    expect(hosts(masters)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    masters.failed(CONTACT);
    expect(hosts(masters)).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.1']);
    masters.pointed({ leader: MASTERS[2] });
    expect(hosts(masters)).toEqual(['10.0.0.3', '10.0.0.1', '10.0.0.2']);
  });

  it('asks the others first after one that took the node and could not write that down, and finds the new leader', async () => {
    const { masters } = await known();
    masters.welcomed(welcome('m1', 5));
    masters.fruitless();
    expect(hosts(masters)).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.1']);
    // etcd is silent for this one as well: it knows the former leader only.
    masters.pointed({ leader: MASTERS[0] });
    masters.welcomed(welcome('m1', 5));
    masters.fruitless();
    expect(hosts(masters)).toEqual(['10.0.0.3', '10.0.0.2', '10.0.0.1']);
  });

  it('keeps them, and the latest term, over a restart', async () => {
    const { masters, file } = await known();
    masters.welcomed(welcome('m2', 7));
    await masters.written();
    const { masters: again } = await known(file);
    expect(hosts(again).toSorted()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    expect(again.welcomed(welcome('m1', 6))).toBe(
      'master m1 led in term 6, and this node has seen term 7: it is not the leader any more',
    );
    expect(hosts(again).at(-1)).toBe('10.0.0.1');
    expect(again.welcomed(welcome('m2', 7))).toBeUndefined();
  });

  it('takes an earlier term when it was told to, such as after a restore', async () => {
    const older = { isAccepted: true };
    const { masters } = await known(undefined, older);
    masters.welcomed(welcome('m1', 9));
    expect(masters.welcomed(welcome('m2', 3))).toBeUndefined();
    older.isAccepted = false;
    expect(masters.welcomed(welcome('m3', 2))).toContain('not the leader any more');
  });

  it('takes a master without terms: its cluster has one master now, and begins anew with several', async () => {
    const { masters } = await known();
    masters.welcomed(welcome('m1', 9));
    expect(masters.welcomed(welcome('m1'))).toBeUndefined();
    expect(hosts(masters)).toEqual(['10.0.0.1']);
    expect(masters.welcomed(welcome('m1', 2))).toBeUndefined();
  });

  it('takes a new list over the channel, never an empty one, and asks the master of config.json all the same', async () => {
    const { masters } = await known();
    const take = mastersServices(masters)['take-masters'];
    const context = { body: undefined, signal: new AbortController().signal };
    await take?.(MASTERS.slice(1), context);
    expect(hosts(masters)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    await take?.([], context);
    expect(hosts(masters)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    await expect(async () => take?.([{ nodeId: '', clusterAddress: 'x' }], context)).rejects.toThrow();
  });

  it('goes on to ask a master that was away for a moment, after those that are up', async () => {
    const { masters, file } = await known();
    masters.welcomed(welcome('m1', 5));
    await mastersServices(masters)['take-masters']?.(MASTERS.slice(0, 2), {
      body: undefined,
      signal: new AbortController().signal,
    });
    expect(hosts(masters)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    await masters.written();
    const { masters: again } = await known(file);
    expect(hosts(again)).toContain('10.0.0.3');
    const moved = { nodeId: 'm3', clusterAddress: '10.0.0.9:6000' };
    again.learn([...MASTERS.slice(0, 2), moved]);
    expect(hosts(again).toSorted()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.9']);
  });

  it('goes on without what it kept when the file is damaged', async () => {
    const { masters } = await known(new MemoryFile('data/cluster/masters.json', '{'));
    expect(hosts(masters)).toEqual(['10.0.0.1']);
  });
});
