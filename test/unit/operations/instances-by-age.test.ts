import { expect, it } from 'vitest';
import { instancesByAge } from '../../../src/operations/configuration-file-list.js';
import type { Reads } from '../../../src/operations/reads.js';
import { configurationRecord } from '../../support/control-plane/explain-facts.js';
import { given } from '../../support/control-plane/given.js';

it('tells of each configuration in force how many instances have its content and how many an older one', () => {
  const record = { value: configurationRecord({ hash: 'new' }), revision: 1 };
  const counts: Record<string, [string, number][]> = {
    lobby: [
      ['new', 2],
      ['old', 1],
      ['older', 3],
    ],
    gone: [['old', 1]],
  };
  const inForce = new Map([
    ['lobby', record],
    ['idle', record],
  ]);
  const ages = instancesByAge(
    given<Reads>({
      configurations: inForce,
      instanceRevisions: { of: (name) => new Map(counts[name]) },
    }),
  );
  expect([...ages]).toEqual([
    ['lobby', { current: 2, outdated: 4 }],
    ['idle', { current: 0, outdated: 0 }],
  ]);
});
