/** Whether a join token can still be used, and the command that uses it. Pure. */
import type { CreatedJoinToken, JoinToken } from '../../../../api/routes/join-token-routes.js';

type TokenState = 'usable' | 'used' | 'expired';

export function tokenState({ isExpired, uses, maxUses }: JoinToken): TokenState {
  if (isExpired) return 'expired';
  return maxUses !== null && uses >= maxUses ? 'used' : 'usable';
}

/**
 * The command for a shell on the new machine. Neither token nor address has a character that a shell would interpret.
 */
export function joinCommand({ token, master }: CreatedJoinToken): string {
  return `drover join ${token} --master ${master} && drover start`;
}
