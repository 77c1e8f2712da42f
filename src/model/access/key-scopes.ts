/** The scopes of keys. */

/** From the narrowest to the widest: each scope includes those before it. */
export const KEY_SCOPES = ['PUBLIC', 'READ', 'PLAN', 'OPERATE', 'ALL'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

const WIDTH: Readonly<Record<KeyScope, number>> = { PUBLIC: 0, READ: 1, PLAN: 2, OPERATE: 3, ALL: 4 };

/** True when `scope` includes `least`. */
export function includesScope(scope: KeyScope, least: KeyScope): boolean {
  return WIDTH[scope] >= WIDTH[least];
}
