/** The order of the lines of several logs that are shown as one. */
import { expect, it } from 'vitest';
import type { LogLine } from '../../../src/dashboard/screens/instance/log/log-window.js';
import { mergedLines } from '../../../src/dashboard/screens/wall/merged-lines.js';

const line = (number: number, time: string | null): LogLine => ({
  kind: 'line',
  key: `line ${number}`,
  number,
  text: '',
  time,
});

it('has the newest lines by time; one without a time stays behind the one before it', () => {
  const a = [line(1, '10:00:01'), line(2, null), line(3, '10:00:05')];
  const b = [line(7, '10:00:01'), line(8, '10:00:04')];
  const logs = [
    { id: 'a', feed: { window: { pages: [{ key: 'a', items: a }] } } },
    { id: 'b', feed: { window: { pages: [{ key: 'b', items: b }] } } },
  ];
  const order = (most: number) => mergedLines(logs, most).map((one) => one.id + one.line.number);
  expect(order(9)).toEqual(['a1', 'a2', 'b7', 'b8', 'a3']);
  expect(order(2)).toEqual(['b8', 'a3']);
});
