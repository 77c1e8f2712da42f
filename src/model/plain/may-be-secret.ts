const MAY_BE_SECRET = /^(?:environmentVariables|properties)\b/;

/** Whether values of a field of a configuration may be secrets: what a pipeline prints many can read. */
export function mayBeSecret(path: string): boolean {
  return MAY_BE_SECRET.test(path);
}
