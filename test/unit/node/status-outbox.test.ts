/** The outbox keeps the latest report of each instance until the master has it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Report } from '../../../src/channel/protocol/messages.js';
import { isSameReport, StatusOutbox } from '../../../src/node/status-outbox.js';
import { reportOf } from '../../support/channel/messages.js';

const report = (id: string, pid: number | null = 1, fields: Partial<Report> = {}): Report =>
  reportOf(id, { pid, ...fields });

describe('the status outbox', () => {
  let outbox: StatusOutbox;
  let rings: number;

  beforeEach(() => {
    outbox = new StatusOutbox();
    rings = 0;
    outbox.onReady(() => rings++);
  });

  const take = (sequence: number): string[] => outbox.take(sequence).map(({ id, pid }) => `${id} ${pid}`);

  it('gives the newest of each instance, once', () => {
    outbox.set(report('aaaaaa', 1));
    outbox.set(report('bbbbbb', 1));
    outbox.set(report('aaaaaa', 2));
    expect(take(1)).toEqual(['aaaaaa 2', 'bbbbbb 1']);
    expect(take(2)).toEqual([]);
    expect(outbox.get('aaaaaa')?.pid).toBe(2);
  });

  it('rings once for many reports, after the work that made them', async () => {
    outbox.set(report('aaaaaa'));
    outbox.set(report('bbbbbb'));
    expect(rings).toBe(0);
    await Promise.resolve();
    expect(rings).toBe(1);
  });

  it('has no news when the same is said again', async () => {
    outbox.set(report('aaaaaa'));
    take(1);
    await Promise.resolve();
    outbox.set(report('aaaaaa'));
    await Promise.resolve();
    expect(rings).toBe(1);
    expect(take(2)).toEqual([]);
  });

  it('takes a report about a later start for news', () => {
    expect(isSameReport(report('aaaaaa'), report('aaaaaa'))).toBe(true);
    expect(isSameReport(report('aaaaaa'), report('aaaaaa', 1, { restartToken: 1 }))).toBe(false);
  });

  it('takes a warning that comes, and one that is over, for news', () => {
    const warning = { warning: 'x is in none of the templates' };
    expect(isSameReport(report('aaaaaa'), report('aaaaaa', 1, warning))).toBe(false);
    expect(isSameReport(report('aaaaaa', 1, warning), report('aaaaaa'))).toBe(false);
    expect(isSameReport(report('aaaaaa', 1, warning), report('aaaaaa', 1, warning))).toBe(true);
  });

  it('is empty only when everything that was sent is acknowledged', () => {
    expect(outbox.isEmpty).toBe(true);
    outbox.set(report('aaaaaa'));
    expect(outbox.isEmpty).toBe(false);
    take(1);
    expect(outbox.isEmpty).toBe(false);
    outbox.acknowledge(2);
    expect(outbox.isEmpty).toBe(false);
    outbox.acknowledge(1);
    expect(outbox.isEmpty).toBe(true);
  });

  it('tells whoever waits when the master has everything', async () => {
    await outbox.whenEmpty();
    outbox.set(report('aaaaaa'));
    let isEmpty = false;
    const waited = outbox.whenEmpty().then(() => {
      isEmpty = true;
    });
    take(1);
    await Promise.resolve();
    expect(isEmpty).toBe(false);
    outbox.acknowledge(1);
    await waited;
    expect(isEmpty).toBe(true);
  });

  it('gives everything again on a new connection, acknowledged or not', () => {
    outbox.set(report('aaaaaa'));
    outbox.set(report('bbbbbb'));
    take(1);
    outbox.acknowledge(1);
    outbox.set(report('bbbbbb', 2));
    outbox.restart();
    expect(take(1)).toEqual(['bbbbbb 2', 'aaaaaa 1']);
    outbox.acknowledge(1);
    expect(outbox.isEmpty).toBe(true);
  });

  it('says nothing more of an instance that is forgotten', () => {
    outbox.set(report('aaaaaa'));
    outbox.forget('aaaaaa');
    expect(take(1)).toEqual([]);
    outbox.restart();
    expect(take(2)).toEqual([]);
    expect(outbox.get('aaaaaa')).toBeUndefined();
  });

  it('gives 500 at a time, and rings for the rest', async () => {
    for (let index = 0; index < 1001; index++) outbox.set(report(`i${String(index).padStart(5, '0')}`));
    await Promise.resolve();
    const sizes: number[] = [];
    for (let sequence = 1; sequence <= 4; sequence++) {
      sizes.push(take(sequence).length);
      await Promise.resolve();
    }
    expect(sizes).toEqual([500, 500, 1, 0]);
    expect(rings).toBe(3);
  });
});
