/** Says how far a drain is. */
import type { DrainProgress } from '../../model/node-drain.js';
import { countText, durationText } from '../../model/words.js';

/** The word beside a node's condition: `drained`, `draining` or `cordoned`; undefined: none of these. */
export function markOf(cordoned: boolean, drain: DrainProgress | undefined): string | undefined {
  if (drain !== undefined) return drain.isDrained ? 'drained' : 'draining';
  return cordoned ? 'cordoned' : undefined;
}

/** Describes a drain: how far it is, then what it waits for and what stays, one line each. */
export function describeDrain(node: string, drain: DrainProgress): string[] {
  const { isDrained, left, remainingMs, waitingFor } = drain;
  const limit =
    remainingMs === 0
      ? 'players are not waited for'
      : `players are waited for, ${durationText(remainingMs)} at most`;
  const head = isDrained
    ? `node ${node} is drained: it can be stopped`
    : `node ${node} is being drained: ${countText(left, 'instance')} left; ${limit}`;
  return [head, ...waitingFor.map((line) => `  ${line}`)];
}
