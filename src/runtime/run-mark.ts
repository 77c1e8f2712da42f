/**
 * The mark in a process's environment that names its run, whatever the process forked, detached or renamed:
 * `<root>/<instance>/<run>`, and `/<runtime>` where that is not `process`. Each runtime ends only processes with
 * its own mark.
 */
import type { RunId } from './runtime.js';

export const MARK_VARIABLE = 'DROVER_RUN';

/** The runtime whose marks omit their runtime: it was the only one once. */
const UNNAMED = 'process';

export interface MarkedRun extends RunId {
  readonly runtime: string;
}

/** Instance id and runtime hold no slash. */
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
