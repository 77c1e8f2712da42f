const MAY_BE_SECRET = /^(?:environmentVariables|properties)\b/;

/**
 * True when values of this field of a configuration may be secrets. The caller then hides them, because many
 * people can read the output of a pipeline.
 */
export function mayBeSecret(path: string): boolean {
  return MAY_BE_SECRET.test(path);
}
