const MAY_BE_SECRET = /^(?:environmentVariables|properties)\b\.?/;
const SECRET_NAME =
  /pass|secret|token|credential|private|auth|cookie|salt|dsn|(?:^|[_.-])(?:key|pw|pwd)(?:[_.-]|$)|api-?key|webhook/i;
/** Keys of Drover and others, and addresses with a password. */
const SECRET_VALUE = /\bdrvs?_|\bgh[pousr]_|\bxox[abp]-|-----BEGIN|:\/\/[^/\s:@]*:[^/\s@]+@/;

/**
 * The values that a reader sees of fields of a configuration that may hold secrets: all, all but those that look like
 * secrets, or none. Many people can read the output of a pipeline.
 */
export type ShownValues = 'all' | 'plain' | 'none';

/** True when the value of this field of a configuration is hidden from such a reader. */
export function isHiddenValue(path: string, value: string, shown: ShownValues): boolean {
  if (shown === 'all' || !MAY_BE_SECRET.test(path)) return false;
  return shown === 'none' || looksSecret(path.replace(MAY_BE_SECRET, '') || value, value);
}

/** True for a value that stays covered until the operator asks for it, by its name or its form. */
export function looksSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}
