/** The ends of past runs between the lines of a log, found by time. Pure. */
import type { PastExit } from '../../../../explain/explanation.js';
import { durationText } from '../../../../model/plain/duration-text.js';
import { clockTime } from '../../../parts/times.js';
import { text } from '../text.js';

export type Run = Pick<PastExit, 'run' | 'at' | 'begunAt' | 'code' | 'signal' | 'cause' | 'wasAsked'>;

/** How a run ended, in words. */
export function endOf({ code, signal, cause }: Run): string {
  if (cause !== undefined) return cause;
  if (signal !== null) return text.runs.signal(signal);
  return code === null ? text.runs.unknown : text.runs.code(code);
}

export function isGoodEnd({ wasAsked, code }: Run): boolean {
  return wasAsked || code === 0;
}

/** A sentence for the rule between two runs. */
export function ruleOf(run: Run): string {
  const lasted = run.begunAt === undefined ? null : durationText(run.at - run.begunAt);
  return text.runs.rule(run.run, endOf(run), lasted, clockTime(run.at));
}

/**
 * The runs that ended after line `before` and not after line `after`, the oldest first. Lines know their time to the
 * second, so a line of the second of an end stands before it. `after` null: there is no later line.
 */
export function endsBetween(
  runs: readonly Run[],
  before: string | null,
  after: string | null,
): readonly Run[] {
  if (before === null) return [];
  const from = Date.parse(before);
  const until = after === null ? Number.POSITIVE_INFINITY : Date.parse(after);
  return runs.filter(({ at }) => at >= from && at < until && until > from).toReversed();
}
