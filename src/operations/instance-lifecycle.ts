/** Starts, stops, restarts and deletes instances, and tells the consequences. The routes use it. */

import { type InstanceRecord, isAtRest } from '../model/instance.js';
import type { LifecycleTarget } from '../state/instance-changes.js';
import type { Reads } from './reads.js';
import type { Writes } from './writes.js';

/**
 * Changes the goal of an instance. Resolves with a sentence for the client when the request is durable. Throws
 * DRV_INSTANCE_UNKNOWN.
 */
export async function changeLifecycle(
  needs: Reads & Writes,
  id: string,
  target: LifecycleTarget,
): Promise<string> {
  const before = needs.instances.get(id)?.value;
  await needs.instanceWrites.setLifecycle(id, target);
  return `instance ${id}: ${target} requested${consequenceOf(needs, before, target)}`;
}

/** Deletes an instance. Resolves and throws like `changeLifecycle`. */
export async function deleteInstance(needs: Reads & Writes, id: string): Promise<string> {
  const before = needs.instances.get(id)?.value;
  await needs.instanceWrites.remove(id);
  return `instance ${id} is being removed${consequenceOf(needs, before, 'delete')}`;
}

function consequenceOf(
  needs: Reads & Writes,
  before: InstanceRecord | undefined,
  target: LifecycleTarget | 'delete',
): string {
  if (before === undefined) return '';
  if (target === 'start') {
    const isLeftAlone =
      before.desired.goal === 'run' && !isAtRest(before) && needs.instanceWrites.isAway(before);
    return isLeftAlone
      ? `; it is wanted already, and goes on when its node ${before.placement?.nodeId} is back`
      : '';
  }
  return target === 'restart' ? '' : replacementOf(needs, before.configurationName);
}

/** The end of the sentence when minimum-service makes another instance now; empty when enough are left. */
function replacementOf({ serviceOf }: Reads & Writes, name: string): string {
  const service = serviceOf(name);
  if (service === undefined || (service.creating === 0 && service.nextCreationInMs === null)) return '';
  return `; another one is made in its place, because minimumServiceCount of ${name} is ${service.minimum}: lower it to have fewer`;
}
