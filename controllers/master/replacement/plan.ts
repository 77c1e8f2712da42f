/**
 * The replacement controller's decision: which one of an original and its replacements is surplus. An instance with
 * players is never removed. While all of them have players, all stay.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { FamilyFacts, Original, Replacement } from './facts.js';
import type { RemoveStep } from './moves.js';

/** Plans one step at a time: each step changes what the next one must be. */
export function plan(facts: FamilyFacts): Plan<RemoveStep> {
  const step = choose(facts);
  return { steps: step === undefined ? [] : [step] };
}

/**
 * While a caller moves an original that is there, plans nothing. When the original is gone, the caller no longer
 * matters.
 */
function choose({ original, replacements, isMoving }: FamilyFacts): RemoveStep | undefined {
  if (original === 'gone') return planSiblings(replacements);
  return isMoving || original === 'away' ? undefined : planPair(original, replacements);
}

/**
 * ```
 *  replacement unused ---> the replacement goes; the original, if only the replacement is up
 *  replacement used, original unused ---> the original goes
 *  both used ---> both stay, until one of them is unused
 * ```
 * An original that a client made never gives way to what a controller made of its own.
 */
function planPair(original: Original, replacements: readonly Replacement[]): RemoveStep | undefined {
  const { id, isUp, players } = original;
  const better = replacements.find((one) => {
    const isPreferred = one.players > 0 || (!isUp && one.isUp);
    return players === 0 && isPreferred && (original.maker === 'enforcer' || one.maker === 'client');
  });
  if (better !== undefined)
    return { do: 'remove', id, staying: better.id, why: `${better.id} has taken its place` };
  const unused = replacements.find((one) => one.players === 0);
  return unused && { do: 'remove', id: unused.id, staying: id, why: `${id}, which it replaced, is there` };
}

/**
 * Chooses a replacement to remove when the original is gone: one stays, preferably one with players, else one that is
 * up.
 */
function planSiblings(replacements: readonly Replacement[]): RemoveStep | undefined {
  const rank = ({ players, isUp }: Replacement): number => (players > 0 ? 0 : isUp ? 1 : 2);
  const [best, ...others] = replacements.toSorted((a, b) => rank(a) - rank(b));
  const unused = others.findLast(({ players }) => players === 0);
  if (best === undefined || unused === undefined) return undefined;
  return { do: 'remove', id: unused.id, staying: best.id, why: `${best.id} replaces the same instance` };
}
