/** Tells how an instance's last runs ended and what each wrote last, for `instance why`. */
import type { DescribedExit } from '../model/instance-description.js';
import type { OutputSpan, PastRun } from '../model/past-exit.js';

export interface PastRunsOptions {
  /** Wall clock, Unix milliseconds. */
  readonly now: number;
  readonly read: (
    span: OutputSpan,
  ) => Promise<{ readonly lines: readonly string[]; readonly isKept: boolean }>;
}

/** Newest first, as given. Lines that cannot be read count as gone: an end is worth telling without them. */
export function describePastRuns(
  runs: readonly PastRun[],
  { now, read }: PastRunsOptions,
): Promise<DescribedExit[]> {
  return Promise.all(
    runs.map(async ({ output, ...past }): Promise<DescribedExit> => {
      const told = { ...past, agoMs: Math.max(0, now - past.at) };
      if (output === null) return { ...told, lastLines: [], output: 'unknown' };
      const { lines, isKept } = await read(output).catch(() => ({ lines: [], isKept: false }));
      return { ...told, lastLines: [...lines], output: isKept ? 'known' : 'gone' };
    }),
  );
}
