/**
 * The drain controller's decision: which instances of a node to replace, remove or take back now. A replacement is
 * ONLINE before the old one is stopped, players are waited for up to the deadline, and few are moved at a time.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { DrainFacts, HeldInstance } from './facts.js';
import { judge, type Verdict } from './verdict.js';

/** Of the instances that are left, this share may be starting or ending at a time, at least `LEAST_AT_ONCE`. */
const SHARE_AT_ONCE = 0.2;
const LEAST_AT_ONCE = 2;

export type DrainStep =
  /** A replacement beside the instance. */
  | { readonly do: 'create'; readonly id: string }
  /** A replacement instead of the instance, in one write. */
  | { readonly do: 'replace'; readonly id: string }
  | { readonly do: 'remove'; readonly id: string; readonly why: string }
  /** The instance is from now on one like others: it replaces nothing. */
  | { readonly do: 'release'; readonly id: string }
  | { readonly do: 'set-done'; readonly nodeId: string; readonly isDone: boolean };

export function plan(facts: DrainFacts): Plan<DrainStep> {
  const { drain, condition } = facts;
  // What it holds cannot be judged or stopped before it is back.
  if (condition !== 'connected') return { steps: [] };
  if (drain === undefined) return { steps: planCancelled(facts) };
  const judged = facts.instances.map((instance) => ({ instance, verdict: judge(instance, facts) }));
  const steps = planMoves(judged);
  const isDone = judged.every(({ verdict }) => verdict.kind === 'static');
  if (isDone !== (drain.doneAt !== null)) steps.push({ do: 'set-done', nodeId: facts.nodeId, isDone });
  const isWaiting = judged.some(({ verdict }) => verdict.kind === 'players');
  return isWaiting ? { steps, recheckInMs: facts.remainingMs } : { steps };
}

/** How many instances may be starting or ending at a time when so many are left. */
export function atOnce(left: number): number {
  return Math.max(LEAST_AT_ONCE, Math.ceil(left * SHARE_AT_ONCE));
}

interface Judged {
  readonly instance: HeldInstance;
  readonly verdict: Verdict;
}

function planMoves(judged: readonly Judged[]): DrainStep[] {
  const moving = judged.filter(({ verdict }) => verdict.kind !== 'static' && verdict.kind !== 'stuck');
  const busy = moving.filter(({ verdict }) => verdict.kind === 'starting' || verdict.kind === 'ending');
  const steps: DrainStep[] = [];
  // One by one: until the one before has its place, nobody knows what is left for the next.
  const isPlacing = moving.some(({ instance }) => instance.replacement?.isJudged === false);
  let free = isPlacing || busy.length >= atOnce(moving.length) ? 0 : 1;
  for (const { instance, verdict } of moving) {
    const { id } = instance;
    if (verdict.kind === 'remove') steps.push({ do: 'remove', id, why: whyRemoved(instance) });
    if ((verdict.kind === 'create' || verdict.kind === 'replace') && free-- > 0)
      steps.push({ do: verdict.kind, id });
  }
  return steps;
}

function whyRemoved({ isSpare, replacement }: HeldInstance): string {
  if (isSpare || replacement === undefined) return 'what it was made to replace still stands';
  return `${replacement.id} has taken its place`;
}

/** The drain was called off in the middle: of each pair one goes, the one that nobody uses. */
function planCancelled({ instances }: DrainFacts): DrainStep[] {
  const steps: DrainStep[] = [];
  for (const { id, goal, isUp, players, replacement } of instances) {
    if (replacement === undefined || goal !== 'run') continue;
    const isBetter = !isUp && replacement.isUp;
    if (replacement.players === 0 && !isBetter)
      steps.push({
        do: 'remove',
        id: replacement.id,
        why: `${id} stays, the drain of its node was called off`,
      });
    else if (players === 0) steps.push({ do: 'remove', id, why: `${replacement.id} has taken its place` });
    else steps.push({ do: 'release', id: replacement.id });
  }
  return steps;
}
