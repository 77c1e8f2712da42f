/**
 * What is to be done with one instance of a draining node, and what it waits for. The plan takes its steps from here
 * and `progress.ts` its words, so that what is said is what is decided.
 */
import type { DrainFacts, HeldInstance, Replacement } from './facts.js';

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

/** Of an instance on a connected node that is being drained. */
export function judge(instance: HeldInstance, { remainingMs }: DrainFacts): Verdict {
  const { goal, isUp, isSpare, outlook, replacement } = instance;
  if (goal === 'ending') return { kind: 'ending' };
  if (instance.static) return { kind: 'static' };
  const hasGuests = instance.players > 0 && remainingMs > 0;
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
