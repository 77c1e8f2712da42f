/** Keys for tests of the cluster. */
import { createPublicKey } from 'node:crypto';

/** The public half of a private key, as PEM. */
export function publicHalf(key: string): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
}
