/** A placement that leaves new instances without a place, and lets an instance with new content keep its own. */
import type { Placement } from '../../../controllers/master/placement/reconciler.js';
import { withContentAt } from '../../../src/state/instance-changes.js';

export const AS_IT_IS: Pick<Placement, 'placeNew' | 'placeAgain'> = {
  placeNew: (record) => ({ record, end: () => undefined }),
  placeAgain: ({ before, next }) => ({
    record: before.placement === null ? next : withContentAt(next, before.placement),
    promise: () => () => undefined,
  }),
};
