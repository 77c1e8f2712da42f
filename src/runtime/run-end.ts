/** How a run ended, in the words that an attached terminal ends with. */

export function endOf({
  code,
  signal,
}: {
  readonly code: number | null;
  readonly signal: string | null;
}): string {
  return signal === null ? `exited with code ${code ?? 'unknown'}` : `was ended by ${signal}`;
}
