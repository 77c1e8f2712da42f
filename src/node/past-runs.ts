/**
 * Tells how an instance's last runs ended and where their output is in the log, for `instance why` and `instance logs`.
 */
import { DroverError } from '../model/errors.js';
import type { DescribedExit } from '../model/run/instance-description.js';
import type { OutputSpan, PastRun } from '../model/run/past-exit.js';

/**
 * Describes past runs in the given order, newest first. `now`: Unix milliseconds. `read` reads the last lines of a run;
 * unreadable lines count as gone, because an exit is useful without its lines.
 */
export function describePastRuns(
  runs: readonly PastRun[],
  now: number,
  read: (span: OutputSpan) => Promise<{ readonly lines: readonly string[]; readonly isKept: boolean }>,
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

/**
 * The place of the output of the run before the present run. When no run is up, the last run counts as the present one.
 * Throws DRV_RUN_UNKNOWN.
 */
export function previousOutput(
  id: string,
  handle: { readonly run: number; readonly exits: readonly PastRun[] } | undefined,
): OutputSpan {
  const previous = handle?.exits.find(({ run }) => run < handle.run);
  if (previous === undefined)
    throw new DroverError('DRV_RUN_UNKNOWN', `its node knows of no earlier run of instance ${id}`);
  if (previous.output === null)
    throw new DroverError(
      'DRV_RUN_UNKNOWN',
      `where the output of run ${previous.run} of instance ${id} ends is not known: it ended while nobody watched`,
    );
  return previous.output;
}
