/** Finds which rows of a long list are in sight, with @tanstack/virtual-core. */
import { useSignal } from '@preact/signals';
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo } from 'preact/hooks';

const OVERSCAN = 12;

/**
 * `headPx`: the height of a head that stays in sight above the rows. `shape`: changes when the height of a row changes.
 */
export function useVirtualRows(options: {
  readonly count: number;
  readonly rowPx: (row: number) => number;
  readonly shape: number;
  /** How many stand side by side; default 1. */
  readonly lanes?: number;
  readonly headPx: number;
  readonly scroller: RefObject<HTMLElement | null>;
}) {
  const { count, rowPx, shape, headPx, scroller, lanes = 1 } = options;
  const moved = useSignal(0);
  void moved.value;
  const settings = {
    count,
    lanes,
    estimateSize: rowPx,
    getScrollElement: () => scroller.current,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: OVERSCAN,
    scrollPaddingStart: headPx,
    onChange: () => {
      moved.value++;
    },
  };
  // The virtualizer is made once; `setOptions` gives it the later settings.
  const virtualizer = useMemo(() => new Virtualizer<HTMLElement, HTMLElement>(settings), []);
  virtualizer.setOptions(settings);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, shape]);
  return {
    items: virtualizer.getVirtualItems(),
    heightPx: virtualizer.getTotalSize(),
    scrollTo: (row: number): void => virtualizer.scrollToIndex(row),
  };
}
