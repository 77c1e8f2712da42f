/**
 * The mark: an environment variable that names a process's run. It stays when the process forks, detaches or changes
 * its name. Its form is `<root>/<instance>/<run>`, with `/<runtime>` after it unless the runtime is `process`. Each
 * runtime ends only processes with its own mark.
 */
import type { RunId } from './runtime.js';

export const MARK_VARIABLE = 'DROVER_RUN';

/** The runtime that marks leave out. It was the only runtime when marks were introduced. */
const UNNAMED = 'process';

interface MarkedRun extends RunId {
  readonly runtime: string;
}

/** Writes a mark. Instance id and runtime must not hold a slash. */
export function formatMark(rootId: string, run: RunId, runtime: string = UNNAMED): string {
  const mark = `${rootId}/${run.instanceId}/${run.run}`;
  return runtime === UNNAMED ? mark : `${mark}/${runtime}`;
}

/** The run that a mark of this root names; undefined for other roots' marks and for other text. */
export function parseMark(rootId: string, mark: string): MarkedRun | undefined {
  if (!mark.startsWith(`${rootId}/`)) return undefined;
  const [instanceId, number, runtime = UNNAMED, ...rest] = mark.slice(rootId.length + 1).split('/');
  const run = Number(number);
  if (instanceId === undefined || !Number.isInteger(run) || rest.length > 0) return undefined;
  return { instanceId, run, runtime };
}
