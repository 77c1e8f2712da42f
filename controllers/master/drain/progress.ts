/** Says how far a drain has come: for `cluster drain`, `cluster status`, the API and `why`. */
import type { DrainProgress } from '../../../src/model/node-drain.js';
import { lineOf, linesOf } from '../replacement/progress.js';
import { judgeAll, leftOf } from '../replacement/verdict.js';
import type { DrainFacts } from './facts.js';

export function progressOf(facts: DrainFacts): DrainProgress {
  const { drain, remainingMs, condition, setAside } = facts;
  const judged = judgeAll(facts);
  const left = leftOf(judged).length;
  return {
    since: drain.since,
    deadline: drain.deadline,
    remainingMs: Math.ceil(remainingMs),
    isDrained: left === 0,
    left,
    waitingFor: [
      ...(condition === 'connected' || left === 0 ? linesOf(judged, remainingMs) : [awayLine(facts)]),
      ...setAside.map((id) => `${id} stays: its record cannot be read, so nothing can move it`),
    ],
  };
}

/** The fate of one instance while its node is drained. Undefined: it is not on the node, or it is at rest. */
export function moveOf(facts: DrainFacts, id: string): string | undefined {
  const judged = judgeAll(facts).find(({ victim }) => victim.id === id);
  if (judged === undefined) return undefined;
  return facts.condition === 'connected' ? lineOf(judged, facts.remainingMs) : awayLine(facts);
}

function awayLine({ nodeId, condition }: DrainFacts): string {
  return condition === 'lost'
    ? `${nodeId} is lost: its instances can only be stopped when it is back (or "cluster forget ${nodeId}")`
    : `${nodeId} was stopped and said that it will be back: then the drain goes on`;
}
