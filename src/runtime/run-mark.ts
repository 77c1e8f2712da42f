/** The mark in a process's environment that says which run it belongs to, whatever it forked, detached or renamed. */
import type { RunId } from './runtime.js';

export const MARK_VARIABLE = 'DROVER_RUN';

/** `<root>/<instance>/<run>`; the instance id and the number hold no slash. */
export function formatMark(rootId: string, run: RunId): string {
  return `${rootId}/${run.instanceId}/${run.run}`;
}

/** The run that a mark of this root names; undefined for marks of other roots and for anything else. */
export function parseMark(rootId: string, mark: string): RunId | undefined {
  if (!mark.startsWith(`${rootId}/`)) return undefined;
  const [instanceId, number, ...rest] = mark.slice(rootId.length + 1).split('/');
  const run = Number(number);
  if (instanceId === undefined || !Number.isInteger(run) || rest.length > 0) return undefined;
  return { instanceId, run };
}
