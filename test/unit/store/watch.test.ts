/** The history of changes: what it holds for those that watch. */
import { expect, it } from 'vitest';
import { ChangeHistory } from '../../../src/store/watch.js';

const CAPACITY = 10_000;
/** More than is kept for those that begin later. */
const MANY = 1000;

function publish(history: ChangeHistory, count: number): void {
  for (let n = 0; n < count; n++) history.append({ revision: history.end + 1, key: 'a/1', value: n });
  history.publish(history.end);
}

it('lets go of what each watch has read, up to some for those that begin later', async () => {
  const history = new ChangeHistory(0, CAPACITY);
  const watch = history.watch('a/', 0, new AbortController().signal);
  publish(history, MANY);
  expect(history.start).toBe(0);
  expect((await watch.next()).value).toHaveLength(MANY);
  publish(history, 1);
  expect(history.start).toBeGreaterThan(0);
  expect(history.start).toBeLessThan(MANY);
  expect(history.placeAfter(MANY - 1)).toBe(MANY - 1);
  expect(history.placeAfter(0)).toBe(-1);
});

it('holds for a slow watch what it has not read, and for one that begins what was published last', async () => {
  const history = new ChangeHistory(0, CAPACITY);
  const slow = history.watch('a/', 0, new AbortController().signal);
  for (let n = 0; n < 3; n++) publish(history, MANY);
  expect((await slow.next()).value).toHaveLength(3 * MANY);
  publish(history, MANY);
  const late = history.watch('a/', 3 * MANY, new AbortController().signal);
  expect((await late.next()).value).toHaveLength(MANY);
});
