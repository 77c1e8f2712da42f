/** The order of messages on a connection, and how much is under way at once. */
import { beforeEach, describe, expect, it } from 'vitest';
import { laneOf, PacedSender } from '../../../src/channel/protocol/paced-sender.js';
import { FakeClock } from '../../support/fake-clock.js';

const KB = 1024;

describe('the paced sender', () => {
  let clock: FakeClock;
  let written: string[];
  let marks: number[];
  let overflows: number;
  let sender: PacedSender;

  beforeEach(() => {
    clock = new FakeClock();
    written = [];
    marks = [];
    overflows = 0;
    sender = new PacedSender({
      clock,
      write: (data) => written.push(data.slice(0, 6).toString()),
      mark: (mark) => marks.push(mark),
      onOverflow: () => overflows++,
    });
  });

  const bulk = (name: string, bytes = 32 * KB): void => {
    const data = Buffer.alloc(bytes, '.');
    data.write(name);
    sender.send('bulk', data);
  };

  /** What is under way arrives after `delayMs`, again and again, until nothing waits. Bytes sent in each round. */
  const deliver = async (rounds: number, delayMs: number): Promise<number[]> => {
    const sizes: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = written.length;
      await clock.advance(delayMs);
      for (const mark of marks.splice(0)) sender.marked(mark);
      sizes.push(written.length - before);
    }
    return sizes;
  };

  it('has a lane for beats, one for state and calls, one for answers and streams', () => {
    expect(laneOf({ type: 'beat' })).toBe('sign');
    expect(laneOf({ type: 'status', sequence: 1, reports: [] })).toBe('state');
    expect(laneOf({ type: 'call', id: 1, service: 'x', parameters: {} })).toBe('state');
    expect(laneOf({ type: 'cancel', id: 1 })).toBe('state');
    expect(laneOf({ type: 'chunk', id: 1 })).toBe('bulk');
    expect(laneOf({ type: 'end', id: 1 })).toBe('bulk');
  });

  it('sends beats past everything, and state past bulk', () => {
    for (let count = 0; count < 6; count++) bulk(`bulk${count}`);
    sender.send('state', 'state1');
    sender.send('sign', 'beat  ');
    expect(written).toEqual(['bulk0.', 'bulk1.', 'beat  ']);
    for (const mark of marks.splice(0)) sender.marked(mark);
    expect(written.slice(3, 5)).toEqual(['state1', 'bulk2.']);
  });

  it('holds back what a link that takes long has not carried', async () => {
    for (let count = 0; count < 200; count++) bulk('bulk');
    await deliver(1, 10);
    const sizes = await deliver(8, 1500);
    // One message at a time, in the end: the link is never ahead by more.
    expect(sizes.slice(-3)).toEqual([1, 1, 1]);
  });

  it('lets ever more under way on a link that is fast, also over a long distance', async () => {
    for (const delayMs of [1, 300]) {
      for (let count = 0; count < 2000; count++) bulk('bulk');
      const sizes = await deliver(12, delayMs);
      expect(Math.max(...sizes)).toBeGreaterThan(200);
      while (sender.waitingBytes > 0) await deliver(1, delayMs);
      await deliver(2, delayMs);
    }
  });

  it('gives up on a peer that takes nothing, and drops nothing before', () => {
    for (let count = 0; count < 4; count++) bulk('large', 64 * KB * KB);
    expect(overflows).toBe(0);
    bulk('one');
    expect(overflows).toBe(1);
    sender.clear();
    expect(sender.waitingBytes).toBe(0);
  });

  it('says all state, and no bulk, before an end', () => {
    for (let count = 0; count < 6; count++) bulk(`bulk${count}`);
    sender.send('state', 'bye');
    sender.flush();
    expect(written).toEqual(['bulk0.', 'bulk1.', 'bye']);
  });

  it('ignores marks that it did not send', () => {
    sender.marked(99);
    sender.marked(Number.NaN);
    bulk('bulk');
    expect(written).toEqual(['bulk..']);
  });
});
