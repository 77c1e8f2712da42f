/**
 * The heartbeat controller's decision: whether a node is connected, returning or lost, and what that means for its
 * instances. Times are on the master's own waking clock (src/channel/master/beat-book.ts), never on a node's clock.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { NodeCondition } from '../../../src/model/node.js';
import { inSteps } from '../../../src/store/transaction.js';

/** How long a node that said it will be back keeps the state of its instances. */
export const RETURN_WITHIN_MS = 60_000;

export interface NodeFacts {
  readonly nodeId: string;
  readonly condition: NodeCondition;
  readonly isConnected: boolean;
  /** The time since the last beat. */
  readonly silentMs: number;
  /** The time since the node said that it will be back; null: it did not say so. */
  readonly goneForMs: number | null;
  /** The time since this master began to lead, for a node that was not heard of since. */
  readonly awaitedMs?: number;
  readonly timeoutMs: number;
  /** The instances on the node that are wanted and not yet marked as lost. */
  readonly standing: readonly string[];
  /** The instances on the node that were marked because it was lost. */
  readonly marked: readonly string[];
}

export type HeartbeatStep =
  | {
      readonly do: 'set-condition';
      readonly nodeId: string;
      readonly condition: NodeCondition;
      readonly why: string;
    }
  | { readonly do: 'mark-lost'; readonly nodeId: string; readonly ids: readonly string[] }
  | { readonly do: 'restore'; readonly nodeId: string; readonly ids: readonly string[] };

export function plan(facts: NodeFacts): Plan<HeartbeatStep> {
  const { condition, recheckInMs } = conditionOf(facts);
  const steps: HeartbeatStep[] = [];
  if (condition !== facts.condition)
    steps.push({ do: 'set-condition', nodeId: facts.nodeId, condition, why: explain(facts, condition) });
  // Mark also when the condition is not new: an earlier master may have died between condition and marks.
  if (condition === 'lost')
    for (const ids of inSteps(facts.standing)) steps.push({ do: 'mark-lost', nodeId: facts.nodeId, ids });
  if (condition === 'connected')
    for (const ids of inSteps(facts.marked)) steps.push({ do: 'restore', nodeId: facts.nodeId, ids });
  return recheckInMs === undefined ? { steps } : { steps, recheckInMs };
}

/** True when the node is connected, and its beats arrive. */
export function isHeard(facts: Pick<NodeFacts, 'isConnected' | 'silentMs' | 'timeoutMs'>): boolean {
  return facts.isConnected && facts.silentMs < facts.timeoutMs;
}

function conditionOf(facts: NodeFacts): { condition: NodeCondition; recheckInMs?: number } {
  const { isConnected, silentMs, goneForMs, timeoutMs } = facts;
  if (isHeard(facts)) return { condition: 'connected', recheckInMs: timeoutMs - silentMs };
  if (!isConnected && goneForMs !== null)
    return goneForMs < RETURN_WITHIN_MS
      ? { condition: 'returning', recheckInMs: RETURN_WITHIN_MS - goneForMs }
      : { condition: 'lost' };
  // The node is silent, but not for long enough: its condition stays.
  if (silentMs < timeoutMs && facts.condition !== 'lost')
    return { condition: facts.condition, recheckInMs: timeoutMs - silentMs };
  return { condition: 'lost' };
}

function explain(facts: NodeFacts, condition: NodeCondition): string {
  switch (condition) {
    case 'connected':
      return 'beats arrive';
    case 'returning':
      return `it said that it will be back; its instances keep their state for ${RETURN_WITHIN_MS / 1000} s`;
    case 'lost':
      return whyLost(facts);
    default:
      return condition satisfies never;
  }
}

function whyLost({ goneForMs, awaitedMs, silentMs, timeoutMs }: NodeFacts): string {
  if (goneForMs !== null) return `it did not come back within ${RETURN_WITHIN_MS / 1000} s`;
  return awaitedMs === undefined
    ? `no beat for ${(silentMs / 1000).toFixed(1)} s (nodeTimeoutMs ${timeoutMs})`
    : `not heard of in the ${(awaitedMs / 1000).toFixed(1)} s since this master began to lead (nodeTimeoutMs ${timeoutMs})`;
}
