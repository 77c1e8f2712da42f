/** The scopes of keys. */

/** From the narrowest to the widest: each scope includes those before it. */
export const KEY_SCOPES = ['PUBLIC', 'READ', 'PLAN', 'OPERATE', 'CONFIGURE', 'SECRETS', 'ALL'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** True when `scope` includes `least`. */
export function includesScope(scope: KeyScope, least: KeyScope): boolean {
  return KEY_SCOPES.indexOf(scope) >= KEY_SCOPES.indexOf(least);
}
