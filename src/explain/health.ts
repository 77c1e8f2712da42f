/**
 * The health of a configuration in one word: what page, client, API and metrics show of it. Made from counts of its
 * instances, so that it costs the same with ten thousand of them. Pure.
 */
import { z } from 'zod';
import type { ConfigurationFileError } from '../model/configuration.js';
import { byAge, hasFailed, type InstanceRecord, saidOf } from '../model/instance.js';
import { CANNOT_START, type InstanceWord, wordOf } from '../model/instance-word.js';
import { shownInstanceId } from '../model/names.js';
import { rolloutText } from '../model/plain/rollout-text.js';
import { hasEnded, isHeldBack, type RolloutRecord } from '../model/rollout.js';
import { countText, endText } from '../model/words.js';
import { HEALTH_STATES, type HealthState } from './health-states.js';

export const healthSchema = z.object({
  state: z.enum(HEALTH_STATES).describe('the worst that applies, as a short stable code'),
  text: z.string().describe('the state for a person, with its numbers: `Rolling 3/7`'),
  detail: z.string().nullable().describe('why, as a sentence without a full stop; null: the word says all'),
  since: z.number().nullable().describe('since when, Unix milliseconds; null: not known'),
  instance: shownInstanceId.nullable().describe('the instance that `detail` is about; null: of none'),
});
export type Health = z.output<typeof healthSchema>;

/** True when a change of an instance leaves the health of its configuration as it is. */
export function isSameHealth(after: InstanceRecord | undefined, before: InstanceRecord | undefined): boolean {
  if (after === undefined || before === undefined || after.desired.goal === 'remove') return false;
  const word = wordOf(after);
  if (word !== wordOf(before) || before.desired.goal === 'remove') return false;
  return !TOLD.has(word) || troubleOf(after) === troubleOf(before);
}

export interface HealthFacts {
  /** How many instances there are of each word. */
  readonly counts: ReadonlyMap<InstanceWord, number>;
  /** minimumServiceCount; undefined: no configuration is in force under the name. */
  readonly minimum: number | undefined;
  /** The first fault of a file of the configuration. */
  readonly fault: ConfigurationFileError | undefined;
  /** The file of a configuration that a caller removed beside it; undefined: there is none. */
  readonly file?: string | undefined;
  readonly rollout: RolloutRecord | undefined;
  /** The instances, asked for only where one of them is told of. */
  readonly instances: () => Iterable<InstanceRecord>;
  /** Why the last run of an instance ended, where its record does not tell; undefined: not known. */
  readonly causeOf?: (id: string) => string | undefined;
}

/** The first state of `HEALTH_STATES` that applies. */
export function healthOf(facts: HealthFacts): Health {
  const { counts, minimum, fault, rollout } = facts;
  const number = (word: InstanceWord): number => counts.get(word) ?? 0;
  if (fault !== undefined) return health('broken-file', 'Broken file', { detail: faultText(fault) });
  if (minimum === undefined) {
    const left = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const more = facts.file === undefined ? '' : `, ${facts.file} still has it: reset it to bring it back`;
    return health('removed', 'Deleted', { detail: `${countText(left, 'instance')} left${more}` });
  }
  const oneOf = (word: InstanceWord): InstanceRecord | undefined =>
    number(word) === 0 ? undefined : toldOf(facts.instances(), word);
  for (const [word, state, text] of TROUBLES) {
    const one = oneOf(word);
    if (one === undefined) continue;
    const others = number(word) === 1 || one.job !== undefined ? '' : `, and ${number(word) - 1} more`;
    const detail = `${one.id} ${troubleOf(one, facts.causeOf)}${others}`;
    const shown = one.desired.stoppedBy === 'timeout' ? 'Timed out' : text;
    return health(state, shown, { detail, since: one.status.endedAt ?? null, instance: one.id });
  }
  const told = rollout === undefined ? undefined : ofRollout(rollout);
  const online = number('online');
  const standing = online + number('finished') + number('failed') + number('resting');
  if (told !== undefined && HEALTH_STATES.indexOf(told.state) < BELOW) return told;
  if (standing < minimum) {
    const waiting = oneOf('waiting');
    const why = waiting === undefined ? '' : `: ${troubleOf(waiting)}`;
    return health('below-minimum', 'Below minimum', { detail: `${online} of ${minimum} online${why}` });
  }
  if (told !== undefined) return told;
  if (online > 0 || standing === 0) return health('healthy', 'Healthy');
  const one = oneOf('finished');
  if (one === undefined) return health('finished', 'Stopped', { detail: 'stopped on request' });
  const { exitCode: code, exitSignal: signal, endedAt: since = null } = one.status;
  return health('finished', 'Finished', { detail: endText({ code, signal }), since, instance: one.id });
}

