/**
 * Decides what to do with one victim now, and what it waits for. `moves.ts` makes the steps from the verdicts and
 * `progress.ts` the words, so that both always agree.
 */
import type { Moves, Replacement, Victim } from './facts.js';

/**
 * ```
 *  wanted --create--> replacement starts --ONLINE--> players leave --remove--> ending --> gone
 *     \--- not up, or no room beside it (maximumServiceCount): replace (both at once) ---^
 * ```
 */
export type Verdict =
  /** Make a replacement beside the victim. */
  | { readonly kind: 'create' }
  /** Remove the victim and make its replacement in one transaction. */
  | { readonly kind: 'replace' }
  /**
   * Remove the victim: its replacement is up, or nothing is left to wait for. `staying` is the other instance
   * of the pair.
   */
  | { readonly kind: 'remove'; readonly staying: string }
  | { readonly kind: 'starting'; readonly replacement: Replacement }
  | { readonly kind: 'players'; readonly isStoppedFirst: boolean }
  | { readonly kind: 'stuck'; readonly why: string }
  | { readonly kind: 'static' }
  | { readonly kind: 'ending' };

export interface Judged {
  readonly victim: Victim;
  readonly verdict: Verdict;
}

/**
 * Judges the victims of a caller. Their nodes must be connected: an instance on another node cannot be judged or
 * stopped.
 */
export function judgeAll({ victims, remainingMs }: Moves): Judged[] {
  return victims.map((victim) => ({ victim, verdict: judge(victim, remainingMs) }));
}

/**
 * The victims that are left to move: all except static instances, which stay with their files. The caller is
 * done when none is left.
 */
export function leftOf(judged: readonly Judged[]): Judged[] {
  return judged.filter(({ verdict }) => verdict.kind !== 'static');
}

/** The victims that can be moved now or later, as things stand. */
export function movingOf(judged: readonly Judged[]): Judged[] {
  return leftOf(judged).filter(({ verdict }) => verdict.kind !== 'stuck');
}

function judge(victim: Victim, remainingMs: number): Verdict {
  const { goal, isUp, spareFor, outlook, replacement } = victim;
  if (goal === 'ending') return { kind: 'ending' };
  if (victim.static) return { kind: 'static' };
  const hasGuests = victim.players > 0 && remainingMs > 0;
  // The victim is itself a replacement, and its original still stands: only remove the victim. The original
  // gets another replacement elsewhere.
  if (spareFor !== null)
    return hasGuests ? { kind: 'players', isStoppedFirst: false } : { kind: 'remove', staying: spareFor };
  if (replacement === undefined) {
    if (outlook.obstacle !== null) return { kind: 'stuck', why: outlook.obstacle };
    if (isUp && !outlook.isAtMaximum) return { kind: 'create' };
    return hasGuests ? { kind: 'players', isStoppedFirst: true } : { kind: 'replace' };
  }
  if (isUp && !replacement.isUp) return { kind: 'starting', replacement };
  return hasGuests ? { kind: 'players', isStoppedFirst: false } : { kind: 'remove', staying: replacement.id };
}
