/** When feeds send: at once while they send little, together after many messages. */
import { expect, it } from 'vitest';
import { FeedPace } from '../../../src/channel/master/feed-pace.js';
import { FakeClock } from '../../support/fake-clock.js';

it('lets a feed send at once, one after the other', async () => {
  const pace = new FeedPace(new FakeClock());
  const sent: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    await pace.turn();
    sent.push(name);
  }
  expect(sent).toEqual(['a', 'b', 'c']);
});

it('rests after many messages, in proportion and a quarter of a second at most', async () => {
  const clock = new FakeClock();
  const pace = new FeedPace(clock);
  let sent = 0;
  const add = (count: number): void => {
    for (let index = 0; index < count; index++) void pace.turn().then(() => sent++);
  };
  add(100);
  await clock.settle();
  add(10_000);
  await clock.advance(49);
  expect(sent).toBe(100);
  await clock.advance(1);
  expect(sent).toBe(10_100);
  add(1);
  await clock.advance(249);
  expect(sent).toBe(10_100);
  await clock.advance(1);
  expect(sent).toBe(10_101);
});

it('sends nothing more once stopped', async () => {
  const clock = new FakeClock();
  const pace = new FeedPace(clock);
  let sent = 0;
  void pace.turn().then(() => sent++);
  pace.stop();
  pace.stop();
  await clock.advance(1000);
  expect(sent).toBe(0);
});
