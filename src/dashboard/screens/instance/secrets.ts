/**
 * Decides which values of an environment stay covered until the operator asks for them, by the name or the form of
 * the value.
 */

const SECRET_NAME =
  /pass|secret|token|credential|private|auth|cookie|salt|dsn|(?:^|_)(?:key|pw|pwd)(?:_|$)|apikey|webhook/i;
/** Keys of Drover and others, and addresses with a password. */
const SECRET_VALUE = /\bdrvs?_|\bgh[pousr]_|\bxox[abp]-|-----BEGIN|:\/\/[^/\s:@]*:[^/\s@]+@/;

export function isSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}
