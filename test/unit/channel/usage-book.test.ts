import { expect, it } from 'vitest';
import { UsageBook } from '../../../src/channel/master/usage-book.js';

it('names an instance once, also when its node connects again while a scrape is being made', () => {
  const book = new UsageBook();
  const measure = (node: string, id: string): void => book.take(node, [[id, 1, 2, 3, 4]], () => 'lobby');
  measure('alpha', 'aaaaaa');
  measure('beta', 'bbbbbb');
  const seen: string[] = [];
  for (const { labels } of book.all()) {
    seen.push(labels.slice(11, 17));
    if (seen.length > 1) continue;
    book.forget('alpha');
    measure('alpha', 'aaaaaa');
  }
  expect(seen).toEqual(['aaaaaa', 'bbbbbb']);
});

it('makes the labels of an instance again only when its configuration or its node is another', () => {
  const book = new UsageBook();
  const labelsOf = (node: string, configuration: string): string[] => {
    book.take(node, [['aaaaaa', 1, 2, 3, 4]], () => configuration);
    return [...book.all()].map(({ labels }) => labels);
  };
  expect(labelsOf('alpha', 'lobby')).toEqual(['{instance="aaaaaa",configuration="lobby",node="alpha"} ']);
  expect(labelsOf('alpha', 'lobby')).toEqual(['{instance="aaaaaa",configuration="lobby",node="alpha"} ']);
  expect(labelsOf('alpha', 'arena')).toEqual(['{instance="aaaaaa",configuration="arena",node="alpha"} ']);
  book.forget('alpha');
  expect(labelsOf('beta', 'arena')).toEqual(['{instance="aaaaaa",configuration="arena",node="beta"} ']);
});
