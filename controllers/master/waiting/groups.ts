/** The groups of waiting instances: the index and the wake rules name an instance by its group. */
import type { InstanceRecord } from '../../../src/model/instance.js';
import { taskOf } from '../placement/places.js';

/** The one key of the waiting controller. */
export const ALL_THAT_WAITS = 'all';

/**
 * The group key of an instance that waits for a place or for another port; undefined: the instance waits for neither.
 */
export function waitingGroupOf(record: InstanceRecord): string | undefined {
  const { placement, home, revision, status } = record;
  const task = taskOf(record);
  if (task === null) return undefined;
  if (task === 'move') return `move ${revision} ${placement?.nodeId}`;
  const boundTo = record.static ? (home?.nodeId ?? '') : '';
  return `place ${revision} ${record.madeBy} ${boundTo} ${home === null} ${status.message ?? ''}`;
}
