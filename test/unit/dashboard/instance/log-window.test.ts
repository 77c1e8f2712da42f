/** The part of a log that the page holds. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type LogPart, LogWindow } from '../../../../src/dashboard/screens/instance/log/log-window.js';

const part = (first: number, last: number): LogPart => ({
  first,
  lines: Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => `line ${first + place}`),
});

describe('LogWindow', () => {
  let log: LogWindow;
  const held = (): string =>
    log.pages
      .flatMap(({ items }) => items)
      .map((item) => (item.kind === 'line' ? item.number : item.text))
      .join(' ');
  const numbers = (): number[] =>
    log.pages.flatMap(({ items }) => items).flatMap((item) => (item.kind === 'line' ? [item.number] : []));

  beforeEach(() => {
    log = new LogWindow();
    log.begin('n1', 501);
  });

  it('takes new lines once, whatever comes twice', () => {
    log.append(part(501, 503), true);
    log.append(part(502, 505), true);
    log.append(part(500, 505), true);
    expect(held()).toBe('501 502 503 504 505');
    expect([log.first, log.last, log.end, log.isAtEnd]).toEqual([501, 505, 505, true]);
  });

  it('replaces only the page that grows', () => {
    log.append(part(501, 650), true);
    const [before, grown] = log.pages;
    log.append(part(651, 651), true);
    expect(log.pages[0]).toBe(before);
    expect(log.pages[1]).not.toBe(grown);
    expect(log.pages[1]?.key).toBe(grown?.key);
  });

  it('lets the oldest go while it is followed, and none while it is not', () => {
    log.append(part(501, 4_500), true);
    log.append(part(4_501, 5_000), true);
    expect([log.first, log.last]).toEqual([1_001, 5_000]);
    log.append(part(5_001, 6_000), false);
    expect([log.first, log.last, log.isAtEnd]).toEqual([1_001, 6_000, true]);
    expect(numbers()).toHaveLength(5_000);
  });

  it('counts what it does not hold when it is paused for long, and loses nothing', () => {
    log.append(part(501, 8_500), false);
    expect(log.isAtEnd).toBe(false);
    log.append(part(8_501, 20_000), false);
    expect([log.last, log.end]).toEqual([8_500, 20_000]);
    log.extend(part(8_501, 9_000));
    expect([log.last, log.isAtEnd]).toEqual([9_000, false]);
    log.extend(part(9_001, 20_000));
    expect([log.last, log.isAtEnd]).toEqual([20_000, true]);
    log.append(part(20_001, 20_001), true);
    expect(log.last).toBe(20_001);
  });

  it('takes no unfinished line from a route: the stream brings it whole', () => {
    log.append(part(501, 600), true);
    log.replace(part(1, 200));
    log.extend(part(201, 601));
    expect([log.last, log.end, log.isAtEnd]).toEqual([600, 600, true]);
  });

  it('puts older lines before, and gives up the end when that is too much', () => {
    log.append(part(501, 4_400), true);
    log.prepend(part(1, 500));
    expect([log.first, log.last, log.isAtEnd]).toEqual([1, 4_000, false]);
    const all = numbers();
    expect(all).toEqual(all.map((_, place) => place + 1));
  });

  it('leaves out older lines that do not fit before the first', () => {
    log.append(part(501, 510), true);
    log.prepend(part(1, 499));
    log.prepend(part(501, 505));
    expect(log.first).toBe(501);
  });

  it('goes on behind lines that are no longer kept, with a word', () => {
    log.append(part(501, 502), true);
    log.skip(600, 'gap');
    log.append(part(601, 602), true);
    expect(held()).toBe('501 502 gap 601 602');
    expect(log.last).toBe(602);
  });

  it('begins anew on another node, or where lines count from 1 again', () => {
    log.append(part(501, 502), true);
    expect(log.begin('n1', 503)).toBe(false);
    expect(log.begin('n2', 1)).toBe(true);
    log.append(part(1, 2), true);
    expect(held()).toBe('1 2');
    expect(log.begin('n2', 1)).toBe(true);
  });
});
