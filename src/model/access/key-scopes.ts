/** What keys may do. */

/** From the narrowest to the widest: each may do what those before it may. */
export const KEY_SCOPES = ['PUBLIC', 'READ', 'PLAN', 'OPERATE', 'ALL'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

const WIDTH: Readonly<Record<KeyScope, number>> = { PUBLIC: 0, READ: 1, PLAN: 2, OPERATE: 3, ALL: 4 };

/** True when `scope` may do what needs `least`. */
export function includesScope(scope: KeyScope, least: KeyScope): boolean {
  return WIDTH[scope] >= WIDTH[least];
}
