/**
 * `drover wait commit`: asks the master again and again, because a pull that changes no configuration is in no change
 * stream.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT, unlessTransient, usageError } from '../../command-tree/runs/client-error.js';
import { durationText } from '../../model/plain/duration-text.js';
import type { CommitProgress } from '../../operations/commit-progress.js';
import type { ApiClient } from '../api-client.js';
import type { LiveOutput } from './live-output.js';
import type { CommitGoal } from './states.js';

const ASK_EVERY_MS = 1000;
const HASH = /^[0-9a-f]{4,64}$/;

interface CommitQuestion {
  /** Hashes, in full or their first digits. */
  readonly commits: readonly string[];
  readonly goal: CommitGoal;
  readonly timeoutMs: number;
  /** The time between two questions; default: a second. A test may shorten it. */
  readonly everyMs?: number;
}

/**
 * Resolves when all commits are in force or rolled out, after printing a line for each. Throws a ClientError, with exit
 * code 6 when the time is over.
 */
export async function waitForCommits(
  api: ApiClient,
  question: CommitQuestion,
  output: LiveOutput,
): Promise<void> {
  const { goal, timeoutMs, everyMs = ASK_EVERY_MS } = question;
  const wrong = question.commits.find((commit) => !HASH.test(commit));
  if (wrong !== undefined) throw usageError(`${wrong} is no hash of a commit: give 4 or more of its digits`);
  const late = AbortSignal.any([AbortSignal.timeout(timeoutMs), output.signal]);
  for (const commit of question.commits) {
    let last = 'the master did not answer';
    for (;;) {
      const asked = api.get<CommitProgress>(`/configuration-files/commits/${pathPart(commit)}`);
      const progress = await unlessTransient(asked);
      last = progress === undefined ? last : reasonOf(progress);
      if (progress !== undefined && isReached(progress, goal)) break;
      await pause(everyMs, undefined, { signal: late }).catch(() => undefined);
      if (output.signal.aborted) return;
      if (!late.aborted) continue;
      output.show(last);
      throw new ClientError(EXIT.timedOut, `commit ${commit}: not ${goal} within ${durationText(timeoutMs)}`);
    }
    if (!(await output.write(`commit ${commit} is ${goal}\n`))) return;
  }
}

function isReached({ state }: CommitProgress, goal: CommitGoal): boolean {
  return state === 'rolled-out' || state === goal;
}

function reasonOf({ message, files, total }: CommitProgress): string {
  const more = total - files.length;
  return [
    message,
    ...files.map(({ file, why }) => `  ${file}: ${why}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n');
}
