/** What the log says when a rollout begins, goes on, and ends. */
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { countText } from '../../../src/model/words.js';

const CAUSES: Readonly<Record<RolloutRecord['cause'], string>> = {
  content: 'its file has another content',
  templates: 'a template has another content',
  restart: 'it was asked to begin anew',
  rollback: 'it was asked to go back',
  retry: 'it is tried again',
};

export function sentenceOf(rollout: RolloutRecord): string {
  const { name, state, cause, message, counts, from, to } = rollout;
  const why = message === null ? '' : `: ${message}`;
  switch (state) {
    case 'rolling':
      return `rolling out ${name}: ${CAUSES[cause]}`;
    case 'awaiting-promotion':
      return `the canaries of ${name} are good: all others wait for "rollout promote ${name}"`;
    case 'paused':
      return `the rollout of ${name} is paused`;
    case 'failed':
      return from === null || from === to
        ? `the rollout of ${name} failed${why}`
        : `the rollout of ${name} failed, and its content is held back${why}`;
    case 'rolling-back':
      return `${name} goes back to ${from?.slice(0, 8)}${why}`;
    case 'rolled-back':
      return `${name} is back at ${from?.slice(0, 8)}; the content of its file is held back${why}`;
    case 'complete':
      return `the rollout of ${name} is complete: ${countText(counts.good, 'good instance')}`;
    default:
      return state satisfies never;
  }
}
