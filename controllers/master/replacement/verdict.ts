/**
 * What is to be done with one victim, and what it waits for. `moves.ts` takes the steps from here and `progress.ts`
 * the words, so that what is said is what is decided.
 */
import type { Moves, Replacement, Victim } from './facts.js';

/**
 * ```
 *  wanted --create--> replacement starts --ONLINE--> players leave --remove--> ending --> gone
 *     \--- not up, or no room beside it (maximumServiceCount): replace (both at once) ---^
 * ```
 */
export type Verdict =
  /** A replacement is made beside it. */
  | { readonly kind: 'create' }
  /** It is removed and its replacement made in one go. */
  | { readonly kind: 'replace' }
  /** Its replacement is up, or nothing of it is worth waiting for. */
  | { readonly kind: 'remove' }
  | { readonly kind: 'starting'; readonly replacement: Replacement }
  | { readonly kind: 'players'; readonly isStoppedFirst: boolean }
  | { readonly kind: 'stuck'; readonly why: string }
  | { readonly kind: 'static' }
  | { readonly kind: 'ending' };

export interface Judged {
  readonly victim: Victim;
  readonly verdict: Verdict;
}

/** The nodes of the victims are connected: on others nothing can be judged or stopped. */
export function judgeAll({ victims, remainingMs }: Moves): Judged[] {
  return victims.map((victim) => ({ victim, verdict: judge(victim, remainingMs) }));
}

/** Static instances stay where their files are, so a caller is done when nothing else is left. */
export function leftOf(judged: readonly Judged[]): Judged[] {
  return judged.filter(({ verdict }) => verdict.kind !== 'static');
}

/** What can be moved now or later, as things stand. */
export function movingOf(judged: readonly Judged[]): Judged[] {
  return leftOf(judged).filter(({ verdict }) => verdict.kind !== 'stuck');
}

function judge(victim: Victim, remainingMs: number): Verdict {
  const { goal, isUp, isSpare, outlook, replacement } = victim;
  if (goal === 'ending') return { kind: 'ending' };
  if (victim.static) return { kind: 'static' };
  const hasGuests = victim.players > 0 && remainingMs > 0;
  // What it was made for is replaced anew, elsewhere.
  if (isSpare) return hasGuests ? { kind: 'players', isStoppedFirst: false } : { kind: 'remove' };
  if (replacement === undefined) {
    if (outlook.obstacle !== null) return { kind: 'stuck', why: outlook.obstacle };
    if (isUp && !outlook.isAtMaximum) return { kind: 'create' };
    return hasGuests ? { kind: 'players', isStoppedFirst: true } : { kind: 'replace' };
  }
  if (isUp && !replacement.isUp) return { kind: 'starting', replacement };
  return hasGuests ? { kind: 'players', isStoppedFirst: false } : { kind: 'remove' };
}
