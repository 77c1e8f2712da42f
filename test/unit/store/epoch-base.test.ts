/** A state that is written into etcd anew has later terms than any that nodes have seen. */
import { expect, it } from 'vitest';
import { EPOCH_BASE, lastInCommon, lineOf, raiseEpochs } from '../../../src/store/epoch-base.js';
import type { StoreState } from '../../../src/store/store.js';

const STATE: StoreState = {
  entries: [
    { key: 'a', value: 1, revision: 3 },
    { key: 'z', value: 2, revision: 7 },
  ],
  revision: 7,
};
const baseOf = ({ entries }: StoreState): number =>
  lineOf(entries.find(({ key }) => key === EPOCH_BASE)?.value).base;

it('begins far above the revisions of any etcd, and keeps the rest as it is', () => {
  const raised = raiseEpochs(STATE, 1_700_000_000_000);
  expect(raised.entries.map(({ key }) => key)).toEqual(['a', EPOCH_BASE, 'z']);
  expect(raised.revision).toBe(7);
  expect(baseOf(raised)).toBe(1_700_000_000_000_000);
  expect(Number.isSafeInteger(baseOf(raised) + 2 ** 50)).toBe(true);
});

it('rises with each restore, also under a clock that went back', () => {
  const first = raiseEpochs(STATE, 1_700_000_000_000);
  expect(baseOf(raiseEpochs(first, 1_700_000_000_001))).toBeGreaterThan(baseOf(first));
  expect(baseOf(raiseEpochs(first, 5))).toBe(baseOf(first) + 1);
  expect(raiseEpochs(first, 5).entries).toHaveLength(3);
});

it('is 0 where nothing was stored, or nothing that can be read', () => {
  for (const value of [undefined, null, {}, { base: -1 }, { base: 'x' }]) expect(lineOf(value).base).toBe(0);
});

it('tells up to which revision it has what an earlier line had, over several restores', () => {
  const first = raiseEpochs(STATE, 10);
  const grown = { ...first, revision: 90 };
  const second = raiseEpochs(grown, 20);
  const line = lineOf(second.entries.find(({ key }) => key === EPOCH_BASE)?.value);
  expect(lastInCommon(line, 0)).toBe(7);
  expect(lastInCommon(line, baseOf(first))).toBe(90);
  expect(lastInCommon(line, baseOf(second))).toBe(Number.POSITIVE_INFINITY);
  // Written before lines were noted.
  expect(lastInCommon(lineOf({ base: 5 }), 0)).toBe(Number.POSITIVE_INFINITY);
});
