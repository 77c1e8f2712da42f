import { expect, it } from 'vitest';
import { UsageBook } from '../../../src/channel/master/usage-book.js';

it('names an instance once, also when its node connects again while a scrape is being made', () => {
  const book = new UsageBook();
  const measure = (node: string, id: string): void => book.take(node, [[id, 1, 2, 3, 4]], () => 'lobby');
  measure('alpha', 'aaaaaa');
  measure('beta', 'bbbbbb');
  const seen: string[] = [];
  for (const { instance } of book.all()) {
    seen.push(instance);
    if (seen.length > 1) continue;
    book.forget('alpha');
    measure('alpha', 'aaaaaa');
  }
  expect(seen).toEqual(['aaaaaa', 'bbbbbb']);
});