/**
 * The first instance with a word; undefined: none has it. A run of a job that failed is over once another one was made, so
 * that only the newest run tells of a failure.
 */
function toldOf(instances: Iterable<InstanceRecord>, word: InstanceWord): InstanceRecord | undefined {
  let newest: InstanceRecord | undefined;
  let first: InstanceRecord | undefined;
  for (const one of instances) {
    if (newest === undefined || byAge(newest, one) < 0) newest = one;
    if (wordOf(one) === word) first ??= one;
  }
  if (word !== 'failed' || newest?.job === undefined) return first;
  return wordOf(newest) === word ? newest : undefined;
}

const BELOW = HEALTH_STATES.indexOf('below-minimum');
const TROUBLES = [
  ['failing', 'failing', 'Failing'],
  ['unplaced', 'not-placed', 'Not placed'],
  ['failed', 'failing', 'Failed'],
] as const;
/** The words whose instance is told of. */
const TOLD: ReadonlySet<InstanceWord> = new Set(['failing', 'unplaced', 'waiting', 'failed']);

function health(state: HealthState, text: string, more: Partial<Health> = {}): Health {
  return { state, text, detail: null, since: null, instance: null, ...more };
}

function faultText({ file, node, line, column, message }: ConfigurationFileError): string {
  const whose = node === undefined ? '' : ` on node ${node}`;
  return `${file}${whose}${line === null ? '' : `, line ${line}:${column ?? 1}`}: ${message}`;
}

/** The trouble of an instance. It has no countdown, so that it stays true until it changes. */
function troubleOf(record: InstanceRecord, causeOf: HealthFacts['causeOf'] = () => undefined): string {
  const { id, placement, status } = record;
  const { exitCode: code, exitSignal: signal, keepsFailing } = status;
  const { reason, message } = saidOf(record);
  const cause = causeOf(id);
  if (hasFailed(record) && reason !== 'timed-out') return endText({ code, signal, cause });
  if (reason === 'waits-for' || reason === 'timed-out') return message ?? reason;
  if (placement === null) return `has no node: ${message ?? ''}`;
  const isLoop = keepsFailing === true && status.state !== 'STOPPED' && !CANNOT_START.has(status.reason);
  if (!isLoop) return message ?? 'does not come up';
  const isKnown = code !== null || signal !== null || cause !== undefined;
  const end = isKnown ? endText({ code, signal, cause }) : 'ends again and again';
  const now = status.state === 'ONLINE' ? ': it is up again' : '';
  return `${end}, ${countText(status.restarts, 'restart')}${now}`;
}

function ofRollout(rollout: RolloutRecord): Health | undefined {
  const { state, reason, since, endedAt, paused, counts } = rollout;
  if (state === 'complete') return undefined;
  const detail = `its rollout ${rolloutText(rollout)}`;
  const progress = counts.total === 0 ? '' : ` ${counts.good}/${counts.total}`;
  if (state === 'paused')
    return health('paused', `Paused${progress}`, { detail, since: paused?.at ?? since });
  if (reason === 'rollback' && hasEnded(rollout))
    return health('rolled-back', 'Rolled back', { detail, since: endedAt });
  if (reason === 'rollback') return health('rolling', `Rolling back${progress}`, { detail, since });
  if (state === 'awaiting-promotion')
    return health('awaiting-promotion', `Waits for promotion${progress}`, { detail, since });
  if (state === 'rolling') return health('rolling', `Rolling${progress}`, { detail, since });
  const text = isHeldBack(rollout) ? 'Held back' : 'Rollout failed';
  return health('held-back', text, { detail, since: endedAt ?? since });
}
