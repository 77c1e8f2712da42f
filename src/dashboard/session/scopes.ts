/** What a scope includes. The server decides; the dashboard only hides what the server would refuse. */
import type { Caller } from '../../operations/sessions.js';

export type Scope = Caller['scope'];

/** The scopes. Each includes those before it. */
const SCOPES: readonly Scope[] = ['PUBLIC', 'READ', 'PLAN', 'OPERATE', 'ALL'];

export function includesScope(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}
