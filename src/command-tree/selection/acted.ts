/** Shows what became of an action on instances: the answer for one, or a line for each of many. */
import { countText } from '../../model/words.js';
import type { CommandFailure } from '../command.js';
import type { Acted, Batch, InstanceMessage, Outcome } from './act.js';

const NOT_TRIED = 'not tried';
const DONE = {
  start: 'started',
  stop: 'stopped',
  restart: 'restarted',
  update: 'updated',
  delete: 'deleted',
} as const;

export function actedText(acted: Acted<InstanceMessage>): string {
  if (!isBatch(acted)) return acted.message;
  return acted.outcomes
    .map((outcome) => doneOf(outcome)?.message ?? `instance ${outcome.id}: ${problemOf(outcome)}`)
    .join('\n');
}

/** A single answer is printed as it is; many answers are a list, each with its `error` or null. */
export function actedJson(acted: Acted<InstanceMessage>): unknown {
  if (!isBatch(acted)) return acted;
  return acted.outcomes.map((outcome) => ({
    ...(doneOf(outcome) ?? { instanceId: outcome.id }),
    error: problemOf(outcome) ?? null,
  }));
}

export function actedNames(acted: Acted<InstanceMessage>): readonly string[] {
  const done = isBatch(acted) ? acted.outcomes.flatMap((outcome) => doneOf(outcome) ?? []) : [acted];
  return done.map(({ instanceId }) => instanceId);
}

/** Undefined: nothing failed. The exit code is that of the first refusal. */
export function actedFailure(acted: Acted<InstanceMessage>): CommandFailure | undefined {
  if (!isBatch(acted)) return undefined;
  const { action, outcomes } = acted;
  const failed = outcomes.filter((outcome) => problemOf(outcome) !== undefined);
  if (failed.length === 0) return undefined;
  const codes = outcomes.flatMap(({ result }) =>
    result !== null && 'refusal' in result ? [result.refusal.exitCode] : [],
  );
  const were = failed.length === 1 ? 'was' : 'were';
  return {
    message: `${failed.length} of ${countText(outcomes.length, 'instance')} ${were} not ${DONE[action]}`,
    exitCode: codes[0],
  };
}

function isBatch<Done extends InstanceMessage>(acted: Acted<Done>): acted is Batch<Done> {
  return 'outcomes' in acted;
}

function doneOf({ result }: Outcome<InstanceMessage>): InstanceMessage | undefined {
  return result !== null && 'done' in result ? result.done : undefined;
}

function problemOf({ result }: Outcome<InstanceMessage>): string | undefined {
  if (result === null) return NOT_TRIED;
  return 'refusal' in result ? result.refusal.message : undefined;
}
