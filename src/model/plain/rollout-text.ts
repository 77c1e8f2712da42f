/**
 * A rollout in one sentence, for `why`, `rollout status` and log lines. The sentence says what is so, not what to do.
 */
import type { RolloutRecord } from '../rollout.js';
import { countText } from '../words.js';

export type ToldRollout = Pick<RolloutRecord, 'state' | 'cause' | 'reason' | 'message' | 'paused' | 'counts'>;

/** The words that follow `its rollout` or `the rollout of web`. */
export function rolloutText(rollout: ToldRollout): string {
  const { state, message, paused } = rollout;
  const because = message === null ? '' : `: ${message}`;
  switch (state) {
    case 'rolling':
      return `is under way: ${progressText(rollout)}`;
    case 'awaiting-promotion':
      return `waits for promotion: ${progressText(rollout)}`;
    case 'paused':
      return `is paused${paused === null ? '' : ` by ${paused.by}`}: ${progressText(rollout)}`;
    case 'failed':
      return `failed${because}`;
    case 'rolling-back':
      return `is rolling back (${rollout.reason === 'rollback' ? 'asked for' : 'it failed'}${because}): ${progressText(rollout)}`;
    case 'rolled-back':
      return `is rolled back${because}`;
    case 'complete':
      return `is complete: ${progressText(rollout)}`;
  }
}

function progressText({ state, counts }: ToldRollout): string {
  const { total, updated, good, outdated, waiting } = counts;
  // A rollout without instances is complete at once.
  if (total === 0 && state === 'rolling') return 'it begins';
  const fresh = updated - good;
  const parts = [
    `${good} of ${countText(total, 'instance')} good`,
    ...(fresh > 0 ? [`${fresh} new and not good yet`] : []),
    ...(outdated > 0 ? [`${outdated} to be replaced`] : []),
    ...(waiting > 0 ? [`${waiting} of these wait for their players to leave`] : []),
  ];
  return parts.join(', ');
}

/** The next step for the operator; undefined: none. */
export function rolloutAdvice(name: string, { state }: Pick<RolloutRecord, 'state'>): string | undefined {
  switch (state) {
    case 'awaiting-promotion':
      return `\`rollout promote ${name}\` lets all others follow.`;
    case 'paused':
      return `\`rollout resume ${name}\` goes on with it.`;
    case 'failed':
    case 'rolling-back':
    case 'rolled-back':
      return `Mend the file, or try the same content again: \`rollout retry ${name}\`.`;
    case 'rolling':
    case 'complete':
      return undefined;
  }
}
